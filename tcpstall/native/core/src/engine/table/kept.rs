//! Serialises all flows of a table, and restores them into another.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::{Entry, Flow, Place, Table};
use crate::pause::Watch;
use crate::time::Nanos;

/// The flows of a stream at the end of its files, including finished flows that linger.
#[derive(Serialize, Deserialize)]
pub(in super::super) struct Kept<E> {
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

impl<E: Borrow<Entry>> Kept<E> {
    /// The numbers of the captures in which the flows began.
    pub(in super::super) fn captures(&self) -> BTreeSet<u32> {
        self.entries.iter().map(|entry| entry.borrow().capture).collect()
    }
}

impl Table {
    /// Serialises the flows, because the stream may continue later.
    pub(super) fn puts_down(&mut self) {
        let kept = self.kept();
        // Writing to memory cannot fail.
        self.put_down = Some((postcard::to_stdvec(&kept).unwrap_or_default(), kept.captures()));
    }

    /// The serialised flows, and the numbers of the captures in which they began.
    pub(in super::super) fn take_kept(&mut self) -> Option<(Vec<u8>, BTreeSet<u32>)> {
        self.put_down.take()
    }

    /// The flows as they are now.
    fn kept(&self) -> Kept<&Entry> {
        let queue = |place: &Place| (place.id, place.since);
        Kept {
            next_id: self.next_id,
            marks: self.marks,
            latest: self.latest,
            entries: self.entries.iter().flatten().collect(),
            half_open: self.half_open.places().map(queue).collect(),
            followed: self.followed.places().map(queue).collect(),
            lingering: self.lingering.iter().map(queue).collect(),
        }
    }

    /// Puts these flows into an empty table; `number` maps the captures' former numbers.
    pub(in super::super) fn with(mut self, kept: Kept<Entry>, number: impl Fn(u32) -> u32) -> Table {
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
        let place = |(id, since)| Place { since, slot: slots.get(&id).copied().unwrap_or(0), id };
        let places = |queue: Queue| queue.into_iter().filter(|_| !slots.is_empty()).map(place).collect();
        self.half_open.resume(places(kept.half_open), half_open);
        self.followed.resume(places(kept.followed), followed);
        self.lingering = places(kept.lingering);
        self.flights.resume(self.resting.resume(&self.entries));
        self
    }
}
