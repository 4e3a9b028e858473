//! How much memory a flow's gaps and its data in flight take, and what to do where it is short.

use super::super::builder::{Builder, GAP_LIMIT};
use super::super::evidence::Gap;
use super::Watch;
use crate::flow::Half;

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

    /// The memory that its data in flight took when this was last asked, and takes now, in bytes.
    pub fn flies(&mut self) -> (usize, usize) {
        let halves: usize = self.connection.halves.iter().map(Half::memory).sum();
        let now = halves + self.builders.iter().map(Builder::memory).sum::<usize>();
        (std::mem::replace(&mut self.flying, now), now)
    }

    /// What it took when that was last asked.
    pub fn flew(&self) -> usize {
        self.flying
    }

    /// Memory is short: its data in flight is to take about so many bytes of it.
    pub fn forgets_frames(&mut self, bytes: usize) {
        self.connection.halves.iter_mut().for_each(|half| half.shrinks_to(bytes / 2));
        self.builders.iter_mut().for_each(Builder::shrink);
    }

    /// Memory is not short any more.
    pub fn is_eased(&mut self) {
        self.connection.halves.iter_mut().for_each(Half::is_eased);
    }

    /// Frames in flight that were forgotten.
    pub fn forgotten(&self) -> u64 {
        self.connection.halves.iter().map(|half| half.forgotten).sum()
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
