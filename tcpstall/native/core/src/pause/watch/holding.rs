//! Measures the memory of a flow's pauses and of its data in flight, and reduces it where memory is short.

use super::super::builder::{Builder, PAUSE_LIMIT};
use super::super::evidence::Facts;
use super::Watch;
use crate::flow::Half;

impl Watch {
    /// Memory of the pauses at the last call and now, bytes.
    pub fn holds(&mut self) -> (usize, usize) {
        let now = self.builders.iter().map(|builder| builder.pauses.bytes()).sum();
        (std::mem::replace(&mut self.holding, now), now)
    }

    /// Memory of the pauses at the last call of [`Watch::holds`], bytes.
    pub fn held(&self) -> usize {
        self.holding
    }

    /// Memory of the data in flight at the last call and now, bytes.
    pub fn flies(&mut self) -> (usize, usize) {
        let halves: usize = self.connection.halves.iter().map(Half::memory).sum();
        let now = halves + self.builders.iter().map(Builder::memory).sum::<usize>();
        (std::mem::replace(&mut self.flying, now), now)
    }

    /// Memory of the data in flight at the last call of [`Watch::flies`], bytes.
    pub fn flew(&self) -> usize {
        self.flying
    }

    /// Reduces the data in flight to about `bytes` of memory, because memory is short.
    pub fn forgets_frames(&mut self, bytes: usize) {
        self.leaves_step();
        self.run = None;
        self.connection.halves.iter_mut().for_each(|half| half.shrinks_to(bytes / 2));
        self.builders.iter_mut().for_each(Builder::shrink);
    }

    /// Ends the economy, because memory is not short any more.
    pub fn is_eased(&mut self) {
        self.connection.halves.iter_mut().for_each(Half::is_eased);
    }

    /// Frames in flight that were dropped because memory was short.
    pub fn forgotten(&self) -> u64 {
        self.connection.halves.iter().map(|half| half.forgotten).sum()
    }

    /// Limits the pauses of both senders together to `bytes` from here on.
    pub fn keeps_pauses(&mut self, bytes: usize) {
        let kept: usize = self.builders.iter().map(|builder| builder.pauses.len()).sum();
        let room = bytes.saturating_sub(self.holding) / size_of::<Facts>();
        let room = room.min(PAUSE_LIMIT.saturating_sub(kept));
        self.builders.iter_mut().for_each(|builder| builder.pause_room = room);
    }

    /// Packs older pauses, because memory is short.
    pub fn packs_pauses(&mut self) {
        self.builders.iter_mut().for_each(|builder| builder.pauses.pack());
    }
}
