//! Splits the ledger of one flow into shares of findings: each nanosecond that a cause owns is in one finding at most.

use smallvec::smallvec;

use super::accept;
use super::application::of_application;
use super::beats::Beats;
use super::broken;
use super::given_up::{self, came_too_late, given_up};
use super::idle;
use super::kind::FindingKind;
use super::rate::{RATE_SEGMENTS, hardly_seen, main_sender, rate, round_trips};
use super::relay;
use super::weight::{LEAST_SEGMENT, weight};
use crate::causes::Cause;
use crate::causes::details;
use crate::few::Few;
use crate::flow::End;
use crate::results::ledger::Owner;
use crate::results::rows::outcome::{Outcome, SYN_AGAIN};
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;

/// Length of a handshake, in round trips, that more than the distance delayed.
const SLOW_HANDSHAKE: i64 = 3;
/// Smallest delay of such a handshake: a smaller one may be a host that schedules late.
const LEAST_DELAY: Nanos = Nanos::from_millis(1);
/// Timeouts in a row that are no accident.
const TOO_LARGE: u32 = 3;
/// Divisor of the segments: where a twentieth of them comes late the path reorders; a route change reorders once.
const REORDERED_SHARE: u64 = 20;
/// Silence before a reset after which the reset breaks nothing off: the connection was idle.
const IDLE_RESET: Nanos = Nanos::from_millis(1_000);

/// Contribution of one flow to a finding.
pub(super) struct Share<'a> {
    pub(super) kind: FindingKind,
    /// The cause that owns the time, if a cause does; of several, the first, or one that owns more than all before it.
    pub(super) cause: Option<Cause>,
    /// The end whose data waited; of a reset, its sender.
    pub(super) side: End,
    pub(super) time: Nanos,
    /// Part of the time beyond a normal round trip.
    pub(super) recoverable: Nanos,
    pub(super) stalls: Few<&'a StallRow>,
}

impl<'a> Share<'a> {
    fn of(kind: FindingKind, side: End, time: Nanos) -> Share<'a> {
        let recoverable = if kind.is_recoverable() { time } else { Nanos::ZERO };
        Share { kind, cause: None, side, time, recoverable, stalls: Few::new() }
    }

    /// Sum of the own lengths of the share's waits.
    pub(super) fn weight(&self) -> i64 {
        self.stalls.iter().map(|stall| weight(stall)).sum()
    }

    /// The waits, each with the part of its length that the share owns: where both ends wait at once, the time is one cause's.
    pub(super) fn owned(&self) -> impl Iterator<Item = (&'a StallRow, i128)> {
        let (time, all) = (i128::from(self.time.0), i128::from(self.weight()));
        self.stalls.iter().map(move |stall| {
            let length = i128::from(weight(stall));
            (*stall, if all > time { length * time / all } else { length })
        })
    }

    /// The lengths of the waits; of each only what the share owns, where one alone is longer than all that it owns.
    pub(super) fn lengths(&self) -> impl Iterator<Item = Nanos> {
        let beyond = self.longest().is_some_and(|stall| weight(stall) > self.time.0);
        self.owned().map(move |(stall, owned)| Nanos(if beyond { owned as i64 } else { weight(stall) }))
    }

    /// The details of the waits, each with what the share owns of them.
    pub(super) fn details(&self) -> impl Iterator<Item = (&'static str, i128)> {
        self.owned().map(|(stall, owned)| (stall.detail, owned))
    }

    /// Takes in another share of the same kind and side.
    fn join(&mut self, other: Share<'a>) {
        if other.time > self.time {
            self.cause = other.cause.or(self.cause);
        }
        self.time += other.time;
        self.recoverable += other.recoverable;
        self.stalls.extend(other.stalls);
        self.stalls.sort_by_key(|stall| stall.number);
    }

    /// From the start of the first wait to the end of the last; without waits from the flow's start to its end.
    pub(super) fn span(&self, row: &FlowRow) -> (Nanos, Nanos) {
        match (self.stalls.first(), self.stalls.last()) {
            (Some(first), Some(last)) => (first.start_ns, last.end_ns),
            _ => (row.start_ns, row.end_ns),
        }
    }

    /// The longest wait of the share.
    pub(super) fn longest(&self) -> Option<&'a StallRow> {
        self.stalls.iter().copied().max_by_key(|stall| (weight(stall), std::cmp::Reverse(stall.number)))
    }
}

