//! Flows that rest as bytes: they say less than the others, and are still open.

use std::collections::VecDeque;

use super::super::deal::SHARDS;
use super::super::entry::{Entry, Flow, Resting};
use crate::time::Nanos;

/// Most flows that rest.
const MOST: usize = (1 << 20) / SHARDS;
/// Largest memory of their states and of their segments since, bytes.
const MOST_BYTES: usize = (768 << 20) / SHARDS;
/// Memory up to which segments are kept: the rest is for states, so that no flow goes for another's segments.
const MOST_KEPT: usize = MOST_BYTES / 8 * 7;
/// Excess of the queue's length over twice its live entries at which the queue is swept.
const SLACK: usize = 64;

/// A flow's place in the table, and the number of its rest there.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its latest segment when it was queued.
    since: Nanos,
    slot: u32,
    rest: u64,
}

/// The resting flows, roughly by silence, longest first: a flow that has spoken since it was queued goes to the back only
/// when its turn comes.
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
        self.queue.push_back(Place { since: resting.last(), slot, rest: self.rests });
        if self.queue.len() > 2 * self.live + SLACK {
            self.queue.retain(|place| in_place(*place, entries).is_some());
        }
    }

    /// The ids of the flows in queue order, with the start of their silence.
    pub(super) fn places(&self, entries: &[Option<Entry>]) -> Vec<(u64, Nanos)> {
        let id = |place: &Place| entries[place.slot as usize].as_ref().map_or(0, |entry| entry.id);
        let here = self.queue.iter().filter(|place| in_place(**place, entries).is_some());
        here.map(|place| (id(place), place.since)).collect()
    }

    /// Takes in flows that rest already, in queue order: their slots, and the start of their silence. Returns the number
    /// of frames that they have forgotten.
    pub(super) fn resume(&mut self, places: impl Iterator<Item = (u32, Nanos)>, entries: &[Option<Entry>]) -> u64 {
        let mut forgotten = 0;
        for (slot, since) in places {
            if let Some(Entry { flow: Flow::Resting(resting), .. }) = &entries[slot as usize] {
                self.queue.push_back(Place { since, slot, rest: resting.number() });
                self.rests = self.rests.max(resting.number());
                self.bytes += resting.bytes();
                forgotten += resting.forgotten();
            }
        }
        self.live = self.queue.len();
        forgotten
    }

    #[cfg(test)]
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// There is room for more segments of the flows.
    pub(super) fn has_room(&self) -> bool {
        self.bytes < MOST_KEPT
    }

    /// Takes in that a flow's memory changes.
    pub(super) fn weighs(&mut self, before: usize, now: usize) {
        self.bytes = self.bytes + now - before;
    }

    /// Removes a flow that wakes.
    pub(super) fn leaves(&mut self, resting: &Resting) {
        self.bytes -= resting.bytes();
        self.live -= 1;
    }

    /// The slot of the flow with the longest silence, if it must be removed: there is no room, or it was silent since
    /// before `patience`.
    pub(super) fn next(&mut self, patience: Nanos, entries: &[Option<Entry>]) -> Option<u32> {
        loop {
            let crowded = self.live > self.most || self.bytes > MOST_BYTES;
            let place = *self.queue.front()?;
            let last = in_place(place, entries).map(Resting::last);
            if last.is_some() && !crowded && place.since > patience {
                return None;
            }
            self.queue.pop_front();
            match last {
                Some(last) if last > place.since => self.queue.push_back(Place { since: last, ..place }),
                Some(_) => return Some(place.slot),
                None => {}
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
