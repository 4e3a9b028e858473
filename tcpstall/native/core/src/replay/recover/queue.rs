//! Infers the depth of the queue before the bottleneck, from the data that stood there and the data that was lost.

use super::limits::NEAR;
use crate::flow::End;
use crate::replay::record::{PassingKind, Record};
use crate::replay::setup::{Loss, QueueDepth};
use crate::time::Nanos;

/// Share of the deepest queue from which a loss is the queue's.
const FULL: f64 = 0.7;
/// Segments of a queue that is deep enough to be known.
const LEAST: i64 = 4;

/// The queue before a link of `rate` for one end's data, whose losses are known; `None` away from the sender.
pub(super) fn depth(
    record: &Record,
    end: End,
    distance: Nanos,
    rtt: Nanos,
    rate: Option<f64>,
    losses: &[Loss],
) -> Option<QueueDepth> {
    let rate = rate.filter(|_| distance <= rtt.scaled(NEAR))?;
    let mss = record.mss[end];
    let mut losses = losses.to_vec();
    let (mut free, mut deepest) = (Nanos::ZERO, 0);
    let mut least_lost: Option<i64> = None;
    let own = record.passings.iter().filter(|own| own.sender == end && own.kind != PassingKind::Control);
    for passing in own {
        let mut start = passing.start;
        while start < passing.start + passing.bytes {
            let bytes = mss.min(passing.start + passing.bytes - start);
            let waiting = (free - passing.time).or_zero();
            let queued = (waiting.0 as f64 * rate / 1e9) as i64 + bytes;
            if is_lost(&mut losses, start, bytes) {
                least_lost = Some(least_lost.map_or(queued, |least| least.min(queued)));
            } else {
                deepest = deepest.max(queued);
                free = passing.time + waiting + Nanos((bytes as f64 / rate * 1e9) as i64);
            }
            start += mss;
        }
    }
    let overflowed = least_lost.is_some_and(|least| least as f64 >= FULL * deepest as f64);
    (deepest >= LEAST * mss).then_some(QueueDepth { bytes: deepest, overflowed })
}

/// True if the path lost this segment this time.
fn is_lost(losses: &mut [Loss], start: i64, bytes: i64) -> bool {
    let at = losses.partition_point(|loss| loss.at < start);
    let hit = losses.get_mut(at).filter(|loss| loss.at < start + bytes && loss.times > 0);
    hit.map(|loss| loss.times -= 1).is_some()
}
