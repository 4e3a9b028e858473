//! `bandwidth-limited` — the path carried all it could and ACKs came back at its rate.
//!
//! Rule      from the pause's start to its end a queue stood on the path: every ACK came back later than the base round trip by an
//!           eighth of it (or 16 ms) and by four times the distance of the ACKs, for a whole round trip at least; near the sender,
//!           one or two ACKs released the next data at once, or more where the flight never fell below rate × base round trip. Away
//!           from the sender also where segments come one by one, evenly, each more than a round trip after the last (`line`),
//!           unless the path carried a train of the flow far faster and by its timestamp nothing held the segment. Or their
//!           timestamps show packets held before the tap, and the time between them is proportional to their bytes, or that the
//!           data on both sides of the pause left much closer together than it came, unless the peer spoke with nothing in flight
//!           (no answer leaves with what was sent before), or all had been acknowledged for longer than any path takes. Not where
//!           less than a segment left alone after payload of the peer, nor where less than the smallest full segment was in flight;
//!           never sure where less was in flight than rate × base round trip, or the ACKs let go far less than was sent
//! Evidence  `bottleneck_bytes_per_s`, `bdp_bytes` (rate × base round trip), `in_flight_bytes` above it, `queue_ns`; details
//!           `queue`, `line`
//! Source    RFC 7323 §5.4 (TSval), RFC 9438 §4.1 (self-clocking), RFC 9406 §4.2 (a longer round trip shows the queue); Van
//!           Jacobson 1988
//! Abstains  where both ends' first timestamps advance by far more than the time between their packets: the capture stored them in
//!           clumps; where no base round trip is known there is no sign of a queue. Time without a pause has no stall, yet the
//!           ledger gives it to this cause
//! Looks like `cwnd-limited`, `rwnd-limited` or `sndbuf-limited` (a full window or buffer, but no queue), `pacing` (several ACKs
//!           pass before the next data), `app-limited`

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::pacing;
use super::rule::{Rule, Verdict, yes};
use super::sndbuf_limited::LEAST_MSS;
use crate::pause::Pause;
use crate::pause::bottleneck::QUEUED_SPACINGS;
use crate::pause::context::pace::HURRIED;
use crate::time::Nanos;

pub(super) const RULE: Rule = Rule { cause: Cause::BandwidthLimited, judge };

/// Most ACKs between two sends of an ACK-clocked sender: it answers each ACK, or every second one where it defers a TSO
/// frame (Linux `tcp_tso_should_defer`).
pub(super) const MOST_ACKS: u32 = 2;

/// Detects a slow line away from the sender: segments arrive one by one, evenly, each more than a round trip after the
/// one before, with more to follow (no PSH). No kernel paces a window of one segment this slowly (Linux
/// `tcp_update_pacing_rate`: at least cwnd / srtt), but a slow line does.
fn line(pause: &Pause, limits: &Limits) -> Verdict {
    let alone =
        pause.before.clump.bytes <= u64::from(pause.mss) && !pause.before.pushed && pause.duration() > pause.rtt();
    let line = !pause.near_sender() && alone && !passes_faster(pause);
    if line && pacing::spaced(pause, limits) { yes(details::LINE, 0.6) } else { Verdict::No }
}

/// The path has carried a train of the same flow far faster, and by its timestamp nothing held the segment that ended the pause:
/// behind a shaper that lets a train pass before it slows down, the segments wait before they pass the tap. A pause of fewer ticks
/// than the clock needs to show a delay shows none.
fn passes_faster(pause: &Pause) -> bool {
    let dated = pause.stamps_apart.is_some_and(|ticks| ticks > GRAIN) && pause.held == Nanos::ZERO;
    dated && !pause.multipath && pause.context.pace.is_some_and(|pace| pause.context.fastest > HURRIED * pace)
}

/// Ticks of a sender's clock within which it shows no delay.
const GRAIN: u32 = 2;

/// An ACK lets go as much as it covers, twice as much in slow start (RFC 5681 §3.1), and the rest of a segment. A frame of more was
/// written just then.
fn is_clocked(pause: &Pause) -> bool {
    i64::from(pause.after.first_frame) <= GROWTH * (pause.acked + i64::from(pause.mss))
}

/// Largest growth of a window in a round trip.
const GROWTH: i64 = 2;

fn judge(pause: &Pause, limits: &Limits) -> Verdict {
    if pause.left_together {
        // The sender did not wait: a slow line, a shaper or a queue kept the segments apart. No answer leaves with what was sent
        // before the question came, and none of it was on its way for longer than any path takes: such stamps are not of the time
        // when it left.
        return if pause.is_turn() || pause.outlasts_paths() { Verdict::No } else { yes(details::QUEUE, 0.75) };
    }
    let Some(path) = &pause.context.bottleneck else { return line(pause, limits) };
    if pause.context.shaped {
        return yes(details::QUEUE, 0.75);
    }
    // Less than the smallest full segment makes no queue: what delayed it is another sender's.
    if pause.flight_at_start.max(pause.before.bytes as i64) < i64::from(LEAST_MSS) {
        return Verdict::No;
    }
    if !pause.near_sender() {
        // Behind the queue, a silence of many segments' time belongs to the queue only if the segment that ended it was
        // queued as long.
        let segments = pause.duration().0 as f64 * path.rate() / (1e9 * f64::from(pause.mss.max(1)));
        if segments > QUEUED_SPACINGS as f64 && pause.held + pause.held < pause.duration() {
            return Verdict::No;
        }
        // Behind the queue only two signs are visible: data arrives evenly, and ACKs are answered late.
        return yes(details::QUEUE, 0.75);
    }
    if pause.answers_peer() {
        return Verdict::No;
    }
    let released = pause.released_by_ack() && pause.left_in_flight > 0;
    if released && pause.acks <= MOST_ACKS {
        // A queue stands only where more is in flight than the path holds by itself: a smaller flight is another limit's.
        let stands = pause.flight_at_start as f64 * 1e9 >= path.rate() * pause.rtt().0 as f64;
        return yes(details::QUEUE, if stands && is_clocked(pause) { 0.9 } else { 0.75 });
    }
    // A writer sleeps until much of its buffer is free: the path had enough to carry all the while.
    let enough = pause.left_in_flight as f64 * 1e9 >= path.rate() * pause.rtt().0 as f64;
    if released && enough && !pacing::spaced(pause, limits) { yes(details::QUEUE, 0.8) } else { Verdict::No }
}
