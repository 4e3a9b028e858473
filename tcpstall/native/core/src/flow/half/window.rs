//! The peer's receive window, whose scale is unknown, present or absent.

/// Knowledge of an end's window scale (RFC 7323 §2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Scale {
    /// The end's SYN was not captured.
    #[default]
    Unknown,
    /// Both SYNs carried the option: the window field is shifted by this much.
    Present(u8),
    /// At least one SYN lacked the option: the window field is the window.
    Absent,
}

/// Largest shift that is used: RFC 7323 §2.3 treats a larger one as 14.
const MAX_SHIFT: u8 = 14;

impl Scale {
    /// Scale of an end whose SYN said `own` while the other end's said `other`.
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

    /// Bytes by which the right edge may seem to move left, because the field counts in units of the scale (RFC 7323 §2.4).
    #[inline]
    pub fn rounding(self) -> i64 {
        (1 << self.shift().unwrap_or(0)) - 1
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

/// ACKs that must contradict a shift.
const WITNESSES: u8 = 4;

/// Detects windows without a scale where the SYNs were not captured. The right edge of a window does not move left (RFC
/// 9293 §3.8.6.2.1), so the field falls by no more than the acknowledged bytes, in units of the scale. Where it falls
/// by as many units as bytes were acknowledged, the unit is a byte.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(in crate::flow) struct Unscaled {
    witnesses: u8,
    /// The right edge did move left: this receiver is no evidence.
    shrinks: bool,
}

impl Unscaled {
    /// Takes in an ACK of `bytes` while the field changed `from` one value `to` another; true once the scale is shown
    /// to be 0.
    #[inline]
    pub(in crate::flow) fn is_shown(&mut self, bytes: i64, from: u16, to: u16) -> bool {
        if bytes <= 0 || to >= from {
            return false;
        }
        let fall = i64::from(from - to);
        self.shrinks |= fall > bytes;
        // With a shift of 1 or more the field's last unit may be rounding.
        if fall > 1 && 2 * (fall - 1) >= bytes {
            self.witnesses = (self.witnesses + 1).min(WITNESSES);
        }
        self.witnesses == WITNESSES && !self.shrinks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(acks: &[(i64, u16, u16)]) -> bool {
        let mut unscaled = Unscaled::default();
        acks.iter().any(|(bytes, from, to)| unscaled.is_shown(*bytes, *from, *to))
    }

    #[test]
    fn a_field_that_falls_byte_by_byte_is_not_scaled() {
        let full = [(2_812, 24_820, 22_008), (2_812, 22_008, 19_196), (2_812, 19_196, 16_384), (1_406, 16_384, 14_978)];
        assert!(shown(&full));
        assert!(!shown(&full[..3]), "three may be an accident");
    }

    #[test]
    fn a_scaled_field_falls_by_less_than_was_acknowledged() {
        assert!(!shown(&[(2_896, 502, 479); 8]), "by 128");
        assert!(!shown(&[(2_896, 20_000, 18_552); 8]), "by 2");
        assert!(!shown(&[(1, 502, 501); 8]), "one unit is rounding");
    }

    #[test]
    fn a_window_that_shrinks_proves_nothing() {
        assert!(!shown(&[
            (1_460, 60_000, 9_000),
            (1_460, 60_000, 58_540),
            (1_460, 60_000, 58_540),
            (1_460, 60_000, 58_540)
        ]));
    }
}
