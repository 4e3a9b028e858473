//! What limited an end: windows, buffers, rates.

use crate::causes::Cause;
use crate::replay::record::{Kind, Record, Silence};
use crate::replay::setup::SendBuffer;
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::tables::rows::DirectionRow;
use crate::time::Nanos;

/// Linux's shortest delay of an acknowledgement (TCP_ATO_MIN, HZ/25).
pub(super) const DELAYED_ACK: Nanos = Nanos::from_millis(40);
/// Waits for a send buffer that make one.
const ENOUGH: usize = 3;

fn median<T: Copy + PartialOrd>(mut values: Vec<T>) -> Option<T> {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.get(values.len() / 2).copied()
}

/// The congestion window at the start: the first flight where the window stopped it there, else at least today's.
pub(super) fn initial_window(record: &Record, end: usize) -> u32 {
    let flight = record.first_flight[end].unwrap_or(0);
    let segments = (flight + record.mss[end] - 1) / record.mss[end];
    let stopped = record.silences[end].iter().find(|silence| !silence.first);
    let by_window = stopped.is_some_and(|silence| silence.cause == Cause::CwndLimited);
    let least = if by_window { 1 } else { i64::from(INITIAL_WINDOW) };
    segments.max(least) as u32
}

/// The level that a writer fills its buffer to, and the one at which it wakes.
pub(super) fn send_buffer(silences: &[Silence]) -> Option<SendBuffer> {
    let blocked = || silences.iter().filter(|silence| silence.cause == Cause::SndbufLimited);
    if blocked().count() < ENOUGH {
        return None;
    }
    let full = median(blocked().map(|silence| silence.out_before).collect())?;
    let wake = median(blocked().map(|silence| silence.out_after).collect())?;
    // Linux sk_stream_write_space: a third must be free.
    Some(SendBuffer { full, wake: wake.min(full * 2 / 3) })
}

/// The rate at which it paces.
pub(super) fn pace(silences: &[Silence]) -> Option<f64> {
    let paced = silences.iter().filter(|silence| silence.cause == Cause::Pacing);
    median(paced.filter_map(|silence| silence.pace).collect())
}

fn direction(record: &Record, end: usize) -> &DirectionRow {
    if end == 0 { &record.row.directions.client } else { &record.row.directions.server }
}

/// What the narrowest point of the path carries, where a queue stood there.
pub(super) fn rate(record: &Record, end: usize) -> Option<f64> {
    direction(record, end).path.bottleneck_bytes_per_s.filter(|rate| *rate > 0).map(|rate| rate as f64)
}

/// False if it was seen to send a small segment while a small one was out.
pub(super) fn nagle(record: &Record, end: usize, distance: Nanos) -> bool {
    let mss = record.mss[end];
    let (mut acked, mut short) = (0, 0);
    for passing in &record.passings {
        if passing.sender as usize != end {
            acked = acked.max(passing.ack.unwrap_or(0));
        } else if passing.kind == Kind::New && passing.bytes % mss != 0 {
            // Away from its sender the tap cannot tell what had been acknowledged by then.
            if short > acked && distance <= Nanos::from_millis(1) {
                return false;
            }
            short = passing.start + passing.bytes;
        }
    }
    true
}