/// Shares of one flow.
type Shares<'a> = Few<Share<'a>, 2>;

/// Shares of a flow.
pub(super) fn shares(row: &FlowRow) -> Shares<'_> {
    if row.outcome.outcome == Some(Outcome::OneSided) {
        // Without the other end's packets no rule knows the limits.
        return smallvec![Share::of(FindingKind::OneSided, main_sender(row), row.lost())];
    }
    let mut shares = Shares::new();
    let beyond = relay::beyond(row);
    handshake(row, beyond, &mut shares);
    for (cause, time) in row.time_ns.of_causes().filter(|(cause, _)| *cause != Cause::Handshake) {
        of_cause(row, cause, time, beyond, &mut shares);
    }
    if let Some(time) = round_trips(row) {
        shares.push(Share::of(FindingKind::RoundTrips, End::Client, time));
    }
    if let Some(kind) = rate(row).filter(|kind| *kind != FindingKind::FlowControl) {
        let (side, sending) = (main_sender(row), row.time_ns.of(Owner::Sending));
        // A stall of the path and a path that set the rate without stalls are the same finding.
        add(&mut shares, Share { recoverable: Nanos::ZERO, ..Share::of(kind, side, sending) });
    }
    // If there is no other finding, a repair is reported even if nobody waited for it.
    if shares.iter().all(|share| share.recoverable == Nanos::ZERO) {
        for side in End::BOTH {
            let repair = &row.directions.of(side).repair;
            let lossy = repair.fast_retransmits + repair.timeouts > repair.needless_retransmissions;
            if lossy && !shares.iter().any(|share| share.kind == FindingKind::Loss && share.side == side) {
                shares.push(Share::of(FindingKind::Loss, side, Nanos::ZERO));
            }
        }
    }
    let owed = given_up(row);
    if let Some(wait) = owed {
        shares.push(Share::of(FindingKind::NoAnswer, End::Server, wait));
    }
    if came_too_late(row) {
        shares.push(Share::of(FindingKind::StaleConnection, End::Server, Nanos::ZERO));
    } else if row.connection.cut_at_bytes.is_some() {
        shares.push(Share::of(FindingKind::CutAnswer, End::Server, Nanos::ZERO));
    } else if let Some(side) = reset(row).filter(|_| owed.is_none()) {
        shares.push(Share::of(FindingKind::Reset, side, Nanos::ZERO));
    }
    shares
}

/// Adds a share, or joins it to the one of the same finding: a flow counts once in each finding, whatever causes it joins.
fn add<'a>(shares: &mut Shares<'a>, share: Share<'a>) {
    match shares.iter_mut().find(|known| known.kind == share.kind && known.side == share.side) {
        Some(known) => known.join(share),
        None => shares.push(share),
    }
}

fn handshake<'a>(row: &'a FlowRow, beyond: Option<Nanos>, shares: &mut Shares<'a>) {
    let time = row.time_ns.of(Owner::Waiting(Cause::Handshake));
    let stall = row.stalls.iter().find(|stall| stall.cause == Cause::Handshake);
    let base = row.base_rtt_ns.unwrap_or_default();
    let kind = match row.outcome.outcome {
        Some(Outcome::Unreachable) => FindingKind::Unreachable,
        Some(Outcome::Refused) => FindingKind::Refused,
        Some(Outcome::HalfOpen) => FindingKind::HalfOpen,
        Some(Outcome::Aborted) => FindingKind::Aborted,
        Some(Outcome::OneSided | Outcome::TooEarly) => return,
        Some(Outcome::Gone(_)) | None => {
            let again = stall.is_some_and(|stall| stall.detail == details::SYN_LOSS);
            let late = time > base.times(SLOW_HANDSHAKE) && time - base > LEAST_DELAY;
            match (again, late && row.base_rtt_ns.is_some() && beyond.is_none()) {
                (true, _) if accept::ignored_syn(row) => FindingKind::AcceptQueue,
                (true, _) => FindingKind::HandshakeLoss,
                (false, true) => FindingKind::HandshakeSlow,
                (false, false) if time > Nanos::ZERO => FindingKind::HandshakeDistance,
                (false, false) => return,
            }
        }
    };
    let mut share = Share { cause: Some(Cause::Handshake), ..Share::of(kind, End::Client, time) };
    // A client that waits for an answer sends its SYN again. One that did not waited for nothing: it left the SYN-ACK unanswered,
    // as scanners do, or the RST came long after, as of a NAT that forgets the attempt.
    let vain = kind == FindingKind::HalfOpen || kind == FindingKind::Refused && time > SYN_AGAIN;
    if vain && row.directions.client.syn.count == 1 {
        share.recoverable = Nanos::ZERO;
    }
    if matches!(kind, FindingKind::HandshakeLoss | FindingKind::HandshakeSlow | FindingKind::AcceptQueue) {
        share.recoverable = (time - base).or_zero();
    }
    share.stalls.extend(stall);
    shares.push(share);
}

