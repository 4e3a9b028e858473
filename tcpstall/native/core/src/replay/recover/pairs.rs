//! Infers the bottleneck's rate from the dispersion of segments sent together, where no queue ever stood there long.

use super::limits::median;
use crate::flow::End;
use crate::replay::record::{PassingKind, Record};
use crate::time::Nanos;

/// Smallest spacing of acknowledgements that is not hosts' own noise: a segment takes this long at 100 Mbit/s.
const LEAST_SPAN: Nanos = Nanos::from_micros(100);
/// Largest spacing of the acknowledged segments at their sender, as a share of the acknowledgements' spacing.
const AT_ONCE: f64 = 0.2;
/// Pairs that are needed.
const PAIRS: usize = 30;
/// Share of the pairs that must return spaced out, and share of these that must be near the median.
const MOST: f64 = 0.6;
/// Largest distance from the median, as a share of it.
const AGREEMENT: f64 = 0.2;

/// Payload bytes per second of one end's data, by acknowledgements of segments that left together and returned evenly
/// spaced.
pub(super) fn rate(record: &Record, end: End) -> Option<f64> {
    let own = record.passings.iter().filter(|passing| passing.sender == end && passing.kind == PassingKind::New);
    let sent: Vec<(i64, Nanos)> = own.map(|passing| (passing.start + passing.bytes, passing.time)).collect();
    let sent_at = |offset: i64| sent.get(sent.partition_point(|(end, _)| *end < offset)).map(|(_, time)| *time);
    let (mut rates, mut together) = (Vec::new(), 0_usize);
    let mut before: Option<(Nanos, i64)> = None;
    for passing in record.passings.iter().filter(|passing| passing.sender != end) {
        let Some(ack) = passing.ack.filter(|ack| before.is_none_or(|(_, last)| *ack > last)) else { continue };
        if let Some((time, last)) = before.replace((passing.time, ack))
            && let Some((first, second)) = sent_at(last).zip(sent_at(ack))
        {
            let (apart, left) = (passing.time - time, second - first);
            together += usize::from(left <= LEAST_SPAN.scaled(AT_ONCE).max(apart.scaled(AT_ONCE)));
            if apart >= LEAST_SPAN && left <= apart.scaled(AT_ONCE) {
                rates.push((ack - last) as f64 * 1e9 / apart.0 as f64);
            }
        }
    }
    let middle = median(rates.clone()).filter(|_| rates.len() >= PAIRS)?;
    let near = rates.iter().filter(|rate| (*rate / middle - 1.0).abs() <= AGREEMENT).count();
    let most = |part: usize, whole: usize| part as f64 >= MOST * whole as f64;
    (most(rates.len(), together) && most(near, rates.len())).then_some(middle)
}
