//! Infers what an application did: its writes, the data that each waited for, and its own time before each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use super::Arrivals;
use crate::causes::Cause;
use crate::flow::End;
use crate::replay::model::WRITTEN_AHEAD;
use crate::replay::record::{Passing, PassingKind, Record, Silence};
use crate::replay::setup::{LateStart, WriteStep};
use crate::time::Nanos;

/// The first offset of data.
const FIRST: i64 = 1;
/// Shortest pause between two writes; a shorter one is the host's own.
const SHORTEST_PAUSE: Nanos = Nanos::from_micros(300);

/// Limits of an end that decide how its segments show its writes.
#[derive(Clone, Copy)]
pub(super) struct Writing {
    /// The send buffer limits the sender.
    pub(super) buffered: bool,
    /// Small segments wait for acknowledgements, so that several writes can leave as one segment.
    pub(super) nagle: bool,
}

/// Work of one end.
pub(super) struct Work {
    /// Its writes.
    pub(super) steps: Vec<WriteStep>,
    /// Waits of its host where no write began.
    pub(super) late: Vec<LateStart>,
}

/// The work of one end, at a round trip of `distance` from the tap, which received its peer's data as in `heard`.
pub(super) fn work(record: &Record, end: End, distance: Nanos, heard: &Arrivals, writing: Writing) -> Work {
    let Writing { buffered, nagle } = writing;
    // After a wait for the application a new write begins; where Nagle's rule held a segment back, that had been
    // written already.
    let begins: HashMap<u64, bool> = record.silences[end]
        .iter()
        .filter(|silence| is_between_writes(silence))
        .filter_map(|silence| Some((silence.next?.0, matches!(silence.cause, Cause::Nagle | Cause::DelayedAck))))
        .collect();
    let opened = record.opened[end].map(|passed| passed + Nanos(distance.0 / 2));
    let (steps, sent) = (Vec::new(), Vec::new());
    let mut writer = Writer { opened, distance, heard, buffered, nagle, steps, sent, told: 0, written: FIRST };
    let mut acked = Acked { distance, ..Acked::default() };
    let mut late = Vec::new();
    for passing in &record.passings {
        if passing.sender != end {
            acked.edge = acked.edge.max(passing.edge.unwrap_or(0));
            acked.hears(passing);
        } else if passing.bytes > 0 && matches!(passing.kind, PassingKind::New) {
            acked.before(passing);
            let all_acked = acked.reached >= passing.start;
            let turn =
                all_acked && passing.ack.is_some_and(|ack| ack > writer.told) && heard.at(1 + writer.told).is_some();
            // Before the peer's first segment only the handshake announced a window, and nothing was full yet.
            let room = acked.edge == 0 || acked.edge - passing.start >= record.mss[end];
            let paused = !buffered && room && writer.paused(passing, record.mss[end], record.threshold);
            let cause = begins.get(&passing.packet.0);
            // Nothing in TCP holds the data of a sender that has nothing outstanding: the rest of the wait is its host's.
            if all_acked && room && passing.start > FIRST && cause.is_none() && !turn && !paused {
                late.push(LateStart { at: passing.start, after: passing.time - acked.last });
            }
            match cause {
                Some(true) => writer.was_held(passing),
                Some(false) => writer.sends(passing, true),
                None => writer.sends(passing, turn || paused),
            }
        }
    }
    Work { steps: writer.steps, late }
}

/// True if a silence lies between two writes. Nothing in TCP holds the data of a sender that has nothing outstanding (RFC
/// 5681 §3.1, RFC 896): where no cause is known, such a sender had not written yet.
fn is_between_writes(silence: &Silence) -> bool {
    match silence.cause {
        Cause::AppLimited | Cause::Nagle | Cause::DelayedAck => true,
        Cause::Unexplained => silence.out_after == 0,
        _ => false,
    }
}

