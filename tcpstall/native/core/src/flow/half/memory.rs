//! Memory that one direction's data in flight takes, and what is forgotten of it where that is short.

use super::{Half, PendingAck};

/// ACKs that may wait for the sender while memory is short.
pub(super) const TIGHT_ACKS: usize = 16;
/// Ranges kept of a set while memory is short.
const TIGHT_RANGES: usize = 16;

impl Half {
    /// Memory that it takes beyond its own size, bytes.
    pub fn memory(&self) -> usize {
        self.outstanding.memory()
            + self.sacked.memory()
            + self.unseen.memory()
            + self.ahead.as_ref().map_or(0, |ahead| ahead.memory())
            + self.pending.capacity() * size_of::<PendingAck>()
            + self.pending_sacks.capacity() * size_of::<(i64, i64)>()
    }

    /// Memory is short, and this may take about so many bytes of it.
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

    /// Memory is not short any more.
    pub fn is_eased(&mut self) {
        self.tight = false;
    }
}
