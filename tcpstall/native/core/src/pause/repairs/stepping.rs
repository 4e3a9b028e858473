//! Detects a needless timeout by the ACKs that follow its copy: F-RTO (RFC 5682).

use super::{Again, Awaiting};
use crate::flow::Acked;
use crate::time::Nanos;

/// A copy of the oldest segment in flight, of which an ACK covered the data and no byte beyond. If the original had been lost, the
/// receiver would have had what was sent before the copy, and the ACK would have covered that too; or all of that was lost, and
/// the sender has to send it again.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Stepping {
    time: Nanos,
    end: i64,
    /// End of what was in flight when the copy was sent.
    until: i64,
}

impl Stepping {
    /// The copy `sent`, where the ACK of data below `una` ends with it and reports no loss.
    pub(super) fn of(sent: &Awaiting, una: i64, acked: &Acked) -> Option<Stepping> {
        let until = sent.steps_to.filter(|_| una == sent.end && !acked.loss_hint && acked.duplicate.is_none())?;
        Some(Stepping { time: sent.time, end: sent.end, until })
    }

    /// The next ACK, of the data from `before` to `una`, covers data that was sent before the copy, and not again (RFC 5682 §2.1
    /// step 3b).
    pub(super) fn goes_on(&self, before: i64, una: i64, acked: &Acked) -> bool {
        before == self.end && una <= self.until && !acked.loss_hint
    }

    /// The copy is `sent`.
    pub(super) fn is_of(&self, sent: &Awaiting) -> bool {
        sent.time == self.time && sent.end == self.end && !sent.needless
    }
}

impl Again<'_> {
    /// End of the data in flight, where this copy, of the data from `start` to `end`, is of the oldest segment, more is in flight,
    /// and nothing reported a loss.
    pub(super) fn steps_to(&self, start: i64, end: i64) -> Option<i64> {
        let oldest = start == self.half.snd_una && end < self.half.snd_nxt;
        (self.quietly && !self.recovering && oldest).then_some(self.half.snd_nxt)
    }
}
