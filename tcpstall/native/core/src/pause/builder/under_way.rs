//! ACKs of a burst that may still have been under way when it ended: they passed the tap before its distance was known.

use super::super::burst::Burst;
use super::super::evidence::Facts;
use super::super::evidence::unseen::Unseen;
use crate::time::Nanos;

/// ACKs of new data that passed the tap since a burst began, while nothing was known of the tap's distance from the sender.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct UnderWay {
    /// Start of the burst.
    burst: Nanos,
    /// Time of the last ACK.
    pub last: Nanos,
    bytes: i64,
}

impl UnderWay {
    /// Takes in an ACK of so many `bytes` that passed at `time`.
    pub(super) fn hears(&mut self, burst: &Burst, time: Nanos, bytes: i64) {
        if self.burst != burst.start {
            *self = UnderWay { burst: burst.start, ..UnderWay::default() };
        }
        (self.last, self.bytes) = (time, self.bytes + bytes);
    }

    /// Bytes acknowledged by those that passed before the `burst` ended, if any did; so many were acknowledged `after` it.
    #[inline]
    pub(super) fn within(&self, burst: &Burst, after: i64) -> Option<i64> {
        let bytes = self.bytes - after;
        (self.burst == burst.start && bytes > 0).then_some(bytes)
    }
}

impl Facts {
    /// ACKs of so many `bytes`, the last of which passed the tap at `last`, may have been under way when the burst ended.
    #[cold]
    pub(super) fn has_under_way(&mut self, bytes: i64, last: Nanos) {
        let passed = self.last_ack.is_none().then_some(last);
        self.distance = Nanos::ZERO;
        self.unseen = Unseen { blind: true, unmeasured: true, under_way: bytes, passed, ..self.unseen };
    }
}
