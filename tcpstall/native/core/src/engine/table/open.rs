//! The flows of a table that are open: takes them out, puts them in, and changes their numbers.

use std::collections::VecDeque;
use std::mem;

use hashbrown::{HashMap, HashTable};

use super::super::deal::Load;
use super::tidy::at_rest;
use super::{Ended, Entry, Flow, Lingering, Table, TablePlace};
use crate::time::Nanos;

/// Ids of flows with the start of their silence, in queue order. Some may be gone.
pub(in super::super) type Queue = Vec<(u64, Nanos)>;

/// The queues of a table.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub(in super::super) struct Queues {
    half_open: Queue,
    begun: Queue,
    followed: Queue,
    resting: Queue,
    lingering: Queue,
}

impl Queues {
    /// Adds those of another table.
    pub(in super::super) fn extend(&mut self, other: Queues) {
        self.half_open.extend(other.half_open);
        self.begun.extend(other.begun);
        self.followed.extend(other.followed);
        self.resting.extend(other.resting);
        self.lingering.extend(other.lingering);
    }
}

impl Table {
    /// Memory that its flows use.
    pub(in super::super) fn load(&self) -> Load {
        Load { pauses: self.pauses.bytes(), flights: self.flights.bytes(), followed: self.followed.live() }
    }

    /// Takes in what the flows of the other tables take.
    pub(super) fn is_beside(&mut self, elsewhere: Load) {
        self.pauses.is_beside(elsewhere.pauses);
        self.flights.is_beside(elsewhere.flights);
        self.followed.is_beside(elsewhere.followed);
    }

    /// The open flows.
    pub(in super::super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().flatten()
    }

    /// Begins the next part of each flow with a past longer than `most`; returns the parts that are over, which get those
    /// ids.
    pub(in super::super) fn parts_long_flows(&mut self, most: usize, mut next_id: impl FnMut() -> u64) -> Vec<Ended> {
        let mut done = Vec::new();
        for entry in self.entries.iter_mut().flatten().filter(|entry| entry.past() > most) {
            self.pauses.leave(entry.watch());
            self.flights.leave(entry.watch());
            let part = entry.parts(next_id());
            done.extend(part.map(|part| part.ends(self.at, self.marks, false, self.latest)));
        }
        done
    }

    /// Ends all open flows; `latest` is the latest segment of any flow, if this table has not heard of a later one. Frees the
    /// table's memory: long flows need theirs when they are finished.
    pub(in super::super) fn ends(&mut self, latest: Nanos) -> impl Iterator<Item = Ended> {
        let (marks, latest, flights) = (self.marks, self.latest.max(latest), &mut self.flights);
        (self.index, self.free, self.recent) = (HashTable::default(), Vec::new(), None);
        for queue in [&mut self.half_open, &mut self.begun, &mut self.followed, &mut self.resting] {
            queue.frees();
        }
        mem::take(&mut self.entries).into_iter().flatten().map(move |entry| {
            flights.leave(entry.watch());
            entry.ends(u64::MAX, marks, true, latest)
        })
    }

    /// Replaces the flows' ids.
    pub(in super::super) fn renumber(&mut self, id: impl Fn(u64) -> u64) {
        self.entries.iter_mut().flatten().for_each(|entry| entry.id = id(entry.id));
        self.half_open.renumber(&id);
        self.begun.renumber(&id);
        self.followed.renumber(&id);
        self.lingering.renumber(&id);
    }

    /// Its queues.
    pub(in super::super) fn queues(&self) -> Queues {
        let queue = |place: &TablePlace| (place.id, place.since);
        Queues {
            half_open: self.half_open.places().map(queue).collect(),
            begun: self.begun.places().map(queue).collect(),
            followed: self.followed.places().map(queue).collect(),
            resting: self
                .resting
                .places()
                .filter_map(|place| Some((at_rest(&self.entries, place)?.id, place.since)))
                .collect(),
            lingering: self.lingering.places().map(queue).collect(),
        }
    }

    /// Puts flows into the empty table; of the queues only its own flows count.
    pub(in super::super) fn fill(&mut self, entries: Vec<Entry>, queues: &Queues, marks: u64, latest: Nanos) {
        (self.marks, self.latest) = (marks, latest);
        let mut slots = HashMap::new();
        let (mut half_open, mut begun, mut memory, mut followed) = (0, 0, 0, 0);
        for entry in entries {
            let slot = self.entries.len() as u32;
            slots.insert(entry.id, slot);
            half_open += usize::from(entry.is_half_open());
            if entry.is_begun() {
                (begun, memory) = (begun + 1, memory + entry.beginning_memory());
            }
            followed += usize::from(entry.is_under_way());
            self.starts_held += usize::from(entry.has_begun_with());
            self.insert(entry.key, slot);
            self.entries.push(Some(entry));
        }
        // A flow that is gone has no slot.
        let place = |(id, since): &(u64, Nanos)| Some(TablePlace { since: *since, slot: *slots.get(id)?, id: *id });
        let places = |queue: &Queue| -> VecDeque<TablePlace> { queue.iter().filter_map(place).collect() };
        self.half_open.resume(places(&queues.half_open), half_open);
        self.begun.resume(places(&queues.begun), begun);
        self.begun.weighs(0, memory);
        self.followed.resume(places(&queues.followed), followed);
        self.lingering = Lingering::of(places(&queues.lingering));
        self.fill_resting(places(&queues.resting));
    }

    /// Takes in the flows that rest, in queue order.
    fn fill_resting(&mut self, mut places: VecDeque<TablePlace>) {
        for place in &mut places {
            if let Some(Entry { flow: Flow::Resting(resting), .. }) = &self.entries[place.slot as usize] {
                place.id = resting.number();
                self.rests = self.rests.max(place.id);
                self.resting.weighs(0, resting.bytes());
                self.flights.resume(resting.forgotten());
            }
        }
        let live = places.len();
        self.resting.resume(places, live);
    }
}
