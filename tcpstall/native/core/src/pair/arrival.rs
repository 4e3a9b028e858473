//! Place at which a transmission arrived, and the bytes of it that did not arrive.

/// The beginning of a seen packet, and its transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Number among the packets sent.
    pub(super) sent: usize,
    /// Number among the packets seen.
    pub(super) seen: usize,
    /// No other transmission is possible.
    pub(super) sure: bool,
}

/// Unseen bytes of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) sent: usize,
    /// Half-open range, in the sending tap's positions.
    pub(super) left: i64,
    pub(super) right: i64,
    /// The first later transmission of the same bytes that was seen.
    pub(super) repair: Option<usize>,
    /// The same bytes were seen from some other transmission.
    pub(super) seen_otherwise: bool,
}

/// Distance from the smallest delay of a packet, given its times at the sending and at the seeing tap; `None` if the
/// packet cannot have come that soon.
pub(super) type Possible<'a> = &'a dyn Fn(i64, i64) -> Option<u64>;
