//! ACKs of a burst that may still have been under way when it ended: they passed the tap before its distance was known.

use super::burst::Burst;
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

    /// Bytes acknowledged by those that passed before the `burst` ended, `after` bytes were acknowledged after it.
    pub(super) fn within(&self, burst: &Burst, after: i64) -> Option<i64> {
        let bytes = self.bytes - after;
        (self.burst == burst.start && bytes > 0).then_some(bytes)
    }
}
