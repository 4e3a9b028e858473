//! Infers the path's losses of one end's data.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use hashbrown::HashSet;

use crate::causes::Cause;
use crate::flow::End;
use crate::replay::record::{PassingKind, Record};
use crate::replay::setup::Loss;
use crate::time::Nanos;

/// Distance of a tap at the receiver, as a share of the round trip: it sees arrivals, so a packet that passes it twice
/// was not lost.
const AT_RECEIVER: f64 = 0.1;

/// Lost packets, each represented by an offset in its middle.
#[derive(Default)]
struct Lost {
    mss: i64,
    times: BTreeMap<i64, Loss>,
}

impl Lost {
    /// Adds a loss of each packet in the range.
    fn lose(&mut self, (start, end): (i64, i64)) {
        let mut from = start;
        while from < end {
            let at = from + (end - from).min(self.mss) / 2;
            self.times.entry(at / self.mss).or_insert(Loss { at, times: 0 }).times += 1;
            from += self.mss;
        }
    }

    /// Removes a loss of each packet in the range. The range may be any that a stranger wrote: only lost packets are
    /// visited.
    fn find(&mut self, (start, end): (i64, i64)) {
        if end <= start {
            return;
        }
        let middle = |from: i64| (from + (end - from).min(self.mss) / 2) / self.mss;
        let last = start + (end - start - 1) / self.mss * self.mss;
        let found: Vec<i64> = self.times.range(middle(start)..=middle(last)).map(|(key, _)| *key).collect();
        for key in found {
            if let Entry::Occupied(mut loss) = self.times.entry(key) {
                loss.get_mut().times -= 1;
                if loss.get().times == 0 {
                    loss.remove();
                }
            }
        }
    }
}

/// Length of a repair, in round trips, from which a timer started it.
const TIMER: f64 = 1.5;

/// Packets of data new to the tap that ended a wait for a timer: the tap never saw the original.
fn timers(record: &Record, end: End, rtt: Nanos) -> HashSet<u64> {
    let repairs = record.silences[end].iter().filter(|silence| silence.cause == Cause::Retransmission);
    let long = repairs.filter(|silence| silence.end - silence.start > rtt.scaled(TIMER));
    long.filter_map(|silence| silence.next).map(|packet| packet.0).collect()
}

/// Losses of one end's data: retransmitted data that had not arrived, and data that the tap saw missing.
pub(super) fn losses(record: &Record, end: End, distances: [Nanos; 2], rtt: Nanos) -> Vec<Loss> {
    let mut lost = Lost { mss: record.mss[end], ..Lost::default() };
    let at_receiver = distances[end.peer()] <= rtt.scaled(AT_RECEIVER);
    let timers = timers(record, end, rtt);
    let mut acked = 0;
    for passing in &record.passings {
        let range = (passing.start, passing.start + passing.bytes);
        if passing.sender != end {
            acked = acked.max(passing.ack.unwrap_or(0));
            // RFC 2883 §4: a block below the acknowledgement reports data that came twice.
            if let Some((left, right)) = passing.sack.filter(|(_, right)| *right <= acked) {
                lost.find((left, right));
            }
        } else if passing.kind == PassingKind::New && at_receiver && timers.contains(&passing.packet.0) {
            lost.lose((passing.start, passing.start + passing.bytes.min(lost.mss)));
        } else if passing.kind == (PassingKind::Late { again: true })
            || passing.kind == PassingKind::Again && !at_receiver
        {
            lost.lose(range);
        }
    }
    lost.times.into_values().collect()
}
