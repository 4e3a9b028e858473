//! Makes room: flows that were silent for longer than the others rest, or are removed.

use super::waiting::{TablePlace, Turn, Waiting};
use super::{Ended, Entry, Flow, Table};
use crate::time::Nanos;

impl Table {
    /// Makes flows rest or removes them, for lack of room or after a long silence, except the one that is `speaking`.
    #[inline]
    pub(super) fn tidy(&mut self, speaking: u32, now: Nanos, done: &mut Vec<Ended>) {
        // Nearly always there is nothing to do.
        let queues = [&self.half_open, &self.begun, &self.followed, &self.resting];
        if !queues.into_iter().all(|queue| queue.is_tidy(now)) {
            self.makes_room(speaking, now, done);
        }
    }

    #[cold]
    fn makes_room(&mut self, speaking: u32, now: Nanos, done: &mut Vec<Ended>) {
        self.sweeps();
        while let Some(place) = self.half_open.next(now) {
            let last = here(&self.entries, &place, Entry::is_half_open).map(Entry::last);
            if last.is_some_and(|last| self.half_open.turn(place, last, now) != Turn::Stays) {
                self.let_go += 1;
                self.finish(place.slot, done);
            }
        }
        self.tidies(|table| &mut table.begun, Entry::is_begun, speaking, now, done);
        self.tidies(|table| &mut table.followed, Entry::is_under_way, speaking, now, done);
        while let Some(place) = self.resting.next(now) {
            let last = at_rest(&self.entries, &place).map(Entry::last);
            if last.is_some_and(|last| self.resting.turn(place, last, now) != Turn::Stays) {
                self.lets_go(place.slot, done);
            }
        }
    }

    /// Removes the places of flows that are gone from the queues.
    fn sweeps(&mut self) {
        let entries = &self.entries;
        self.half_open.sweep(|place| here(entries, place, Entry::is_half_open).is_some());
        self.begun.sweep(|place| here(entries, place, Entry::is_begun).is_some());
        self.followed.sweep(|place| here(entries, place, Entry::is_under_way).is_some());
        self.resting.sweep(|place| at_rest(entries, place).is_some());
    }

    /// Tidies the queue of flows that may rest.
    fn tidies(
        &mut self,
        queue: fn(&mut Table) -> &mut Waiting,
        is_of: fn(&Entry) -> bool,
        speaking: u32,
        now: Nanos,
        done: &mut Vec<Ended>,
    ) {
        while let Some(place) = queue(self).next(now) {
            let Some(last) = here(&self.entries, &place, is_of).map(Entry::last) else { continue };
            match queue(self).turn(place, last, now) {
                Turn::Stays => {}
                Turn::NoRoom if place.slot == speaking => queue(self).waits(place),
                Turn::NoRoom => self.rest(place.slot),
                Turn::NoPatience => self.lets_go(place.slot, done),
            }
        }
    }

    /// Makes a flow rest that was silent for longer than the others.
    #[cold]
    fn rest(&mut self, slot: u32) {
        self.follow(slot);
        let entry = self.entries[slot as usize].as_ref();
        self.starts_held -= usize::from(entry.is_some_and(Entry::has_begun_with));
        let watch = entry.and_then(Entry::watch);
        self.pauses.leave(watch);
        self.flights.leave(watch);
        self.followed.leaves();
        self.rests += 1;
        if let Some(resting) = self.entries[slot as usize].as_mut().and_then(|entry| entry.rests(self.rests)) {
            let place = TablePlace { since: resting.last(), slot, id: self.rests };
            self.resting.enters_with(place, resting.bytes());
        }
    }

    /// Removes a flow while it is open.
    fn lets_go(&mut self, slot: u32, done: &mut Vec<Ended>) {
        self.follow(slot);
        if let Some(Entry { flow: Flow::Followed(watch), .. }) = &mut self.entries[slot as usize] {
            watch.let_go = true;
            self.let_go += 1;
            self.finish(slot, done);
        }
    }
}

/// The flow at that place of a queue, if it is still there and one of the queue's.
fn here<'e>(entries: &'e [Option<Entry>], place: &TablePlace, is_of: fn(&Entry) -> bool) -> Option<&'e Entry> {
    entries[place.slot as usize].as_ref().filter(|entry| entry.id == place.id && is_of(entry))
}

/// The flow that rests at that place, if it has not woken since.
pub(super) fn at_rest<'e>(entries: &'e [Option<Entry>], place: &TablePlace) -> Option<&'e Entry> {
    let entry = entries[place.slot as usize].as_ref();
    entry.filter(|entry| matches!(&entry.flow, Flow::Resting(resting) if resting.number() == place.id))
}
