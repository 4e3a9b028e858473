//! Times when the data of one end had arrived at the other, in order.

use std::collections::BTreeMap;

use crate::flow::End;
use crate::replay::record::{Passing, PassingKind, Record};
use crate::replay::setup::Loss;
use crate::time::Nanos;

/// Offsets with the time when everything below them had arrived; both only grow.
#[derive(Clone, Debug, Default)]
pub struct Arrivals(Vec<(i64, Nanos)>);

impl Arrivals {
    /// Arrivals of the data of `sender`, which reaches its receiver `travel` after it passed the tap. Behind a
    /// bottleneck (`queued`) data may be queued on its way, and the acknowledgement gives the latest arrival. Data that
    /// came twice arrived with their first transmission, however late the acknowledgement.
    pub fn of(record: &Record, sender: End, travel: Nanos, queued: bool, losses: &[Loss]) -> Arrivals {
        let twice = twice(record, sender);
        let lost = |passing: &Passing| {
            let first = losses.partition_point(|loss| loss.at < passing.start);
            let end = passing.start + passing.bytes;
            losses.get(first).is_some_and(|loss| loss.at < end)
                || twice.range(..end).next_back().is_none_or(|(_, right)| *right <= passing.start)
        };
        let mut arrivals = Arrivals::default();
        let mut acked = 0;
        for passing in &record.passings {
            if passing.sender != sender {
                let ack = passing.ack.unwrap_or(0);
                if queued && ack > acked {
                    arrivals.no_sooner((acked, ack), passing.time - travel);
                }
                acked = ack.max(acked);
                continue;
            }
            let (end, time) = (passing.start + passing.bytes, passing.time + travel);
            match passing.kind {
                PassingKind::New => arrivals.reaches(end, time),
                // Data that was acknowledged before its retransmission had arrived.
                PassingKind::Again if end > acked && lost(passing) => arrivals.held_up(passing.start, time),
                PassingKind::Late { .. } if end > acked => arrivals.held_up(passing.start, time),
                PassingKind::Again | PassingKind::Late { .. } | PassingKind::Control => {}
            }
        }
        arrivals.waits();
        arrivals
    }

    #[cfg(test)]
    pub(super) fn listed(arrivals: &[(i64, Nanos)]) -> Arrivals {
        Arrivals(arrivals.to_vec())
    }

    fn reaches(&mut self, end: i64, time: Nanos) {
        let time = self.0.last().map_or(time, |(_, last)| time.max(*last));
        self.0.push((end, time));
    }

    /// Delays the data from `start` on until `time`: only its first frame here, [`Arrivals::waits`] delays the others.
    fn held_up(&mut self, start: i64, time: Nanos) {
        let first = self.0.partition_point(|(end, _)| *end <= start);
        if let Some((_, arrived)) = self.0.get_mut(first) {
            *arrived = time.max(*arrived);
        }
    }

    /// Delays each offset to the arrival of everything before it.
    fn waits(&mut self) {
        let mut last = Nanos(i64::MIN);
        for (_, arrived) in &mut self.0 {
            last = last.max(*arrived);
            *arrived = last;
        }
    }

    /// Delays data that ends in the range to just before this time, if it had seemed to arrive sooner.
    fn no_sooner(&mut self, (from, to): (i64, i64), time: Nanos) {
        let first = self.0.partition_point(|(end, _)| *end <= from);
        let last = self.0.partition_point(|(end, _)| *end <= to);
        for (_, arrived) in &mut self.0[first..last] {
            *arrived = time.max(*arrived);
        }
    }

    /// Time when everything below `offset` had arrived; `None` where it never did.
    pub fn at(&self, offset: i64) -> Option<Nanos> {
        let at = self.0.partition_point(|(end, _)| *end < offset);
        self.0.get(at).map(|(_, time)| *time)
    }

    /// Offset below which everything had arrived at `time`; 0 where nothing had.
    pub fn until(&self, time: Nanos) -> i64 {
        let at = self.0.partition_point(|(_, arrived)| *arrived <= time);
        at.checked_sub(1).map_or(0, |last| self.0[last].0)
    }

    /// Mean rate at which the data were read at least, while a buffer held no more than `window`, bytes per second.
    pub fn least_rate(&self, window: i64) -> f64 {
        let ends = self.0.first().zip(self.0.last());
        ends.map_or(0.0, |(first, last)| (last.0 - first.0 - window) as f64 * 1e9 / (last.1 - first.1).0.max(1) as f64)
    }

    /// All offsets with their times.
    pub fn iter(&self) -> impl Iterator<Item = (i64, Nanos)> + '_ {
        self.0.iter().copied()
    }

    /// Time when the last byte had arrived.
    pub fn last(&self) -> Option<Nanos> {
        self.0.last().map(|(_, time)| *time)
    }
}

/// Ranges of one end's data that its receiver reports as arrived twice: a block below the acknowledgement (RFC 2883 §4).
fn twice(record: &Record, sender: End) -> BTreeMap<i64, i64> {
    let (mut acked, mut ranges) = (0, BTreeMap::new());
    for passing in record.passings.iter().filter(|passing| passing.sender != sender) {
        acked = passing.ack.unwrap_or(0).max(acked);
        ranges.extend(passing.sack.filter(|(_, right)| *right <= acked));
    }
    ranges
}
