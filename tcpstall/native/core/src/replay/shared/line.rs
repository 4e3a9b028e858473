//! Infers the rate of a line from the data of all flows on it, and the deepest queue before it.

use std::collections::BTreeMap;

use super::flows::Group;
use crate::flow::End;
use crate::replay::record::{PassingKind, Record};
use crate::replay::recover::NEAR;
use crate::replay::setup::Loss;
use crate::time::Nanos;

/// Segments over which one rate is measured.
const WINDOW: i64 = 20;
/// Distance within which two rates are the same, as a share.
const SAME: f64 = 0.06;
/// Windows at the line's rate that are needed, and their share of all.
const ENOUGH: (usize, f64) = (8, 0.15);
/// Share of the windows that may be faster: acknowledgements that were held up arrive together.
const FASTER: f64 = 0.15;
/// Share of the deepest queue from which a loss is the queue's.
const FULL: f64 = 0.5;

/// Payload rate of the line for the data of one end, bytes per second; `None` where it never was the limit for long.
pub(super) fn rate(group: &Group<'_>, end: End) -> Option<f64> {
    let mss = group.flows.iter().map(|flow| flow.record.mss[flow.end(end)]).max()?;
    let mut passed = passed(group, end);
    passed.sort_by_key(|(time, _)| *time);
    let mut rates = Vec::new();
    let (mut begin, mut bytes) = (None, 0);
    for (time, more) in passed {
        let Some(from) = begin else {
            begin = Some(time);
            continue;
        };
        bytes += more;
        if bytes >= WINDOW * mss && time > from {
            rates.push(bytes as f64 * 1e9 / (time - from).0 as f64);
            (begin, bytes) = (Some(time), 0);
        }
    }
    rates.sort_by(f64::total_cmp);
    let within = |rate: f64| {
        let from = rates.partition_point(|other| *other < rate / (1.0 + SAME));
        let to = rates.partition_point(|other| *other <= rate * (1.0 + SAME));
        from..to
    };
    let most = rates.iter().copied().max_by_key(|rate| within(*rate).len())?;
    let same = within(most);
    let faster = rates.len() - same.end;
    let counts = same.len() >= ENOUGH.0 && same.len() as f64 >= ENOUGH.1 * rates.len() as f64;
    (counts && faster as f64 <= FASTER * rates.len() as f64).then(|| rates[same.start + same.len() / 2])
}

/// Times when data of one end left the line: as they pass a tap behind it, or as they are acknowledged.
fn passed(group: &Group<'_>, end: End) -> Vec<(Nanos, i64)> {
    let behind = group.distances[end] > group.rtt.scaled(NEAR);
    let of = |flow: &super::flows::Sharing<'_>| {
        let own = flow.end(end);
        if behind { arriving(flow.record, own) } else { acknowledged(flow.record, own) }
    };
    group.flows.iter().flat_map(of).collect()
}

fn arriving(record: &Record, end: End) -> Vec<(Nanos, i64)> {
    let own = record.passings.iter().filter(|own| own.sender == end && own.kind != PassingKind::Control);
    own.map(|own| (own.time, own.bytes)).collect()
}

/// Data that each acknowledgement newly reports, by its left edge and its first block.
fn acknowledged(record: &Record, end: End) -> Vec<(Nanos, i64)> {
    let mut reported: BTreeMap<i64, i64> = BTreeMap::new();
    let (mut una, mut known) = (1, 0);
    let mut passed = Vec::new();
    for peer in record.passings.iter().filter(|peer| peer.sender != end) {
        una = peer.ack.unwrap_or(0).max(una);
        if let Some((mut left, mut right)) = peer.sack.filter(|(_, right)| *right > una) {
            while let Some((a, b)) =
                reported.range(..=right).next_back().map(|(a, b)| (*a, *b)).filter(|(_, b)| *b >= left)
            {
                reported.remove(&a);
                (left, right) = (left.min(a), right.max(b));
            }
            reported.insert(left, right);
        }
        while let Some(first) = reported.first_entry().filter(|first| *first.get() <= una) {
            first.remove();
        }
        let all = una + reported.iter().map(|(left, right)| right - (*left).max(una)).sum::<i64>();
        if all > known {
            passed.extend((known > 0).then_some((peer.time, all - known)));
            known = all;
        }
    }
    passed
}

/// The queue before a link, by a tap next to the senders.
pub(super) struct Depth {
    /// The most data that stood there and was not lost, bytes.
    pub(super) deepest: i64,
    /// The losses of each flow that fell while much less stood there.
    pub(super) elsewhere: Vec<Vec<Loss>>,
}

/// The queue before a link of `rate`; `None` away from the senders. `lost` are the losses of each flow.
pub(super) fn depth(group: &Group<'_>, end: End, rate: f64, lost: &[Vec<Loss>]) -> Option<Depth> {
    if group.distances[end] > group.rtt.scaled(NEAR) {
        return None;
    }
    let mut lost = lost.to_vec();
    let mut sent: Vec<(Nanos, usize, i64, i64, i64)> = Vec::new();
    for (at, flow) in group.flows.iter().enumerate() {
        let own = flow.end(end);
        let mss = flow.record.mss[own];
        let passings = flow.record.passings.iter();
        for passing in passings.filter(|one| one.sender == own && one.kind != PassingKind::Control) {
            sent.push((passing.time, at, passing.start, passing.bytes, mss));
        }
    }
    sent.sort_unstable();
    let (mut free, mut deepest) = (Nanos(i64::MIN), 0);
    let mut at_loss: Vec<(i64, usize, i64)> = Vec::new();
    for (time, at, start, bytes, mss) in sent {
        for from in (start..start + bytes).step_by(mss.max(1) as usize) {
            let size = mss.min(start + bytes - from);
            let waiting = if free > time { free - time } else { Nanos::ZERO };
            let queued = (waiting.0 as f64 * rate / 1e9) as i64 + size;
            if takes(&mut lost[at], from, size) {
                at_loss.push((queued, at, from));
            } else {
                deepest = deepest.max(queued);
                free = time + waiting + Nanos((size as f64 / rate * 1e9) as i64);
            }
        }
    }
    let mut elsewhere = vec![Vec::new(); group.flows.len()];
    for (_, at, from) in at_loss.into_iter().filter(|(queued, ..)| (*queued as f64) < FULL * deepest as f64) {
        elsewhere[at].push(Loss { at: from + 1, times: 1 });
    }
    elsewhere.iter_mut().for_each(|losses: &mut Vec<Loss>| losses.sort_by_key(|loss| loss.at));
    Some(Depth { deepest, elsewhere })
}

/// True if the path lost this segment this time.
fn takes(losses: &mut [Loss], start: i64, bytes: i64) -> bool {
    let at = losses.partition_point(|loss| loss.at < start);
    let hit = losses.get_mut(at).filter(|loss| loss.at < start + bytes && loss.times > 0);
    hit.map(|loss| loss.times -= 1).is_some()
}
