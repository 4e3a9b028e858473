//! Limits the memory of all flows' data in flight.

use super::waiting::Waiting;
use crate::pause::Watch;

/// Largest memory of all flows' data in flight, bytes: beyond it each flow keeps only its share.
pub(super) const MOST: usize = 48 << 20;
/// Smallest share of a flow, bytes: a window of twenty frames in each direction.
const LEAST_SHARE: usize = 2 << 10;
/// Segments of a flow between two measurements.
pub(super) const EVERY: u64 = 16;

/// Memory of the data in flight of all followed flows.
#[derive(Debug, Default)]
pub(super) struct Flights {
    bytes: usize,
    /// Memory of those in other shards.
    elsewhere: usize,
    short: bool,
    /// Frames that were forgotten, of flows that are over.
    forgotten: u64,
}

impl Flights {
    /// Takes in a further segment of that flow, one of `flows`.
    #[inline]
    pub(super) fn grow(&mut self, watch: &mut Watch, flows: &Waiting) {
        if watch.connection.segments.is_multiple_of(EVERY) {
            self.look_at(watch, flows);
        }
    }

    fn look_at(&mut self, watch: &mut Watch, flows: &Waiting) {
        self.count(watch);
        if self.bytes + self.elsewhere >= MOST {
            self.short = true;
            let share = flows.share(MOST).max(LEAST_SHARE);
            if watch.flew() > share {
                // Shrinks to half the share, so that the next frames do not cost a sweep each.
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

    /// Removes that flow.
    pub(super) fn leave(&mut self, watch: Option<&Watch>) {
        self.bytes -= watch.map_or(0, Watch::flew);
        self.forgotten += watch.map_or(0, Watch::forgotten);
    }

    /// Takes a flow back that has forgotten so many frames: they count when it is removed.
    pub(super) fn returns(&mut self, forgotten: u64) {
        self.forgotten -= forgotten;
    }

    /// Adds the number of forgotten frames of resting flows.
    pub(super) fn resume(&mut self, forgotten: u64) {
        self.forgotten += forgotten;
    }

    /// Frames that were forgotten, of removed flows.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Memory of this shard's, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes in the memory of those in other shards.
    pub(super) fn is_beside(&mut self, elsewhere: usize) {
        self.elsewhere = elsewhere;
    }
}
