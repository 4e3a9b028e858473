//! Tells what set the rate of a flow that was sending for most of its time, and which flows have no rate but round trips.

use super::application::sends_messages;
use super::asking::asks_on;
use super::idle::carries_tls;
use super::kind::FindingKind;
use super::weight::weight;
use crate::causes::{Cause, details};
use crate::flow::End;
use crate::results::ledger::Owner;
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;

/// Divisor of a flow's time: over a fifth of it in `sending`, the flow's rate needs an explanation.
const RATE_SHARE: i64 = 5;
/// Divisor of a flow's time: with large messages over a third of it, in which neither end could send, is the round trips'.
const TRANSIT_SHARE: i64 = 3;
/// Round trips that a rate must last: a window sent at once lasts less than one.
const RATE_ROUNDS: i64 = 8;
/// Requests from which small messages are a program's: the login of a terminal takes about ten.
const MESSAGES: u64 = 16;
/// Shortest round trip that small messages wait for: below it the ends take as long.
const LEAST_ROUND_TRIP: Nanos = Nanos::from_millis(1);
/// Consecutive requests that make a habit; any connection begins with a few.
const TURNS: u64 = 8;
/// Segments of an answer that takes one round trip: the first window (RFC 6928 §2).
const FIRST_WINDOW: u64 = 10;
/// Segments of the smallest transfer with a rate: the initial window (RFC 6928) sent twice.
pub(super) const RATE_SEGMENTS: u64 = 20;
/// Ratio of the bottleneck's rate to the flow's rate up to which the path set the rate.
const SAME_RATE: f64 = 1.25;
/// Divisor of the sending time: waits of a kind below a twentieth of it did not set the rate.
const OF_THE_RATE: i64 = 20;
/// Divisor of the busy or sending time: a window or a buffer that held the sender for a fifth of it set the rate.
const OF_A_WINDOW: i64 = 5;

/// Initial windows in the largest flight of a sender whose window grew: three doublings and more.
const GREW: u64 = 8;
/// Divisor of all data: a third of it in flight at once, over eight round trips and more, is doubling, which leaves a half.
const OF_THE_WHOLE: u64 = 3;

/// Name of the limit that set the rate, for a flow that was sending for more than a fifth of its time.
pub(in super::super) fn rate_set_by(row: &FlowRow) -> Option<&'static str> {
    Some(match rate(row)? {
        FindingKind::RateWindow => "congestion-window",
        FindingKind::RatePacing => "pacing",
        FindingKind::RateApplication | FindingKind::FlowControl => "application",
        FindingKind::RateSender => "sender",
        FindingKind::Limit(Cause::RwndLimited) => "receive-window",
        FindingKind::Limit(Cause::SndbufLimited) => "send-buffer",
        _ => "path",
    })
}

/// Time in which only requests and small answers were in flight, for a connection whose requests are consecutive and
/// take more than a fifth of its time. Of larger messages each costs the round trip in which neither end could send.
pub(super) fn round_trips(row: &FlowRow) -> Option<Nanos> {
    let (base, turns) = (row.base_rtt_ns?, row.connection.exchanges);
    let end = row.directions.of(main_sender(row));
    let small = end.bytes <= turns * FIRST_WINDOW * u64::from(end.mss_bytes?);
    let sending = if small { row.time_ns.of(Owner::Sending) } else { Nanos::ZERO };
    // The pauses of a client that thinks, and of a server that sends in pieces, have a round trip of travel too.
    let travel = row.time_ns.of(Owner::InTransit).min(base.times(turns as i64));
    let time = travel + sending;
    let each = time.times(2) >= base.times(turns as i64);
    let much = time.times(if small { RATE_SHARE } else { TRANSIT_SHARE }) > row.end_ns - row.start_ns;
    // Of small messages only a program that waits for each loses that time, and over TLS they may acknowledge events.
    let program = || turns >= MESSAGES && base >= LEAST_ROUND_TRIP && !carries_tls(row) && asks_on(row);
    (turns >= TURNS && each && much && (!sends_messages(row) || program())).then_some(time)
}

/// Kind of the limit that set the rate, for a flow that was sending for more than a fifth of its time.
pub(super) fn rate(row: &FlowRow) -> Option<FindingKind> {
    let (sending, length) = (row.time_ns.of(Owner::Sending), row.end_ns - row.start_ns);
    let direction = row.directions.of(main_sender(row));
    let long = row.base_rtt_ns.is_some_and(|rtt| sending > rtt.times(RATE_ROUNDS));
    let has_rate = sending.times(RATE_SHARE) > length && long && direction.segments >= RATE_SEGMENTS;
    // A terminal has messages in flight all the while, and no rate.
    if !has_rate || hardly_seen(row) || round_trips(row).is_some() || sends_messages(row) {
        return None;
    }
    let reached = direction.bytes as f64 * 1e9 / length.0.max(1) as f64;
    if direction.path.bottleneck_bytes_per_s.is_some_and(|rate| rate as f64 <= reached * SAME_RATE) {
        return Some(FindingKind::Limit(Cause::BandwidthLimited));
    }
    if fills_window(row) {
        return Some(FindingKind::Limit(Cause::RwndLimited));
    }
    let often = |alike: &dyn Fn(&StallRow) -> bool| waits(row, alike).times(OF_THE_RATE) > sending;
    if direction.repair.fast_retransmits + direction.repair.timeouts > 0 {
        // A sender that hardly ever waited for its window, and met a full queue, sent as fast as the path carried.
        let held = often(&|stall| matches!(stall.cause, Cause::CwndLimited | Cause::Retransmission));
        let full = direction.losses.is_some_and(|losses| losses.met_a_queue());
        return Some(if full && !held { FindingKind::Limit(Cause::BandwidthLimited) } else { FindingKind::RateWindow });
    }
    if often(&|stall| stall.detail == details::APPLICATION_WINDOW) {
        return Some(FindingKind::FlowControl);
    }
    // Before an answer a server has nothing to write yet.
    let in_between = |stall: &StallRow| ![details::AWAITING_PEER, details::THINK_TIME].contains(&stall.detail);
    let own = |cause: Cause| often(&|stall| stall.cause == cause && in_between(stall));
    Some(match (own(Cause::Pacing), own(Cause::AppLimited)) {
        (true, false) => FindingKind::RatePacing,
        (false, true) => FindingKind::RateApplication,
        _ if fills_buffer(row, sending) => FindingKind::Limit(Cause::SndbufLimited),
        _ if grew_to_the_end(row) => FindingKind::RateWindow,
        _ => FindingKind::RateSender,
    })
}

