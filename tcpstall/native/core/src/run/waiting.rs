//! Open flows by their silence: which of them leaves when memory or patience ends.

use std::collections::VecDeque;

use crate::time::Nanos;

/// The queue is swept once it is so much longer than what waits in it.
const SLACK: usize = 64;

/// A flow in the table, as it was when it was put into a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its latest segment then.
    pub(super) since: Nanos,
    /// Where it is, if it still is the flow of that id.
    pub(super) slot: u32,
    pub(super) id: u64,
}

/// Flows of one kind, roughly those first that were silent longest: a flow that spoke since it was put in goes to the back
/// only when its turn comes.
pub(super) struct Waiting {
    queue: VecDeque<Place>,
    live: usize,
    limit: usize,
    patience: Nanos,
}

/// What becomes of a flow whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It waits again.
    Stays,
    /// There are too many, and the others spoke later.
    NoRoom,
    /// It was silent for too long.
    NoPatience,
}

impl Waiting {
    /// For so many flows at once, each with so long a silence.
    pub(super) fn new(limit: usize, patience: Nanos) -> Waiting {
        Waiting { queue: VecDeque::new(), live: 0, limit, patience }
    }

    /// Who waits, in the order of their turns; some may have gone.
    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        self.queue.iter()
    }

    /// With those that waited when the stream was put down, of which so many had not gone.
    pub(super) fn resume(&mut self, places: VecDeque<Place>, live: usize) {
        (self.queue, self.live) = (places, live);
    }

    /// A flow begins to wait.
    pub(super) fn enters(&mut self, place: Place) {
        self.queue.push_back(place);
        self.live += 1;
    }

    /// One of the flows that wait goes to the back.
    pub(super) fn waits(&mut self, place: Place) {
        self.queue.push_back(place);
    }

    /// One of the flows is over, or waits for something else.
    pub(super) fn leaves(&mut self) {
        self.live -= 1;
    }

    /// What each flow may have where they share so much.
    pub(super) fn share(&self, whole: usize) -> usize {
        whole / self.live.max(1)
    }

    /// The flow that is to be looked at now: it may have to go, or have gone already.
    pub(super) fn next(&mut self, now: Nanos) -> Option<Place> {
        let since = self.queue.front()?.since;
        let swept = self.queue.len() <= 2 * self.live + SLACK;
        if swept && self.live <= self.limit && now - since < self.patience { None } else { self.queue.pop_front() }
    }

    /// The flow looked at is still there, and `last` was its latest segment: where it stays, it waits again.
    pub(super) fn turn(&mut self, place: Place, last: Nanos, now: Nanos) -> Turn {
        if now - last >= self.patience {
            Turn::NoPatience
        } else if self.live > self.limit && last <= place.since {
            Turn::NoRoom
        } else {
            self.waits(Place { since: last, ..place });
            Turn::Stays
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(id: u64, since: i64) -> Place {
        Place { since: Nanos(since), slot: 0, id }
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
            while waiting.next(Nanos(0)).is_some() {}
        }
        assert!(waiting.queue.len() <= SLACK);
    }
}
