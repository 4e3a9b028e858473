//! How much memory a flow's gaps take, and what to do where it is short.

use super::super::builder::GAP_LIMIT;
use super::super::evidence::Gap;
use super::Watch;

impl Watch {
    /// The memory that its gaps took when this was last asked, and take now, in bytes.
    pub fn holds(&mut self) -> (usize, usize) {
        let now = self.builders.iter().map(|builder| builder.gaps.bytes()).sum();
        (std::mem::replace(&mut self.holding, now), now)
    }

    /// What they took when that was last asked.
    pub fn held(&self) -> usize {
        self.holding
    }

    /// From here on the gaps of both senders together take so many bytes at most.
    pub fn keeps_gaps(&mut self, bytes: usize) {
        let kept: usize = self.builders.iter().map(|builder| builder.gaps.len()).sum();
        let room = bytes.saturating_sub(self.holding) / size_of::<Gap>();
        let room = room.min(GAP_LIMIT.saturating_sub(kept));
        self.builders.iter_mut().for_each(|builder| builder.gap_room = room);
    }

    /// Memory is short: older gaps are to take less of it.
    pub fn packs_gaps(&mut self) {
        self.builders.iter_mut().for_each(|builder| builder.gaps.pack());
    }
}
