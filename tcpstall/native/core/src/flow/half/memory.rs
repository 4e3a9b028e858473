//! Measures the memory of one direction's data in flight, and reduces it where memory is short.

use super::{Half, PendingAck};

/// ACKs that may wait for the sender while memory is short.
pub(super) const TIGHT_ACKS: usize = 16;
/// Ranges kept of a set while memory is short.
const TIGHT_RANGES: usize = 16;

/// Most places of a queue that another flow takes over.
const SMALL: usize = 8;

impl Half {
    /// Takes over the memory of the queues of an `other` flow's half where that is small.
    pub fn takes_over(&mut self, other: &mut Half) {
        self.outstanding.takes_over(&mut other.outstanding, SMALL);
        self.vantage.takes_over(&mut other.vantage, SMALL);
        self.round_trips.takes_over(&mut other.round_trips, SMALL);
        if other.pending.capacity() <= SMALL {
            other.pending.clear();
            self.pending = std::mem::take(&mut other.pending);
        }
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
