//! Infers the rate at which segments follow each other that leave together: no window, but hosts and links space them.

use crate::flow::End;
use crate::replay::record::{PassingKind, Record};
use crate::time::Nanos;

/// Longest time between two segments of a train: a longer one is a pause of its sender.
const TRAIN: Nanos = Nanos::from_micros(150);
/// Whole segments in trains whose rate is known well enough.
const ENOUGH: usize = 30;
/// Time of the largest flight at this rate, as a share of the round trip, from which the rate matters.
const MATTERS: f64 = 0.1;

/// Bytes per second of one end's segments that follow each other at once (the dispersion of packet trains), where a
/// flight takes a part of the round trip to be sent.
pub(super) fn speed(record: &Record, end: End, rtt: Nanos) -> Option<f64> {
    let own = record.passings.iter().filter(|own| own.sender == end && own.kind == PassingKind::New && own.bytes > 0);
    let (mut last, mut count, mut bytes, mut span) = (None, 0_usize, 0, Nanos::ZERO);
    for own in own {
        let whole = own.bytes >= record.mss[end];
        let before = std::mem::replace(&mut last, whole.then_some(own.time));
        if let Some(gap) = before.map(|last| own.time - last).filter(|gap| whole && *gap <= TRAIN) {
            (count, bytes, span) = (count + 1, bytes + own.bytes, span + gap);
        }
    }
    let speed = bytes as f64 * 1e9 / span.0.max(1) as f64;
    let flight = record.row.directions.of(end).max_in_flight_bytes as f64 * 1e9 / speed.max(1.0);
    (count >= ENOUGH && flight > MATTERS * rtt.0 as f64).then_some(speed)
}
