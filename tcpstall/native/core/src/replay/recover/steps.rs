//! What an application did: its writes, what it waited for before each, and how long it took by itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use super::Arrivals;
use crate::causes::Cause;
use crate::replay::model::WRITTEN_AHEAD;
use crate::replay::record::{Kind, Passing, Record};
use crate::replay::setup::Step;
use crate::time::Nanos;

/// A shorter pause between two writes is the host's own.
const SHORTEST_PAUSE: Nanos = Nanos::from_micros(300);

/// The writes of one end, `distance` from the tap and back, that heard its peer as told.
pub(super) fn steps(record: &Record, end: usize, distance: Nanos, heard: &Arrivals, buffered: bool) -> Vec<Step> {
    // After a wait of the application a new write begins; where Nagle's rule held one back it had been written already.
    let begins: HashMap<u64, bool> = record.silences[end]
        .iter()
        .filter(|silence| matches!(silence.cause, Cause::AppLimited | Cause::Nagle | Cause::DelayedAck))
        .filter_map(|silence| Some((silence.next?.0, silence.cause != Cause::AppLimited)))
        .collect();
    let opened = record.opened[end].map(|passed| passed + Nanos(distance.0 / 2));
    let mut writer = Writer { opened, distance, heard, buffered, steps: Vec::new(), sent: Vec::new(), told: 0 };
    let mut acked = Acked { distance, ..Acked::default() };
    for passing in &record.passings {
        if passing.sender as usize != end {
            acked.edge = acked.edge.max(passing.edge.unwrap_or(0));
            acked.hears(passing);
        } else if passing.bytes > 0 && matches!(passing.kind, Kind::New) {
            acked.before(passing);
            let all_acked = acked.reached >= passing.start;
            let turn =
                all_acked && passing.ack.is_some_and(|ack| ack > writer.told) && heard.at(1 + writer.told).is_some();
            let room = acked.edge - passing.start >= record.mss[end];
            let paused = !buffered && room && writer.paused(passing, record.mss[end], record.threshold);
            match begins.get(&passing.packet.0) {
                Some(true) => writer.was_held(passing),
                Some(false) => writer.sends(passing, true),
                None => writer.sends(passing, turn || paused),
            }
        }
    }
    writer.steps
}

/// What of an end's data was acknowledged when it went on.
#[derive(Default)]
struct Acked {
    distance: Nanos,
    /// What the peer sent and is still on its way: when it arrives, and what it acknowledges.
    by_time: BinaryHeap<Reverse<(Nanos, i64)>>,
    /// The same by the offset at which the peer's data in it ends: data that was acknowledged had arrived.
    by_offset: BinaryHeap<Reverse<(i64, i64)>>,
    reached: i64,
    /// How far the peer would take data, by all that has passed.
    edge: i64,
}

impl Acked {
    fn hears(&mut self, peer: &Passing) {
        let ack = peer.ack.unwrap_or(0);
        self.by_time.push(Reverse((peer.time + self.distance, ack)));
        if peer.bytes > 0 {
            self.by_offset.push(Reverse((peer.start + peer.bytes, ack)));
        }
    }

    /// All that had reached the end before it sent this.
    fn before(&mut self, sent: &Passing) {
        let heard = sent.ack.unwrap_or(0);
        self.reached = self.reached.max(newest(&mut self.by_time, sent.time)).max(newest(&mut self.by_offset, heard));
    }
}

/// Takes out all that lie no further than `limit`; gives the highest acknowledgement among them, 0 for none.
fn newest<T: Ord + Copy>(waiting: &mut BinaryHeap<Reverse<(T, i64)>>, limit: T) -> i64 {
    let mut newest = 0;
    while let Some(Reverse((_, ack))) = waiting.peek().copied().filter(|Reverse((at, _))| *at <= limit) {
        newest = newest.max(ack);
        waiting.pop();
    }
    newest
}

struct Writer<'a> {
    /// When the handshake was over here.
    opened: Option<Nanos>,
    distance: Nanos,
    heard: &'a Arrivals,
    buffered: bool,
    steps: Vec<Step>,
    /// Where each frame of the current write begins, and when it left.
    sent: Vec<(i64, Nanos)>,
    /// What the peer had said before the current write.
    told: i64,
}

impl Writer<'_> {
    fn sends(&mut self, passing: &Passing, begins: bool) {
        let time = passing.time - Nanos(self.distance.0 / 2);
        let end = passing.start + passing.bytes;
        match self.steps.last_mut().filter(|_| !begins) {
            Some(step) => {
                let from = self.sent.first().map_or(passing.start, |(start, _)| *start);
                step.bytes = end - from;
            }
            None => self.begins(passing, time),
        }
        self.sent.push((passing.start, time));
    }

    /// It had been written at once after the last write, and TCP held it.
    fn was_held(&mut self, passing: &Passing) {
        if self.steps.is_empty() {
            return self.sends(passing, true);
        }
        self.steps.push(Step { heard: 0, pause: Nanos::ZERO, bytes: passing.bytes });
        self.sent.clear();
        self.sent.push((passing.start, passing.time - Nanos(self.distance.0 / 2)));
    }

    /// A segment cut short ended what was written, and some time passed, too short for a stall: the next write came.
    fn paused(&self, passing: &Passing, mss: i64, threshold: Nanos) -> bool {
        let Some((start, last)) = self.sent.last() else { return false };
        let pause = passing.time - Nanos(self.distance.0 / 2) - *last;
        (passing.start - start) % mss != 0 && pause > SHORTEST_PAUSE && pause < threshold
    }

    fn begins(&mut self, passing: &Passing, time: Nanos) {
        let ack = passing.ack.unwrap_or(0);
        let arrived = self.heard.at(ack).filter(|_| ack > self.told.max(1));
        let from = arrived.max(self.returned()).or(self.opened).unwrap_or(time);
        let heard = if arrived.is_some() { ack } else { 0 };
        self.steps.push(Step { heard, pause: (time - from).or_zero(), bytes: passing.bytes });
        self.told = self.told.max(ack);
        self.sent.clear();
    }

    /// When the last write call returned: see [`WRITTEN_AHEAD`].
    fn returned(&self) -> Option<Nanos> {
        let (start, first) = *self.sent.first()?;
        let (_, last) = *self.sent.last()?;
        if self.buffered {
            return Some(last);
        }
        let bytes = self.steps.last().map_or(0, |step| step.bytes);
        let at = self.sent.partition_point(|(begin, _)| *begin < start + bytes - WRITTEN_AHEAD);
        Some(self.sent.get(at.saturating_sub(usize::from(at == self.sent.len()))).map_or(first, |(_, time)| *time))
    }
}
