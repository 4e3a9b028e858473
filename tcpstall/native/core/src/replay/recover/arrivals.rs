//! When the data of one end had arrived at the other, in order.

use crate::replay::record::{Kind, Record};
use crate::time::Nanos;

/// Offsets and when everything below them had arrived; both only grow.
#[derive(Clone, Debug, Default)]
pub struct Arrivals(Vec<(i64, Nanos)>);

impl Arrivals {
    /// Of the data of `sender`, which reaches its receiver `travel` after it passed the tap; behind a bottleneck (`queued`) it
    /// may wait on its way, and the acknowledgement says for how long at most.
    pub fn of(record: &Record, sender: usize, travel: Nanos, queued: bool) -> Arrivals {
        let mut arrivals = Arrivals::default();
        let mut acked = 0;
        for passing in &record.passings {
            if passing.sender as usize != sender {
                let ack = passing.ack.unwrap_or(0);
                if queued && ack > acked {
                    arrivals.no_sooner((acked, ack), passing.time - travel);
                }
                acked = ack.max(acked);
                continue;
            }
            let (end, time) = (passing.start + passing.bytes, passing.time + travel);
            match passing.kind {
                Kind::New => arrivals.reaches(end, time),
                // What was acknowledged before it was sent again had arrived.
                Kind::Again | Kind::Late { .. } if end > acked => arrivals.held_up(passing.start, time),
                Kind::Again | Kind::Late { .. } | Kind::Control => {}
            }
        }
        arrivals.waits();
        arrivals
    }

    fn reaches(&mut self, end: i64, time: Nanos) {
        let time = self.0.last().map_or(time, |(_, last)| time.max(*last));
        self.0.push((end, time));
    }

    /// What lies from `start` on had to wait for what came only then: the first of it is told, [`Arrivals::waits`] the others.
    fn held_up(&mut self, start: i64, time: Nanos) {
        let first = self.0.partition_point(|(end, _)| *end <= start);
        if let Some((_, arrived)) = self.0.get_mut(first) {
            *arrived = time.max(*arrived);
        }
    }

    /// Nothing had arrived, in order, before what precedes it.
    fn waits(&mut self) {
        let mut last = Nanos(i64::MIN);
        for (_, arrived) in &mut self.0 {
            last = last.max(*arrived);
            *arrived = last;
        }
    }

    /// What ends in the range had arrived just before this, if not sooner.
    fn no_sooner(&mut self, (from, to): (i64, i64), time: Nanos) {
        let first = self.0.partition_point(|(end, _)| *end <= from);
        let last = self.0.partition_point(|(end, _)| *end <= to);
        for (_, arrived) in &mut self.0[first..last] {
            *arrived = time.max(*arrived);
        }
    }

    /// When everything below `offset` had arrived; `None` for what was never seen to.
    pub fn at(&self, offset: i64) -> Option<Nanos> {
        let at = self.0.partition_point(|(end, _)| *end < offset);
        self.0.get(at).map(|(_, time)| *time)
    }

    /// When the last byte had.
    pub fn last(&self) -> Option<Nanos> {
        self.0.last().map(|(_, time)| *time)
    }
}
