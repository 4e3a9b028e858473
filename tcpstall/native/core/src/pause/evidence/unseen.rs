//! Packets that the capture lacks around a pause, as far as other packets prove it.

use super::super::packed::packed;
use crate::time::Nanos;

/// Packets missing from the capture around a pause.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Unseen {
    /// Bytes acknowledged inside the pause that are below the newest data seen: they change neither its start nor its
    /// end.
    pub inside: i64,
    /// Bytes acknowledged inside the pause beyond the newest data seen.
    pub tail: i64,
    /// Time of the ACK that proved the missing tail.
    pub tail_acked: Option<Nanos>,
    /// The data that ended the pause followed bytes that the tap never saw and nobody retransmitted.
    pub before_next: bool,
    /// The sender had received something from the peer that the tap had not seen.
    pub heard: bool,
    /// ACKs inside the pause may have reached the sender later than they were applied: the tap's distance was not known
    /// yet.
    pub blind: bool,
    /// ACKs inside the pause came before anything was known of the tap's distance: they were applied when they passed the tap.
    pub unmeasured: bool,
    /// Bytes acknowledged by such ACKs within the burst before: they may have been under way when it ended.
    pub under_way: i64,
    /// Time of the last of them, if no ACK came inside the pause.
    pub passed: Option<Nanos>,
    /// The tap's distance from the sender was never measured: it is assumed to be zero, or inferred from rounds of burst
    /// and silence.
    pub unplaced: bool,
    /// ACKs inside the pause are blind, but a later packet proved the distance.
    pub placed_later: bool,
    /// Start of the retransmission timer of the data in flight at the pause's end: the time when that data was last sent,
    /// or of the last ACK.
    pub oldest: Option<Nanos>,
    /// ACKs that reached the sender are not in the capture: the data it had sent counts as acknowledged.
    pub acks: bool,
    /// The capture lacks packets of the flow, and no timestamps show whether an ACK is among them.
    pub perhaps_acks: bool,
    /// The capture holds no ACK without payload for the sender's data: such ACKs may have been filtered out.
    pub bare_acks: bool,
    /// The new data may have been delayed before the tap for half of the pause: the sender's clock is too coarse to tell.
    pub departure: bool,
    /// A packet inside the pause or at its end has a wrong time.
    pub misdated: bool,
    /// The clock of the stamps advances in steps of milliseconds: see `pause/settle/stamp_tick.rs`.
    pub coarse: bool,
    /// An ACK that may have released the data which ended the pause came just after it, as in most pauses of this sender.
    pub early_data: bool,
    /// More is in flight in this flow than the windows allow that its SYNs scale: the capture lacks ACKs, or a middlebox
    /// changed a SYN.
    pub overrun: bool,
}

packed!(Unseen {
    marks { before_next, heard, blind, unmeasured, unplaced, placed_later, acks, perhaps_acks, bare_acks, departure, misdated, coarse, early_data, overrun }
    inside, tail, tail_acked, under_way, passed, oldest,
});

impl Unseen {
    /// No packet is missing.
    pub fn is_nothing(&self) -> bool {
        self.inside == 0 && self.tail == 0 && !self.before_next && !self.heard
    }
}
