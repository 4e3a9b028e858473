//! Connections that are over and stay for a while, because their last segments may come again.

use std::collections::VecDeque;

use super::super::deal::SHARDS;
use super::super::sets::NEVER;
use super::waiting::TablePlace;
use crate::time::Nanos;

/// Capture time for which a finished connection stays: a FIN or data may be retransmitted after as long a pause (Linux
/// TCP_RTO_MAX; RFC 6298 §2.5 allows no lower limit than 60 s; RFC 9293 §3.4.3 asks for 4 minutes).
const LINGER: Nanos = Nanos::from_millis(120_000);
/// Most finished connections that stay.
const MOST: usize = 1_024 / SHARDS;

/// The connections of a table that are over, the first to end first.
#[derive(Debug)]
pub(super) struct Lingering {
    queue: VecDeque<TablePlace>,
    /// When the first of these is over.
    due: Nanos,
}

impl Default for Lingering {
    fn default() -> Lingering {
        Lingering { queue: VecDeque::new(), due: NEVER }
    }
}

impl Lingering {
    /// Restores those of a serialised stream.
    pub(super) fn of(queue: VecDeque<TablePlace>) -> Lingering {
        let mut lingering = Lingering { queue, due: NEVER };
        lingering.is_due();
        lingering
    }

    /// Those that linger, the first first; some may be gone.
    pub(super) fn places(&self) -> impl Iterator<Item = &TablePlace> {
        self.queue.iter()
    }

    /// Replaces the flows' ids.
    pub(super) fn renumber(&mut self, id: impl Fn(u64) -> u64) {
        self.queue.iter_mut().for_each(|place| place.id = id(place.id));
    }

    /// Takes in a connection that is over.
    #[inline]
    pub(super) fn enters(&mut self, place: TablePlace) {
        self.due = self.due.min(place.since + LINGER);
        self.queue.push_back(place);
    }

    /// When the first of them is over.
    #[inline]
    pub(super) fn due(&self) -> Nanos {
        self.due
    }

    /// There are more than may stay.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.queue.len() > MOST
    }

    /// Takes out the first one, if its time is over or there is no room.
    pub(super) fn next(&mut self, now: Nanos) -> Option<TablePlace> {
        let over = self.queue.front().is_some_and(|first| now - first.since >= LINGER);
        if over || self.is_crowded() { self.queue.pop_front() } else { None }
    }

    /// Lets a connection stay that was taken out: its latest segment came at `last`. False if it is over.
    pub(super) fn stays(&mut self, place: TablePlace, last: Nanos, now: Nanos) -> bool {
        let stays = last > place.since && now - last < LINGER && self.queue.len() < MOST;
        if stays {
            self.queue.push_back(TablePlace { since: last, ..place });
        }
        stays
    }

    /// Notes when the first of them is over.
    pub(super) fn is_due(&mut self) {
        self.due = self.queue.front().map_or(NEVER, |first| first.since + LINGER);
    }
}
