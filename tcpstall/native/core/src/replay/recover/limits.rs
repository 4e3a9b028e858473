//! Infers the limits of an end: windows, buffers, rates.

use std::collections::VecDeque;

use hashbrown::HashSet;

use crate::causes::Cause;
use crate::flow::End;
use crate::replay::record::{PassingKind, Record, Silence};
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::time::Nanos;

/// Distance of a tap from the sender, as a share of the round trip, from which the tap cannot see the event that a
/// frame follows.
pub const NEAR: f64 = 0.1;
/// Longest time between an event and a frame that follows it at once.
pub(super) const AT_ONCE: Nanos = Nanos::from_micros(150);
/// Frames that prove pacing.
const PACED: u32 = 20;
/// Round trips that the pace must last.
const PACED_ROUNDS: i64 = 5;
/// Share of the flow's life that pacing waits must take.
const MOSTLY_PACED: f64 = 0.2;
/// Largest time that hosts add to a round trip.
const HOSTS: Nanos = Nanos::from_micros(200);
/// Largest share that hosts add to a long round trip.
const HOSTS_SHARE: f64 = 0.01;

/// Longest round trip between a sender and a tap next to it.
const NEXT_TO: Nanos = Nanos::from_millis(1);
/// Share of the round trip between tap and sender within which no acknowledgement can have released a segment.
const HALF: f64 = 0.5;
/// Bytes of other flows, as a share of this flow's bytes, from which a bottleneck is shared.
const SHARED: f64 = 0.2;

/// The median.
pub(super) fn median<T: Copy + PartialOrd>(mut values: Vec<T>) -> Option<T> {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.get(values.len() / 2).copied()
}

/// The initial congestion window: the first flight where the window stopped it, otherwise at least today's standard.
pub(super) fn initial_window(record: &Record, end: End) -> u32 {
    let flight = record.first_flight[end].unwrap_or(0);
    let segments = (flight + record.mss[end] - 1) / record.mss[end];
    let stopped = record.silences[end].iter().find(|silence| !silence.first);
    let by_window = stopped.is_some_and(|silence| silence.cause == Cause::CwndLimited);
    let least = if by_window { 1 } else { i64::from(INITIAL_WINDOW) };
    segments.max(least) as u32
}

/// True if the sender was seen to end a frame of several segments within a segment, at the edge of the peer's window.
pub(super) fn cuts_frames(record: &Record, end: End) -> bool {
    let peers = record.passings.iter().filter(|passing| passing.sender != end);
    let edges: HashSet<i64> = peers.filter_map(|passing| passing.edge).collect();
    let mss = record.mss[end];
    let mut own = record.passings.iter().filter(|own| own.sender == end && own.kind == PassingKind::New);
    own.any(|own| own.bytes > mss && own.bytes % mss != 0 && edges.contains(&(own.start + own.bytes)))
}

/// True if a tap next to the sender saw no frame of several segments.
pub(super) fn one_segment(record: &Record, end: End, distance: Nanos, rtt: Nanos) -> bool {
    let mss = record.mss[end];
    let mut own = record.passings.iter().filter(|own| own.sender == end && own.kind == PassingKind::New);
    distance <= rtt.scaled(NEAR) && own.all(|own| own.bytes <= mss)
}

/// The rate at which the sender paces: by the diagnosis, or by frames that follow no acknowledgement.
pub(super) fn pace(record: &Record, end: End, distance: Nanos, rtt: Nanos) -> Option<f64> {
    even_pace(record, end, distance, rtt).or_else(|| {
        let paced = || record.silences[end].iter().filter(|silence| silence.cause == Cause::Pacing);
        let sum = paced().fold(Nanos::ZERO, |sum, silence| sum + (silence.end - silence.start));
        let life = record.row.end_ns - record.row.start_ns;
        median(paced().filter_map(|silence| silence.pace).collect()).filter(|_| sum > life.scaled(MOSTLY_PACED))
    })
}