/// Splits the time of a cause by the kinds of its waits, in proportion to their own lengths.
fn of_cause<'a>(row: &'a FlowRow, cause: Cause, time: Nanos, beyond: Option<Nanos>, shares: &mut Shares<'a>) {
    let waits = |stall: &&StallRow| stall.cause == cause && stall.detail != details::AWAITING_PEER;
    let unclaimed = |shares: &mut Shares<'a>| {
        let kind = if cause == Cause::AppLimited { FindingKind::Idle } else { of_transport(cause) };
        add(shares, Share { cause: Some(cause), ..Share::of(kind, busiest(row, cause), time) });
    };
    if !row.stalls.iter().any(|stall| waits(&stall)) {
        // So in nearly each short flow: its client had a moment to think.
        return unclaimed(shares);
    }
    let mut parts = Shares::new();
    let mut beats = None;
    for stall in row.stalls.iter().filter(waits) {
        let beats =
            beats.get_or_insert_with(|| if cause == Cause::AppLimited { Beats::of(row) } else { Beats::default() });
        let kind = kind_of(row, stall, beats);
        let (kind, side) = beyond.map_or((kind, stall.sender), |beyond| relay::behind(beyond, stall, kind));
        match parts.iter_mut().find(|part| part.kind == kind && part.side == side) {
            Some(part) => part.stalls.push(stall),
            None => parts.push(Share { stalls: smallvec![stall], ..Share::of(kind, side, Nanos::ZERO) }),
        }
    }
    // Such waits claim their own time; an application's other pauses share what nobody claims.
    let is_own = |part: &Share| part.kind == FindingKind::FlowControl;
    let own: i64 = parts.iter().filter(|part| is_own(part)).map(Share::weight).sum();
    let rest = (time - Nanos(own)).or_zero();
    let all: i128 = parts.iter().filter(|part| !is_own(part)).map(|part| i128::from(part.weight())).sum();
    if all == 0 && own == 0 {
        return unclaimed(shares);
    }
    for mut part in parts {
        part.cause = Some(cause);
        part.time = match is_own(&part) {
            true => (time - rest).min(Nanos(part.weight())),
            false => Nanos((i128::from(rest.0) * i128::from(part.weight()) / all.max(1)) as i64),
        };
        if cause == Cause::AppLimited && part.kind.is_recoverable() {
            // Some of that time has no wait, as before the first message of a connection that began before the capture.
            part.time = part.time.min(Nanos(part.weight()));
        }
        if part.kind == FindingKind::NoAnswer {
            // The client waited until it closed, the server went on for longer.
            let waits = part.stalls.iter().filter_map(|stall| given_up::answered_too_late(row, stall));
            part.time = waits.fold(Nanos::ZERO, |sum, wait| sum + wait);
            part.recoverable = part.time;
        } else if part.kind.is_recoverable() {
            // Nobody waits for a farewell that is sent again.
            let vain = part.stalls.iter().filter(|stall| idle::repeats_farewell(row, stall)).map(|stall| weight(stall));
            let waited = i128::from(part.weight() - vain.sum::<i64>());
            part.recoverable = Nanos((i128::from(part.time.0) * waited / i128::from(part.weight().max(1))) as i64);
        }
        if let Some(beyond) = beyond.filter(|_| part.kind == FindingKind::ServerSlow) {
            part.recoverable = (part.recoverable - beyond.times(part.stalls.len() as i64)).or_zero();
        }
        add(shares, part);
    }
}

fn of_transport(cause: Cause) -> FindingKind {
    match cause {
        Cause::Retransmission => FindingKind::Loss,
        Cause::CaptureGap | Cause::Unexplained => FindingKind::Unexplained,
        other => FindingKind::Limit(other),
    }
}

/// Labels below this confidence are more likely wrong than right.
const EVEN: f32 = 0.5;

