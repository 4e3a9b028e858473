//! Serialises or ends all flows of a table, and restores serialised ones into another.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::mem;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::super::entry::Over;
use super::{Ended, Entry, Flow, Table, TablePlace};
use crate::pause::Watch;
use crate::time::Nanos;

/// The flows of a stream at the end of its files, including finished flows that linger.
#[derive(Serialize, Deserialize)]
pub(in super::super) struct KeptFlows<E> {
    next_id: u64,
    marks: u64,
    latest: Nanos,
    entries: Vec<E>,
    half_open: Queue,
    followed: Queue,
    lingering: Queue,
}

/// Ids of flows with the start of their silence, in queue order. Some may be gone.
type Queue = Vec<(u64, Nanos)>;

impl<E: Borrow<Entry>> KeptFlows<E> {
    /// The numbers of the captures in which the flows began.
    pub(in super::super) fn captures(&self) -> BTreeSet<u32> {
        self.entries.iter().map(|entry| entry.borrow().capture).collect()
    }
}

/// Smallest past of a flow that is parted: however many flows there are, a part is no single wait.
const LEAST_SHARE: usize = 8;

impl Table {
    /// Limits the past that flows are serialised with; see [`super::super::Sets::most_past`].
    pub(in super::super) fn keeping(self, most_past: Option<usize>) -> Table {
        Table { most_past, ..self }
    }

    /// Serialises the flows, because the stream may continue later. Parts of flows that are over go to `done`.
    pub(super) fn puts_down(&mut self, done: &mut Vec<Ended>) {
        self.parts_long_flows(done);
        let kept = self.kept();
        // Writing to memory cannot fail.
        self.put_down = Some((postcard::to_stdvec(&kept).unwrap_or_default(), kept.captures()));
    }

    /// Where the past of all flows is too long, begins the next part of each flow that has more than its share.
    fn parts_long_flows(&mut self, done: &mut Vec<Ended>) {
        let past = |entry: &Entry| entry.watch().map_or(0, Watch::past);
        let flows = self.entries.iter().flatten().count();
        let all: usize = self.entries.iter().flatten().map(past).sum();
        let Some(most) = self.most_past.filter(|most| all > *most) else { return };
        // Half of the room stays free: a flow is not parted each time.
        let share = (most / 2 / flows).max(LEAST_SHARE);
        for entry in self.entries.iter_mut().flatten().filter(|entry| past(entry) > share) {
            self.pauses.leave(entry.watch());
            self.flights.leave(entry.watch());
            done.extend(entry.parts(self.next_id).map(|part| part.ends(self.marks, false, self.latest)));
            self.next_id += 1;
        }
    }

    /// The serialised flows, and the numbers of the captures in which they began.
    pub(in super::super) fn take_kept(&mut self) -> Option<(Vec<u8>, BTreeSet<u32>)> {
        self.put_down.take()
    }

    /// The flows as they are now.
    fn kept(&self) -> KeptFlows<&Entry> {
        let queue = |place: &TablePlace| (place.id, place.since);
        KeptFlows {
            next_id: self.next_id,
            marks: self.marks,
            latest: self.latest,
            entries: self.entries.iter().flatten().collect(),
            half_open: self.half_open.places().map(queue).collect(),
            followed: self.followed.places().map(queue).collect(),
            lingering: self.lingering.iter().map(queue).collect(),
        }
    }

    /// Ends the capture: returns the flows that are still open, in the order of their first segments.
    pub(in super::super) fn drain(&mut self) -> impl Iterator<Item = Over> + use<> {
        let mut entries = mem::take(&mut self.entries);
        entries.retain(Option::is_some);
        entries.sort_unstable_by_key(|entry| entry.as_ref().map(|entry| entry.id));
        entries.iter().flatten().for_each(|entry| self.flights.leave(entry.watch()));
        let (marks, latest, goes_on) = (self.marks, self.latest, self.put_down.is_some());
        entries.into_iter().flatten().map(move |entry| Over { goes_on, ..entry.ends(marks, true, latest).over() })
    }

    /// Puts these flows into an empty table; `number` maps the captures' former numbers.
    pub(in super::super) fn with(mut self, kept: KeptFlows<Entry>, number: impl Fn(u32) -> u32) -> Table {
        (self.next_id, self.marks, self.latest) = (kept.next_id, kept.marks, kept.latest);
        let (mut slots, mut half_open, mut followed) = (HashMap::new(), 0, 0);
        for entry in kept.entries {
            let slot = self.entries.len() as u32;
            slots.insert(entry.id, slot);
            half_open += usize::from(matches!(entry.flow, Flow::HalfOpen(_)));
            followed += usize::from(matches!(entry.flow, Flow::Followed(_)) && !entry.lingers);
            self.starts_held += usize::from(entry.watch().is_some_and(Watch::has_begun_with));
            self.insert(entry.key, slot);
            self.entries.push(Some(Entry { capture: number(entry.capture), ..entry }));
        }
        // A flow that is gone has no slot: the slot's present flow has another id.
        let place = |(id, since)| TablePlace { since, slot: slots.get(&id).copied().unwrap_or(0), id };
        let places = |queue: Queue| queue.into_iter().filter(|_| !slots.is_empty()).map(place).collect();
        self.half_open.resume(places(kept.half_open), half_open);
        self.followed.resume(places(kept.followed), followed);
        self.lingering = places(kept.lingering);
        self.flights.resume(self.resting.resume(&self.entries));
        self
    }
}
