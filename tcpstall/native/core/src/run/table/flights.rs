//! How much memory the data in flight of all flows may take.

use super::super::waiting::Waiting;
use crate::gap::Watch;

/// What it takes at most: beyond that a flow keeps no more than its share.
pub(super) const MOST: usize = 48 << 20;
/// The least such share: a window of twenty frames each way.
const LEAST_SHARE: usize = 2 << 10;
/// A flow is looked at again after so many of its segments.
const EVERY: u64 = 16;

/// The data in flight of all flows that are followed.
#[derive(Debug, Default)]
pub(super) struct Flights {
    bytes: usize,
    short: bool,
    /// Frames that were forgotten, of flows that are over.
    forgotten: u64,
}

impl Flights {
    /// That flow, one of so many, has a segment more.
    #[inline]
    pub(super) fn grow(&mut self, watch: &mut Watch, flows: &Waiting) {
        if watch.connection.segments.is_multiple_of(EVERY) {
            self.look_at(watch, flows);
        }
    }

    fn look_at(&mut self, watch: &mut Watch, flows: &Waiting) {
        self.count(watch);
        if self.bytes >= MOST {
            self.short = true;
            let share = flows.share(MOST).max(LEAST_SHARE);
            if watch.flew() > share {
                // To half of it, so that its next frames do not cost a sweep each.
                watch.forgets_frames(share / 2);
                self.count(watch);
            }
        } else if self.short {
            watch.is_eased();
        }
    }

    fn count(&mut self, watch: &mut Watch) {
        let (before, now) = watch.flies();
        self.bytes = self.bytes + now - before;
    }

    /// That flow leaves.
    pub(super) fn leave(&mut self, watch: Option<&Watch>) {
        self.bytes -= watch.map_or(0, Watch::flew);
        self.forgotten += watch.map_or(0, Watch::forgotten);
    }

    /// That flow is back: what it has forgotten counts when it leaves.
    pub(super) fn returns(&mut self, watch: Option<&Watch>) {
        self.forgotten -= watch.map_or(0, Watch::forgotten);
    }

    /// Of flows that rest so many frames were forgotten.
    pub(super) fn resume(&mut self, forgotten: u64) {
        self.forgotten += forgotten;
    }

    /// Frames that were forgotten, of flows that have left.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
