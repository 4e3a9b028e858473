//! Infers the levels of a send buffer that limits its sender.
//!
//! Linux sk_stream_write_space wakes a blocked writer when a third of the buffer is free, and not before.

use hashbrown::HashMap;

use super::limits::AT_ONCE;
use crate::causes::Cause;
use crate::flow::End;
use crate::replay::record::{PassingKind, Record, Silence};
use crate::replay::setup::{BufferLevel, FrameBuffer, UNLIMITED};
use crate::time::Nanos;

/// Waits for a send buffer that prove one.
const ENOUGH: usize = 3;

/// Levels to which a writer fills its buffer, and levels at which it wakes: between two waits for the buffer the later
/// one's. The end is at a round trip of `distance` from the tap.
pub(super) fn send_buffer(record: &Record, end: End, distance: Nanos) -> Vec<BufferLevel> {
    let silences = &record.silences[end];
    let blocked = |silence: &&Silence| silence.cause == Cause::SndbufLimited && silence.next.is_some();
    if silences.iter().filter(blocked).count() < ENOUGH {
        return Vec::new();
    }
    let outs = Outs::of(record, end, distance);
    let level = |silence: &Silence| {
        let next = outs.sent.get(&silence.next?.0)?;
        let (full, wake) = match blocked(&silence) {
            true => {
                (silence.out_before.max(outs.written_at_once(next)), silence.out_after.min(silence.out_before * 2 / 3))
            }
            // Something else stopped the sender here, so the buffer held at least as much.
            false => (UNLIMITED, UNLIMITED),
        };
        Some(BufferLevel { until: next.start, full, wake })
    };
    let mut levels: Vec<BufferLevel> = silences.iter().filter_map(level).collect();
    // Space that acknowledgements free while the writer fills is filled and sent too.
    for at in 1..levels.len() {
        let (before, own) = (levels[at - 1], &mut levels[at]);
        if before.full < UNLIMITED && own.full < UNLIMITED {
            own.full = own.full.max(own.until - before.until);
        }
    }
    levels.push(BufferLevel { until: i64::MAX, full: UNLIMITED, wake: UNLIMITED });
    levels
}

/// The buffer of a sender of large frames that waited for it: its writer was woken between the bytes with which it still
/// waited and those with which it sent again.
pub(super) fn frames(record: &Record, end: End, distance: Nanos) -> Option<FrameBuffer> {
    let mss = record.mss[end];
    if !record.passings.iter().any(|own| own.sender == end && own.kind == PassingKind::New && own.bytes > mss) {
        return None;
    }
    let blocked = record.silences[end].iter().filter(|silence| silence.cause == Cause::SndbufLimited);
    let outs = Outs::of(record, end, distance);
    let around = blocked.filter_map(|silence| {
        let next = outs.sent.get(&silence.next?.0)?;
        Some((silence.out_after, outs.waiting(next)?.0.bytes))
    });
    let (low, high) = around.reduce(|(low, high), (own_low, own_high)| (low.max(own_low), high.min(own_high)))?;
    Some(FrameBuffer { wake: if low < high { (low + high) / 2 } else { high }, at_once: false })
}

/// A transmission of new data.
#[derive(Clone, Copy)]
struct Sent {
    time: Nanos,
    start: i64,
}

/// Data outstanding from a time on.
#[derive(Clone, Copy)]
struct Out {
    time: Nanos,
    /// Acknowledged offset.
    acked: i64,
    bytes: i64,
}

/// Data outstanding at an end.
#[derive(Default)]
struct Outs {
    /// Transmissions by packet.
    sent: HashMap<u64, Sent>,
    changes: Vec<Out>,
}

impl Outs {
    fn of(record: &Record, end: End, distance: Nanos) -> Outs {
        let mut outs = Outs::default();
        // Time, acknowledged offset, end of the data.
        let mut events = Vec::new();
        for passing in &record.passings {
            if passing.sender != end {
                events.push((passing.time + distance, passing.ack.unwrap_or(0), 0));
            } else if passing.kind == PassingKind::New {
                outs.sent.insert(passing.packet.0, Sent { time: passing.time, start: passing.start });
                events.push((passing.time, 0, passing.start + passing.bytes));
            }
        }
        events.sort_by_key(|(time, ..)| *time);
        let (mut acked, mut sent) = (0, 0);
        for (time, ack, end) in events {
            (acked, sent) = (ack.max(acked), end.max(sent));
            outs.changes.push(Out { time, acked, bytes: (sent - acked).max(0) });
        }
        outs
    }

    /// Data outstanding while the writer waited last before `next`, and the changes before.
    fn waiting(&self, next: &Sent) -> Option<(Out, &[Out])> {
        let waits = self.changes.partition_point(|out| out.time < next.time - AT_ONCE);
        let (last, before) = self.changes[..waits].split_last()?;
        Some((*last, before))
    }

    /// Bytes in the buffer when the writer last ran before a wait that `next` ended. It still waited with some data
    /// queued, so it had not been woken since more than that was outstanding: everything before `next` had been
    /// written by then.
    fn written_at_once(&self, next: &Sent) -> i64 {
        let Some((left, before)) = self.waiting(next) else { return 0 };
        let filled = before.iter().rev().find(|out| out.bytes < left.bytes);
        filled.map_or(0, |out| next.start - out.acked)
    }
}
