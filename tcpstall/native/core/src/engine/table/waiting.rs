//! Queue of open flows by their silence: decides which flow is removed when memory or patience ends.

use std::collections::VecDeque;

use crate::time::Nanos;

/// Excess of the queue's length, over nearly twice its live entries, from which the queue is swept. Limits are powers of two,
/// and so is a queue's room: twice the live entries and a few more would take twice the memory.
const SLACK: usize = 64;

/// A flow's place in the table when it was put into a queue.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct TablePlace {
    /// Its latest segment at that time.
    pub(in crate::engine) since: Nanos,
    /// Slot in the table, if that still holds the flow with this id; of a flow that rests, its rest with this number.
    pub(in crate::engine) slot: u32,
    pub(in crate::engine) id: u64,
}

/// Flows of one kind, roughly by silence, longest first: a flow that has spoken since it was queued goes to the back
/// only when its turn comes.
pub(in crate::engine) struct Waiting {
    queue: VecDeque<TablePlace>,
    live: usize,
    /// Flows in the queues of other shards.
    elsewhere: usize,
    limit: usize,
    /// Memory of the flows, and the largest, bytes, where that counts.
    weight: usize,
    heaviest: usize,
    patience: Nanos,
}

/// Decision on a flow whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Turn {
    /// The flow is queued again.
    Stays,
    /// There are too many flows, and the others spoke later.
    NoRoom,
    /// The flow was silent for too long.
    NoPatience,
}

impl Waiting {
    /// A queue for `limit` flows at once, with a silence of `patience` at most.
    pub(in crate::engine) fn new(limit: usize, patience: Nanos) -> Waiting {
        Waiting { queue: VecDeque::new(), live: 0, elsewhere: 0, limit, weight: 0, heaviest: usize::MAX, patience }
    }

    /// A queue for flows that take at most so many bytes together, with a silence of `patience` at most.
    pub(in crate::engine) fn of_bytes(heaviest: usize, patience: Nanos) -> Waiting {
        Waiting::new(usize::MAX, patience).with_bytes(heaviest)
    }

    /// The queue for flows that also take at most so many bytes together.
    pub(in crate::engine) fn with_bytes(self, heaviest: usize) -> Waiting {
        Waiting { heaviest, ..self }
    }

    /// Memory of the flows, bytes.
    pub(in crate::engine) fn weight(&self) -> usize {
        self.weight
    }

    /// Takes in that a flow's memory changes.
    #[inline]
    pub(in crate::engine) fn weighs(&mut self, before: usize, now: usize) {
        self.weight = self.weight + now - before;
    }

    fn is_crowded(&self) -> bool {
        self.live > self.limit || self.weight > self.heaviest
    }

    /// Flows in queue order; some may be gone.
    pub(in crate::engine) fn places(&self) -> impl Iterator<Item = &TablePlace> {
        self.queue.iter()
    }

    /// Restores the queue of a serialised stream, in which `live` flows were not gone.
    pub(in crate::engine) fn resume(&mut self, places: VecDeque<TablePlace>, live: usize) {
        (self.queue, self.live) = (places, live);
    }

    /// Frees the queue's memory: the stream is over.
    pub(in crate::engine) fn frees(&mut self) {
        self.queue = VecDeque::new();
    }

    /// Adds a flow.
    pub(in crate::engine) fn enters(&mut self, place: TablePlace) {
        self.queue.push_back(place);
        self.live += 1;
    }

    /// Adds a flow that takes so many bytes.
    pub(in crate::engine) fn enters_with(&mut self, place: TablePlace, bytes: usize) {
        self.enters(place);
        self.weighs(0, bytes);
    }

    /// Moves a queued flow to the back.
    pub(in crate::engine) fn waits(&mut self, place: TablePlace) {
        self.queue.push_back(place);
    }

    /// Removes a flow that is over, or moves to another queue.
    pub(in crate::engine) fn leaves(&mut self) {
        self.live -= 1;
    }

    /// Removes a flow that takes so many bytes.
    pub(in crate::engine) fn leaves_with(&mut self, bytes: usize) {
        self.leaves();
        self.weighs(bytes, 0);
    }

    /// Number of flows that are not gone.
    pub(in crate::engine) fn live(&self) -> usize {
        self.live
    }