/// Data of an end that was acknowledged when it sent its next segment.
#[derive(Default)]
struct Acked {
    distance: Nanos,
    /// The peer's segments on their way: time of arrival, acknowledged offset, and right edge of the window.
    by_time: BinaryHeap<Reverse<(Nanos, i64, i64)>>,
    /// The same segments by the end of their data: data that was acknowledged had arrived.
    by_offset: BinaryHeap<Reverse<(i64, i64)>>,
    reached: i64,
    /// Arrival of the last segment that acknowledged more or opened the window.
    last: Nanos,
    /// Right edge of the window, by the segments that have arrived.
    opened: i64,
    /// Right edge of the peer's window, by all segments that have passed.
    edge: i64,
}

impl Acked {
    fn hears(&mut self, peer: &Passing) {
        let ack = peer.ack.unwrap_or(0);
        self.by_time.push(Reverse((peer.time + self.distance, ack, peer.edge.unwrap_or(0))));
        if peer.bytes > 0 {
            self.by_offset.push(Reverse((peer.start + peer.bytes, ack)));
        }
    }

    /// Takes in all segments that reached the end before it sent this one.
    fn before(&mut self, sent: &Passing) {
        while let Some(Reverse((at, ack, edge))) =
            self.by_time.peek().copied().filter(|Reverse((at, ..))| *at <= sent.time)
        {
            self.by_time.pop();
            if ack > self.reached || edge > self.opened {
                (self.reached, self.opened, self.last) = (ack.max(self.reached), edge.max(self.opened), at);
            }
        }
        let heard = sent.ack.unwrap_or(0);
        while let Some(Reverse((_, ack))) = self.by_offset.peek().copied().filter(|Reverse((end, _))| *end <= heard) {
            self.by_offset.pop();
            if ack > self.reached {
                (self.reached, self.last) = (ack, sent.time);
            }
        }
    }
}

struct Writer<'a> {
    /// Time when the handshake was over at this end.
    opened: Option<Nanos>,
    distance: Nanos,
    heard: &'a Arrivals,
    buffered: bool,
    nagle: bool,
    steps: Vec<WriteStep>,
    /// Start and departure of each frame of the present write.
    sent: Vec<(i64, Nanos)>,
    /// The peer's data received before the present write.
    told: i64,
    /// End of the data that is in the writes: data below it that passes later was only overtaken.
    written: i64,
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
        self.sent.push((passing.start.min(self.written), time));
        self.written = end;
    }

    /// Takes in a segment that had been written at once after the last write, and that TCP held.
    fn was_held(&mut self, passing: &Passing) {
        if self.steps.is_empty() {
            return self.sends(passing, true);
        }
        let end = passing.start + passing.bytes;
        self.steps.push(WriteStep { heard: 0, pause: Nanos::ZERO, bytes: end - self.written });
        self.sent.clear();
        self.sent.push((self.written, passing.time - Nanos(self.distance.0 / 2)));
        self.written = end;
    }

    /// True if a short segment ended the write: without Nagle's rule the next write begins, with it only after a
    /// pause, here one too short for a stall.
    fn paused(&self, passing: &Passing, mss: i64, threshold: Nanos) -> bool {
        let Some((start, last)) = self.sent.last() else { return false };
        let pause = passing.time - Nanos(self.distance.0 / 2) - *last;
        (passing.start - start) % mss != 0 && (!self.nagle || pause > SHORTEST_PAUSE) && pause < threshold
    }

    fn begins(&mut self, passing: &Passing, time: Nanos) {
        let ack = passing.ack.unwrap_or(0);
        let arrived = self.heard.at(ack).filter(|_| ack > self.told.max(1));
        let from = arrived.max(self.returned()).or(self.opened).unwrap_or(time);
        let heard = if arrived.is_some() { ack } else { 0 };
        let bytes = passing.start + passing.bytes - self.written;
        self.steps.push(WriteStep { heard, pause: (time - from).or_zero(), bytes });
        self.told = self.told.max(ack);
        self.sent.clear();
    }

    /// Time when the last write call returned: see [`WRITTEN_AHEAD`].
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
