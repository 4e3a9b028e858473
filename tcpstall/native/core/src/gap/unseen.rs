//! Packets that the capture lacks around a gap, so far as what it holds gives them away.

use crate::time::Nanos;

/// What the capture lacks around a gap.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Unseen {
    /// Bytes acknowledged inside it that belong before the newest data seen: they change neither its start nor its end.
    pub inside: i64,
    /// Bytes acknowledged inside it beyond the newest data seen.
    pub tail: i64,
    /// The ACK that gave the tail away.
    pub tail_acked: Option<Nanos>,
    /// The data that ended it followed bytes that the tap never saw and nobody sent again.
    pub before_next: bool,
    /// The sender knew of something from the peer that the tap had not seen.
    pub heard: bool,
    /// ACKs inside it may have reached the sender later than they were applied: the tap's distance was not known yet.
    pub blind: bool,
    /// The tap's distance from the sender was never measured and is taken for nothing.
    pub unplaced: bool,
    /// Since when the timer of what was in flight at its end had run: that was sent, first or again, or the last ACK came.
    pub oldest: Option<Nanos>,
    /// ACKs that reached the sender are not in the capture: what it had sent counts as acknowledged.
    pub acks: bool,
    /// A packet at its end or within it carries a wrong time.
    pub misdated: bool,
}

impl Unseen {
    /// Nothing is lacking.
    pub fn is_nothing(&self) -> bool {
        self.inside == 0 && self.tail == 0 && !self.before_next && !self.heard
    }
}