    /// Takes in the number of flows in other shards.
    pub(in crate::engine) fn is_beside(&mut self, elsewhere: usize) {
        self.elsewhere = elsewhere;
    }

    /// Share of each flow in `whole`, with those of other shards.
    pub(in crate::engine) fn share(&self, whole: usize) -> usize {
        whole / (self.live + self.elsewhere).max(1)
    }

    /// Replaces the flows' ids.
    pub(in crate::engine) fn renumber(&mut self, id: impl Fn(u64) -> u64) {
        self.queue.iter_mut().for_each(|place| place.id = id(place.id));
    }

    /// True if no flow has to be examined now, and most in the queue are not gone.
    #[inline]
    pub(in crate::engine) fn is_tidy(&self, now: Nanos) -> bool {
        self.is_swept() && self.first(now).is_none()
    }

    #[inline]
    fn is_swept(&self) -> bool {
        self.queue.len() <= 2 * self.live - self.live / 8 + SLACK
    }

    /// Removes the places of flows that are gone, once they are most.
    pub(in crate::engine) fn sweep(&mut self, is_here: impl FnMut(&TablePlace) -> bool) {
        if !self.is_swept() {
            self.queue.retain(is_here);
        }
    }

    /// The first flow, if it has to be examined now.
    #[inline]
    fn first(&self, now: Nanos) -> Option<&TablePlace> {
        self.queue.front().filter(|first| self.is_crowded() || now - first.since >= self.patience)
    }

    /// The flow to be examined now: it may have to be removed, or be gone already.
    pub(in crate::engine) fn next(&mut self, now: Nanos) -> Option<TablePlace> {
        self.first(now)?;
        self.queue.pop_front()
    }

    /// Decides on the examined flow, which is still open; `last` was its latest segment. A flow that stays is queued
    /// again.
    pub(in crate::engine) fn turn(&mut self, place: TablePlace, last: Nanos, now: Nanos) -> Turn {
        if now - last >= self.patience {
            Turn::NoPatience
        } else if self.is_crowded() && last <= place.since {
            Turn::NoRoom
        } else {
            self.waits(TablePlace { since: last, ..place });
            Turn::Stays
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(id: u64, since: i64) -> TablePlace {
        TablePlace { since: Nanos(since), slot: 0, id }
    }

    /// Flow 1 spoke last at `spoke`; who goes at `now`, of two flows where there is room for `limit`?
    fn gone(limit: usize, patience: i64, spoke: i64, now: i64) -> Vec<u64> {
        let mut waiting = Waiting::new(limit, Nanos(patience));
        (1..=2).for_each(|id| waiting.enters(place(id, id as i64)));
        let (mut gone, now) = (Vec::new(), Nanos(now));
        while let Some(place) = waiting.next(now) {
            let last = if place.id == 1 { Nanos(spoke) } else { place.since };
            if waiting.turn(place, last, now) != Turn::Stays {
                waiting.leaves();
                gone.push(place.id);
            }
        }
        gone
    }

    #[test]
    fn where_there_is_room_nobody_goes() {
        assert!(gone(2, 100, 1, 10).is_empty());
    }

    #[test]
    fn the_longest_silence_goes_first() {
        assert_eq!(gone(1, 100, 1, 10), [1]);
        assert_eq!(gone(1, 100, 5, 10), [2]);
    }

    #[test]
    fn who_takes_too_much_memory_goes() {
        let mut waiting = Waiting::of_bytes(100, Nanos(100));
        (1..=2).for_each(|id| waiting.enters(place(id, id as i64)));
        waiting.weighs(0, 100);
        assert!(waiting.next(Nanos(10)).is_none());
        waiting.weighs(50, 51);
        let first = waiting.next(Nanos(10)).unwrap();
        assert_eq!((first.id, waiting.turn(first, Nanos(1), Nanos(10))), (1, Turn::NoRoom));
    }

    #[test]
    fn patience_ends() {
        assert_eq!(gone(2, 9, 5, 12), [2]);
        assert_eq!(gone(2, 9, 1, 12), [1, 2]);
    }

    #[test]
    fn flows_that_ended_by_themselves_are_swept_out() {
        let mut waiting = Waiting::new(10, Nanos(100));
        for id in 0..1_000 {
            waiting.enters(place(id, 0));
            waiting.leaves();
            waiting.sweep(|_| false);
        }
        assert!(waiting.queue.len() <= SLACK);
    }
}
