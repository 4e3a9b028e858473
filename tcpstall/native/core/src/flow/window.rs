//! The peer's receive window, with its scale in three states.

/// What is known of an end's window scale (RFC 7323 §2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Its SYN was not captured.
    #[default]
    Unknown,
    /// Both SYNs carried the option: shift by this much.
    Present(u8),
    /// At least one SYN lacked the option: windows are as printed.
    Absent,
}

/// RFC 7323 §2.3: a larger shift is used as 14.
const MAX_SHIFT: u8 = 14;

impl Scale {
    /// The scale of an end whose SYN said `own` while the other's said `other`.
    pub fn negotiated(own: Option<u8>, other: Option<u8>) -> Scale {
        match (own, other) {
            (Some(shift), Some(_)) => Scale::Present(shift.min(MAX_SHIFT)),
            _ => Scale::Absent,
        }
    }

    /// Bytes that a window field announces; `None` while the scale is unknown and the field is not 0.
    #[inline]
    pub fn bytes(self, field: u16) -> Option<i64> {
        match self {
            Scale::Present(shift) => Some(i64::from(field) << shift),
            Scale::Absent => Some(i64::from(field)),
            Scale::Unknown => (field == 0).then_some(0),
        }
    }

    /// The shift for the report.
    pub fn shift(self) -> Option<u8> {
        match self {
            Scale::Present(shift) => Some(shift),
            Scale::Absent => Some(0),
            Scale::Unknown => None,
        }
    }
}