/// Kind of a wait's finding. A label that is more likely wrong than right blames nobody. Repairs and reordering are seen,
/// whatever the label.
fn kind_of(row: &FlowRow, stall: &StallRow, beats: &Beats) -> FindingKind {
    let kind = of_label(row, stall, beats);
    let seen = matches!(stall.cause, Cause::Retransmission | Cause::Unexplained);
    if kind.is_recoverable() && !seen && stall.confidence < EVEN { FindingKind::Unexplained } else { kind }
}

fn of_label(row: &FlowRow, stall: &StallRow, beats: &Beats) -> FindingKind {
    match stall.cause {
        cause if !matches!(cause, Cause::Retransmission | Cause::ZeroWindow) && hardly_seen(row) => {
            FindingKind::Unexplained
        }
        Cause::BandwidthLimited if idle::answers_close(row, stall) => FindingKind::Idle,
        // A few messages that came late show no rate, nor does one that was alone on its way: it filled no queue.
        Cause::BandwidthLimited if shows_no_rate(row, stall) => FindingKind::Unexplained,
        Cause::AppLimited => of_application(row, stall, beats),
        // On a path that reorders, a hole that SACK reports fills by itself.
        Cause::Retransmission if stall.detail == details::RECOVERY && held_back(row, stall) => FindingKind::Reordering,
        Cause::Retransmission => {
            let gone = matches!(row.outcome.outcome, Some(Outcome::Gone(end)) if end == stall.sender);
            match stall.ended {
                false if gone => FindingKind::PeerGone,
                false if idle::keeps_alive(row, stall) => FindingKind::Idle,
                false if is_too_large(row, stall.sender) => FindingKind::PathMtu,
                _ if accept::ignored_data(row, stall) => FindingKind::AcceptQueue,
                _ => FindingKind::Loss,
            }
        }
        Cause::Unexplained if held_back(row, stall) => FindingKind::Reordering,
        cause => of_transport(cause),
    }
}

fn shows_no_rate(row: &FlowRow, stall: &StallRow) -> bool {
    let few = row.directions.of(stall.sender).bytes < RATE_SEGMENTS * LEAST_SEGMENT;
    few || stall.evidence.in_flight_bytes.is_some_and(|flight| flight < LEAST_SEGMENT)
}

/// The timer fired again and again for a full segment, and none was ever acknowledged, although shorter ones were: the path
/// carries no packets as large, and nobody told the sender (RFC 2923 §2.1). The peer is still there.
fn is_too_large(row: &FlowRow, sender: End) -> bool {
    let direction = row.directions.of(sender);
    direction.loses_full_segments && direction.repair.timeouts >= TOO_LARGE
}

/// True if the path reorders and the wait was no longer than the delay of late segments: the awaited packet was
/// delayed.
fn held_back(row: &FlowRow, stall: &StallRow) -> bool {
    End::BOTH.into_iter().map(|side| row.directions.of(side)).any(|direction| {
        let late = u64::from(direction.repair.reordered_segments);
        late * REORDERED_SHARE >= direction.segments.max(1)
            && stall.duration_ns <= direction.repair.reordering_ns.scaled(1.25)
    })
}

/// The end that reset a connection before all data was exchanged.
fn reset(row: &FlowRow) -> Option<End> {
    let connection = &row.connection;
    let by = connection.closed_by.filter(|_| connection.closed_with == Some("rst"))?;
    if row.outcome.outcome.is_some() {
        return None;
    }
    let idle =
        connection.idle_before_close_ns.is_some_and(|idle| idle > IDLE_RESET) || idle::only_says_goodbye(row, by);
    let said = row.directions.client.bytes + row.directions.server.bytes > 0;
    let cut = row.exchanges.iter().flatten().next_back().is_some_and(|exchange| !exchange.complete);
    let amid = connection.unanswered > 0 || cut || connection.exchanges == 0;
    // Before its first request a client does not say goodbye.
    let dismissed = by == End::Server && given_up::was_dismissed(row) && !broken::in_tls_handshake(row);
    (said && amid && !idle && (cut || !dismissed)).then_some(by)
}

/// The end to which a cause without waits of its own is assigned.
fn busiest(row: &FlowRow, cause: Cause) -> End {
    let busy = |side: End| row.directions.of(side).path.bandwidth_limited_ns;
    match cause {
        Cause::BandwidthLimited if busy(End::Client) > busy(End::Server) => End::Client,
        Cause::BandwidthLimited => End::Server,
        _ => main_sender(row),
    }
}
