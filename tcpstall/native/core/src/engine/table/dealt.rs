//! Takes in the segments of each batch that are dealt to a table.

use std::mem;

use super::super::batch::Batch;
use super::entry::{Ended, Entry, Flow};
use super::flights::EVERY;
use super::{STARTS_HELD, Table};
use crate::time::Nanos;

impl Table {
    /// Takes in the segments of a batch that are dealt to this table. Flows that are over now go to `ended`.
    pub(in super::super) fn takes(&mut self, batch: &Batch) {
        let mut ended = mem::take(&mut self.ended);
        let done = &mut ended;
        let dealt = &batch.dealt;
        self.latest = self.latest.max(dealt.latest);
        self.is_beside(dealt.elsewhere[self.shard]);
        let own = dealt.places(self.shard);
        self.interface = batch.interfaces.first().unwrap_or(0) as u16;
        if dealt.newest >= self.lingering.due() || batch.files.are_several() {
            self.takes_among_all(batch, own, done);
        } else if batch.has_notes() {
            self.capture = batch.files.first().unwrap_or(self.capture);
            own.iter().for_each(|place| self.takes_noted(batch, *place, done));
        } else {
            let mut own = own;
            while let Some((place, others)) = own.split_first() {
                self.at = dealt.first + u64::from(*place);
                let seen = self.sees::<true>(&batch.segments()[usize::from(*place)], done);
                own = others;
                if seen.is_some_and(|(_, _, watch)| watch.is_in_step()) {
                    own = self.steps_along(batch, others);
                }
            }
        }
        if batch.left_out {
            self.left_out();
        }
        self.ended = ended;
    }

    /// Takes in the segments at those places as long as each is as expected of the flow just seen: neither another flow nor
    /// the table has to be looked at. Returns the places after them.
    #[inline(never)]
    fn steps_along<'a>(&mut self, batch: &Batch, places: &'a [u16]) -> &'a [u16] {
        let Some((_, slot)) = self.recent.filter(|_| self.marks == 0 && !self.lingering.is_crowded()) else {
            return places;
        };
        let Some(Some(Entry { flow: Flow::Followed(watch), .. })) = self.entries.get_mut(slot as usize) else {
            return places;
        };
        let taken = watch.steps_along(batch.segments(), places, self.lingering.due(), EVERY);
        let (taken, others) = places.split_at(taken);
        if let Some(newest) = taken.last() {
            self.at = batch.dealt.first + u64::from(*newest);
            self.latest = self.latest.max(watch.connection.end);
            self.flights.grow(watch, &self.followed);
        }
        others
    }

    /// Takes in the segments at those places; those of other tables tell the time and the capture.
    #[cold]
    fn takes_among_all(&mut self, batch: &Batch, own: &[u16], done: &mut Vec<Ended>) {
        let mut own = own.iter().peekable();
        for (place, segment) in (0..).zip(batch.segments()) {
            self.capture = batch.files.of(segment).unwrap_or(self.capture);
            self.at = batch.dealt.first + u64::from(place);
            self.hears(segment.time, done);
            if own.next_if_eq(&&place).is_some() {
                self.takes_noted(batch, place, done);
            }
        }
    }

    /// Takes in the segment at that place, and what the batch notes of it.
    fn takes_noted(&mut self, batch: &Batch, place: u16, done: &mut Vec<Ended>) {
        let segment = &batch.segments()[usize::from(place)];
        self.at = batch.dealt.first + u64::from(place);
        let opened = self.opened.len();
        let seen = self.sees::<true>(segment, done).map(|(_, seen, _)| seen);
        if batch.interfaces.are_several() && self.opened.len() > opened {
            self.came_in_at(segment, batch.interfaces.of(segment).unwrap_or(0) as u16);
        }
        if let Some(start) = batch.starts.of(segment).filter(|_| self.starts_held < STARTS_HELD) {
            match seen {
                Some(seen) => self.begins_with(segment, seen, start),
                None => self.keeps_start(segment, start),
            }
        }
        if let Some(tunnel) = batch.tunnels.of(segment) {
            self.came_through(segment, tunnel);
        }
    }

    /// Takes in the time of a segment of any flow.
    pub(in super::super) fn hears(&mut self, time: Nanos, done: &mut Vec<Ended>) {
        self.latest = self.latest.max(time);
        if time >= self.lingering.due() {
            self.release(time, done);
        }
    }
}
