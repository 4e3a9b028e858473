//! Flows that rest as bytes: silent for longer than the others, and still open.

use std::collections::VecDeque;

use super::super::entry::{Entry, Flow, Resting};
use crate::time::Nanos;

/// Most flows that rest.
const MOST: usize = 1 << 20;
/// Largest memory of their states, bytes.
const MOST_BYTES: usize = 768 << 20;
/// Excess of the queue's length over twice its live entries at which the queue is swept.
const SLACK: usize = 64;

/// A flow's place in the table, and the number of its rest there.
#[derive(Clone, Copy, Debug)]
struct Place {
    slot: u32,
    rest: u64,
}

/// The resting flows, longest rest first.
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
    /// A shelf for at most `most` flows.
    pub(super) fn of(most: usize) -> Shelf {
        Shelf { queue: VecDeque::new(), live: 0, most, bytes: 0, rests: 0 }
    }

    /// Makes the flow in that slot rest.
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

    /// Takes in flows that rest already; returns the number of frames that they have forgotten.
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

    /// Removes a flow that wakes.
    pub(super) fn leaves(&mut self, resting: &Resting) {
        self.bytes -= resting.bytes();
        self.live -= 1;
    }

    /// The slot of the flow with the longest rest, if it must be removed: there is no room, or it was silent since
    /// before `patience`.
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

/// The flow with that rest, if it has not woken since.
fn in_place(place: Place, entries: &[Option<Entry>]) -> Option<&Resting> {
    match &entries[place.slot as usize].as_ref()?.flow {
        Flow::Resting(resting) if resting.number() == place.rest => Some(resting),
        _ => None,
    }
}
