//! A recovery that ended inside a pause: the data in flight from then on, and the window that allowed it.

use crate::time::Nanos;

/// State after the ACK of everything that had been sent when the loss was noticed (the recovery point of RFC 6675 §5).
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Recovered {
    /// Time when that ACK reached the sender.
    pub at: Nanos,
    pub(in super::super) flight: i64,
    pub(in super::super) segments: u32,
    pub(in super::super) room: Option<i64>,
    pub(in super::super) window: Option<i64>,
    pub(in super::super) cwnd: u32,
    pub(in super::super) acks: u32,
    pub(in super::super) acked: i64,
    pub(in super::super) hints: u32,
}

impl Recovered {
    /// The same end of a recovery, with another time of the ACK.
    pub(in super::super) fn moved(self, moved: impl Fn(Nanos) -> Nanos) -> Recovered {
        Recovered { at: moved(self.at), ..self }
    }
}