/// Rate of frames that leave without an acknowledgement, evenly spaced, at a tap next to their sender.
fn even_pace(record: &Record, end: End, distance: Nanos, rtt: Nanos) -> Option<f64> {
    if distance > rtt.scaled(NEAR) {
        return None;
    }
    let (mut heard, mut last, mut clump) = (None, None, 0);
    let (mut free, mut released, mut bytes, mut span) = (0, 0, 0, Nanos::ZERO);
    for passing in &record.passings {
        if passing.sender != end {
            heard = Some(passing.time + distance);
        } else if passing.kind == PassingKind::New {
            let pause = last.map_or(Nanos::ZERO, |last| passing.time - last);
            if pause > AT_ONCE && pause < record.threshold {
                let after_ack = heard.map_or(pause, |heard| passing.time - heard);
                (free, released) = if after_ack > AT_ONCE { (free + 1, released) } else { (free, released + 1) };
                bytes += clump;
                span += pause;
            }
            clump = if pause > AT_ONCE { 0 } else { clump } + passing.bytes;
            last = Some(passing.time);
        }
    }
    let even = free >= PACED && free >= 2 * released && span > rtt.times(PACED_ROUNDS);
    even.then(|| bytes as f64 * 1e9 / span.0 as f64)
}

/// The most common round trip without a queue: the smallest is a little too small where hosts are slow.
pub(super) fn usual_rtt(record: &Record, base: Nanos) -> Nanos {
    let usual = median(record.passings.iter().filter_map(|passing| passing.rtt).collect()).unwrap_or(base);
    usual.clamp(base, base + HOSTS.max(base.scaled(HOSTS_SHARE)))
}

/// Rate at which its application reads while it lags.
pub(super) fn reads(peer: &[Silence]) -> Option<f64> {
    let closed = || peer.iter().filter(|silence| matches!(silence.cause, Cause::RwndLimited | Cause::ZeroWindow));
    let behind = closed().filter(|silence| silence.reads.is_some()).count();
    closed().find_map(|silence| silence.reads).filter(|_| 2 * behind >= closed().count()).map(|rate| rate as f64)
}

/// Rate of the path's bottleneck, where a queue stood there.
pub(super) fn rate(record: &Record, end: End) -> Option<f64> {
    record.row.directions.of(end).path.bottleneck_bytes_per_s.filter(|rate| *rate > 0).map(|rate| rate as f64)
}

/// True if other flows between the same hosts sent much in this direction while this flow did.
pub fn shares(record: &Record, end: End) -> bool {
    let own: i64 = record.passings.iter().filter(|passing| passing.sender == end).map(|own| own.bytes).sum();
    record.others[end] as f64 > SHARED * own as f64
}

/// False if the sender sent a small segment while another small one was outstanding: the acknowledgement of that one,
/// if it passed the tap at all, could not have reached the sender yet.
pub(super) fn nagle(record: &Record, end: End, distance: Nanos) -> bool {
    let mss = record.mss[end];
    let (mut acked, mut short) = (0, 0);
    // Acknowledgements on their way to the sender and back to the tap; one next to the sender sees it answer at once.
    let back = if distance <= NEXT_TO { Nanos::ZERO } else { distance.scaled(HALF) };
    let mut coming: VecDeque<(Nanos, i64)> = VecDeque::new();
    for passing in &record.passings {
        if passing.sender != end {
            coming.push_back((passing.time + back, passing.ack.unwrap_or(0)));
        } else if passing.kind == PassingKind::New && passing.bytes % mss != 0 {
            while let Some((_, ack)) = coming.front().copied().filter(|(at, _)| *at <= passing.time) {
                acked = ack.max(acked);
                coming.pop_front();
            }
            if short > acked {
                return false;
            }
            short = passing.start + passing.bytes;
        }
    }
    true
}
