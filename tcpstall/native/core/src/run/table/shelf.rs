//! Flows that rest as bytes: silent for longer than the others, and still open.

use std::collections::VecDeque;

use super::super::entry::{Entry, Flow, Resting};
use crate::time::Nanos;

/// No more than so many rest.
const MOST: usize = 1 << 20;
/// Memory that their states take at most.
const MOST_BYTES: usize = 768 << 20;
/// The queue is swept once it is so much longer than what waits in it.
const SLACK: usize = 64;

/// A flow's place in the table, and the number of the rest that it takes there.
#[derive(Clone, Copy, Debug)]
struct Place {
    slot: u32,
    rest: u64,
}

/// The flows that rest, those first that have rested longest.
#[derive(Debug)]
pub(super) struct Shelf {
    queue: VecDeque<Place>,
    live: usize,
    most: usize,
    bytes: usize,
    rests: u64,
}

impl Default for Shelf {
    fn default() -> Shelf {
        Shelf::of(MOST)
    }
}

impl Shelf {
    /// With room for so many flows.
    pub(super) fn of(most: usize) -> Shelf {
        Shelf { queue: VecDeque::new(), live: 0, most, bytes: 0, rests: 0 }
    }

    /// The flow in that slot begins to rest.
    pub(super) fn enters(&mut self, slot: u32, entries: &mut [Option<Entry>]) {
        let Some(entry) = &mut entries[slot as usize] else { return };
        self.rests += 1;
        let Some(resting) = entry.rests(self.rests) else { return };
        self.bytes += resting.bytes();
        self.live += 1;
        self.queue.push_back(Place { slot, rest: self.rests });
        if self.queue.len() > 2 * self.live + SLACK {
            self.queue.retain(|place| in_place(*place, entries).is_some());
        }
    }

    /// With the flows that rest already; gives how many frames of them were forgotten.
    pub(super) fn resume(&mut self, entries: &[Option<Entry>]) -> u64 {
        let mut forgotten = 0;
        for (slot, entry) in (0..).zip(entries) {
            if let Some(Entry { flow: Flow::Resting(resting), .. }) = entry {
                self.queue.push_back(Place { slot, rest: resting.number() });
                self.bytes += resting.bytes();
                forgotten += resting.forgotten();
            }
        }
        self.queue.make_contiguous().sort_unstable_by_key(|place| place.rest);
        self.live = self.queue.len();
        self.rests = self.queue.back().map_or(0, |last| last.rest);
        forgotten
    }

    #[cfg(test)]
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// It wakes.
    pub(super) fn leaves(&mut self, resting: &Resting) {
        self.bytes -= resting.bytes();
        self.live -= 1;
    }

    /// The slot of the one that has rested longest, if it has to go: there is no room, or it was silent since before `patience`.
    pub(super) fn next(&mut self, patience: Nanos, entries: &[Option<Entry>]) -> Option<u32> {
        let crowded = self.live > self.most || self.bytes > MOST_BYTES;
        loop {
            let place = *self.queue.front()?;
            match in_place(place, entries) {
                Some(resting) if !crowded && resting.last() > patience => return None,
                Some(_) => {
                    self.queue.pop_front();
                    return Some(place.slot);
                }
                None => _ = self.queue.pop_front(),
            }
        }
    }
}

/// The flow that takes that rest, if it has not woken since.
fn in_place(place: Place, entries: &[Option<Entry>]) -> Option<&Resting> {
    match &entries[place.slot as usize].as_ref()?.flow {
        Flow::Resting(resting) if resting.number() == place.rest => Some(resting),
        _ => None,
    }
}
