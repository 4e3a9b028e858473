//! Measures the memory of one direction's data in flight, and reduces it where memory is short.

use super::{Half, PendingAck};
use crate::vec_growth;

/// ACKs that may wait for the sender while memory is short.
pub(super) const TIGHT_ACKS: usize = 16;
/// Ranges kept of a set while memory is short.
const TIGHT_RANGES: usize = 16;

/// Most places of a queue that another flow takes over.
const SMALL: usize = 8;

impl Half {
    /// Becomes the half of another flow in the memory of this one: queues that are small stay.
    pub fn renew(&mut self) {
        let sent = self.outstanding.renewed(SMALL);
        let stamps = self.vantage.renewed(SMALL);
        let round_trips = self.round_trips.renewed(SMALL);
        let pending = vec_growth::emptied_queue(&mut self.pending, SMALL);
        *self = Half { round_trips, pending, ..Half::default() };
        self.outstanding.takes_over(sent);
        self.vantage.takes_over(stamps);
    }

    /// Memory beyond the size of the struct itself, bytes.
    pub fn memory(&self) -> usize {
        self.outstanding.memory()
            + self.sacked.memory()
            + self.unseen.memory()
            + self.ahead.as_ref().map_or(0, |ahead| ahead.memory())
            + self.round_trips.memory()
            + self.pending.capacity() * size_of::<PendingAck>()
            + self.pending_sacks.capacity() * size_of::<(i64, i64)>()
    }

    /// Reduces the memory to about `bytes`, because memory is short.
    #[cold]
    pub fn shrinks_to(&mut self, bytes: usize) {
        self.tight = true;
        self.forgotten += self.outstanding.shrinks_to(bytes);
        for set in [&mut self.sacked, &mut self.unseen] {
            set.keep_highest(TIGHT_RANGES);
            set.shrink();
        }
        self.pending.shrink_to_fit();
        self.pending_sacks.shrink_to_fit();
    }

    /// Ends the economy, because memory is not short any more.
    pub fn is_eased(&mut self) {
        self.tight = false;
    }
}