/// The peer's window stopped the sender again and again: in between it sends what fits, so the window sets the rate of the whole.
/// Waits that are too short for a stall count too.
fn fills_window(row: &FlowRow) -> bool {
    let direction = row.directions.of(main_sender(row));
    let (full, busy) = direction.rwnd_limited_ns.zip(direction.busy_ns).unwrap_or_default();
    let of_window = |stall: &StallRow| matches!(stall.cause, Cause::RwndLimited | Cause::ZeroWindow);
    waits(row, &of_window) > Nanos::ZERO && full.times(OF_A_WINDOW) >= busy
}

/// The send buffer did so.
fn fills_buffer(row: &FlowRow, sending: Nanos) -> bool {
    waits(row, &|stall: &StallRow| stall.cause == Cause::SndbufLimited).times(OF_A_WINDOW) >= sending
}

/// The flight doubled until all was sent, so the window was never large enough to set a rate of its own: with each round trip as
/// much is sent as in all before it (RFC 5681 §3.1), and the last flights are a large part of the whole.
fn grew_to_the_end(row: &FlowRow) -> bool {
    let direction = row.directions.of(main_sender(row));
    let most = direction.max_in_flight_bytes;
    let grew = direction.initial_window_bytes.is_some_and(|first| most >= first * GREW);
    grew && most * OF_THE_WHOLE >= direction.bytes
}

/// Time of the main sender's waits that are `alike`.
fn waits(row: &FlowRow, alike: &dyn Fn(&StallRow) -> bool) -> Nanos {
    let waits = row.stalls.iter().filter(|stall| stall.sender == main_sender(row) && alike(stall));
    Nanos(waits.map(weight).sum())
}

/// The capture lacks more of the flow's data than it holds, so data may have been sent in its silences. Closed windows
/// and retransmissions are visible all the same.
pub(super) fn hardly_seen(row: &FlowRow) -> bool {
    row.trust.unseen_bytes > row.directions.client.bytes + row.directions.server.bytes
}

/// The end that sent more.
pub(super) fn main_sender(row: &FlowRow) -> End {
    if row.directions.client.bytes > row.directions.server.bytes { End::Client } else { End::Server }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::Limits;
    use crate::few::Few;
    use crate::pause::Watch;
    use crate::results::rows::losses::LossesRow;
    use crate::results::rows::round_trip::RoundTrip;
    use crate::results::{Evidence, Wanted, flow_row};
    use crate::wire::{Flags, Segment};

    /// A server that sent for ten seconds, with 25 losses of which `queued` met a queue, and waited once in that time.
    fn sent(queued: u32, waited_ms: i64) -> FlowRow {
        let segment = Segment { flags: Flags::SYN, ..Segment::default() };
        let mut watch = Watch::new(&segment);
        watch.sees(&segment);
        let wanted = Wanted { bursts: false, exchanges: false, least_stall: Nanos::ZERO };
        let mut row = flow_row(&Box::new(watch).finish(), 0, 0, &Limits::default(), wanted);
        row.end_ns = row.start_ns + Nanos::from_millis(10_100);
        row.base_rtt_ns = Some(Nanos::from_millis(40));
        row.time_ns.add(Owner::Sending, Nanos::from_millis(10_000));
        let server = &mut row.directions.server;
        (server.bytes, server.segments, server.repair.fast_retransmits) = (12_000_000, 8_000, 25);
        server.losses = Some(LossesRow { counted: 25, queued, ..LossesRow::default() });
        row.stalls = vec![waited(Nanos::from_millis(waited_ms))];
        row
    }

    fn waited(duration_ns: Nanos) -> StallRow {
        StallRow {
            number: 0,
            sender: End::Server,
            start_ns: Nanos::ZERO,
            end_ns: duration_ns,
            duration_ns,
            ended: true,
            then_bytes: 1_448,
            cause: Cause::CwndLimited,
            detail: "",
            confidence: 0.8,
            also: Few::new(),
            missing: Vec::new(),
            evidence: Evidence::default(),
            round_trip: RoundTrip::default(),
            attempts: Vec::new(),
            advice: "",
        }
    }

    #[test]
    fn a_sender_that_meets_a_full_queue_and_hardly_waits_is_as_fast_as_the_path() {
        assert_eq!(rate_set_by(&sent(24, 400)), Some("path"));
        assert_eq!(rate_set_by(&sent(24, 600)), Some("congestion-window"));
        assert_eq!(rate_set_by(&sent(12, 400)), Some("congestion-window"));
    }
}
