//! Makes room: flows that were silent for longer than the others rest, or are removed.

use super::super::waiting::{Turn, Waiting};
use super::{Ended, Entry, FOLLOWED_IDLE, Flow, Table};
use crate::time::Nanos;

impl Table {
    /// Makes flows rest or removes them, for lack of room or after a long silence, except the one that is `speaking`.
    pub(super) fn tidy(&mut self, speaking: u32, now: Nanos, done: &mut Vec<Ended>) {
        while let Some(place) = self.half_open.next(now) {
            let entry = self.entries[place.slot as usize].as_ref().filter(|entry| entry.id == place.id);
            let last = entry.filter(|entry| entry.is_half_open()).map(Entry::last);
            if last.is_some_and(|last| self.half_open.turn(place, last, now) != Turn::Stays) {
                self.let_go += 1;
                self.finish(place.slot, done);
            }
        }
        self.tidies(|table| &mut table.begun, Entry::is_begun, speaking, now, done);
        self.tidies(|table| &mut table.followed, Entry::is_under_way, speaking, now, done);
        while let Some(slot) = self.resting.next(now - FOLLOWED_IDLE, &self.entries) {
            self.lets_go(slot, done);
        }
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
            let entry = self.entries[place.slot as usize].as_ref();
            let entry = entry.filter(|entry| entry.id == place.id && is_of(entry));
            let Some(last) = entry.map(Entry::last) else { continue };
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
        self.resting.enters(slot, &mut self.entries);
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
