//! How far the path draws out what was sent at once: the rate of its narrowest point, though no queue ever stood there.

use super::limits::median;
use crate::replay::record::{Kind, Record};
use crate::time::Nanos;

/// Acknowledgements further apart than this share of the round trip answer different bursts.
const APART: f64 = 0.25;
/// Segments that a train must cover.
const LEAST_SEGMENTS: i64 = 6;
/// A train takes at least so long, or hosts' own noise is all that it shows.
const LEAST_SPAN: Nanos = Nanos::from_millis(2);
/// What it acknowledges left its sender in less than this share of that time.
const AT_ONCE: f64 = 0.5;
/// Trains that must agree, and how well: half of them lie within this share of the middle one.
const TRAINS: usize = 4;
const AGREEMENT: f64 = 0.2;

/// ACKs in a row.
#[derive(Clone, Copy)]
struct Train {
    /// Of its first one, when it passed and what it acknowledged.
    first: (Nanos, i64),
    last: (Nanos, i64),
}

/// Payload bytes per second of one end's data, where its bursts came back drawn out alike.
pub(super) fn rate(record: &Record, end: usize, rtt: Nanos) -> Option<f64> {
    let own = record.passings.iter().filter(|passing| passing.sender as usize == end && passing.kind == Kind::New);
    let sent: Vec<(i64, Nanos)> = own.map(|passing| (passing.start + passing.bytes, passing.time)).collect();
    let sent_at = |offset: i64| sent.get(sent.partition_point(|(end, _)| *end < offset)).map(|(_, time)| *time);
    let mut rates: Vec<f64> = Vec::new();
    for train in trains(record, end, rtt) {
        let (bytes, span) = (train.last.1 - train.first.1, train.last.0 - train.first.0);
        let left = sent_at(train.first.1).zip(sent_at(train.last.1)).map(|(first, last)| last - first);
        let drawn_out = left.is_some_and(|left| left <= span.scaled(AT_ONCE));
        if bytes >= LEAST_SEGMENTS * record.mss[end] && span >= LEAST_SPAN && drawn_out {
            rates.push(bytes as f64 * 1e9 / span.0 as f64);
        }
    }
    let middle = median(rates.clone()).filter(|_| rates.len() >= TRAINS)?;
    let near = rates.iter().filter(|rate| (*rate / middle - 1.0).abs() <= AGREEMENT).count();
    (2 * near >= rates.len()).then_some(middle)
}

fn trains(record: &Record, end: usize, rtt: Nanos) -> Vec<Train> {
    let mut trains: Vec<Train> = Vec::new();
    for passing in record.passings.iter().filter(|passing| passing.sender as usize != end) {
        let Some(ack) = passing.ack else { continue };
        match trains.last_mut() {
            Some(train) if ack <= train.last.1 => {}
            Some(train) if passing.time - train.last.0 <= rtt.scaled(APART) => train.last = (passing.time, ack),
            _ => trains.push(Train { first: (passing.time, ack), last: (passing.time, ack) }),
        }
    }
    trains
}
