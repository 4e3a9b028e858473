//! Builds the row of a finished flow: its pauses are judged, become stalls, and each nanosecond gets its owner.

mod busy;
mod climb;
mod lone;
pub mod loss_advice;
mod notes;
mod outcome_advice;
mod pace;
mod read_until;
mod stall_order;
mod sweep;
mod swing;

use std::iter;

use self::busy::Busy;
use self::climb::Climb;
use self::lone::Lone;
use self::notes::notes;
use self::read_until::read_until;
use super::findings;
use super::ledger::Ledger;
use super::lists::SpareLists;
use super::rows::evidence::Evidence;
use super::rows::losses::LossesRow;
use super::rows::outcome::{Outcome, OutcomeRow};
use super::rows::path::{self, PathRow, path_row};
use super::rows::repair::{self, RepairRow};
use super::rows::round_trip::{self, RoundTrip};
use super::rows::syn::SynRow;
use super::rows::trust::TrustRow;
use super::rows::{BurstRow, DirectionRow, DirectionsRow, FlowRow, HandshakeRow, StallRow, VantageRow};
use crate::causes::{self, Cause, HandshakeEvidence, Limits, Missing, PausePart, Proof};
use crate::exchange::{self, Wait};
use crate::few::Few;
use crate::flow::{Connection, End, Half};
use crate::pause::{Burst, Finished, Pause, Pauses, Rest};
use crate::time::Nanos;
use crate::vec_growth;

/// Options of the rows.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// List bursts.
    pub bursts: bool,
    /// List exchanges.
    pub exchanges: bool,
    /// Shortest stall in the list.
    pub least_stall: Nanos,
}

/// The row of a finished flow.
pub fn flow_row(flow: &Finished, id: u64, capture: u32, limits: &Limits, wanted: Wanted) -> FlowRow {
    let mut row = unrated(flow, (id, capture), limits, wanted, &mut SpareLists::default());
    complete(&mut row);
    row
}

/// Adds the row of a finished flow, given its id and its capture. A row takes kilobytes, and is completed where it lies.
pub fn add_row(
    rows: &mut Vec<FlowRow>,
    flow: &Finished,
    names: (u64, u32),
    limits: &Limits,
    wanted: Wanted,
    lists: &mut SpareLists,
) {
    rows.extend(iter::once_with(|| unrated(flow, names, limits, wanted, lists)));
    if let Some(row) = rows.last_mut() {
        complete(row);
    }
}

/// Adds what the whole row shows.
fn complete(row: &mut FlowRow) {
    loss_advice::advise(row);
    row.rate_set_by = findings::rate_set_by(row);
}

/// The row without what [`complete`] adds.
#[inline(always)]
fn unrated(
    flow: &Finished,
    (id, capture): (u64, u32),
    limits: &Limits,
    wanted: Wanted,
    lists: &mut SpareLists,
) -> FlowRow {
    let connection = flow.connection();
    // A row takes kilobytes: nothing of that size is moved because the list grows. Nearly each pause is a stall, and the
    // handshake.
    let opening = usize::from(connection.handshake.start().is_some() && !connection.continues);
    let mut stalls = lists.stalls(flow.pauses.iter().map(Pauses::len).sum::<usize>() + opening);
    let outcome = Outcome::of(flow);
    add_handshake(flow, outcome, &mut stalls);
    let busy = [judged(flow, End::Client, limits, &mut stalls), judged(flow, End::Server, limits, &mut stalls)];
    leave_out_late_handshake(&mut stalls);
    outcome_advice::advise(&mut stalls, outcome);
    stall_order::by_time(&mut stalls);
    (0..).zip(&mut stalls).for_each(|(number, stall)| stall.number = number);
    let fastest = End::BOTH.map(|end| pace::fastest(&flow.bursts[end]));
    pace::withhold(&mut stalls, fastest);
    let full = End::BOTH.map(|end| path::busy(flow, end, limits));
    let time_ns = sweep::ledger(flow, &stalls, &full);
    let exchanges = wanted.exchanges.then(|| exchange::exchanges(flow, &waits(&stalls), |room| lists.exchanges(room)));
    stalls.retain(|stall| stall.duration_ns >= wanted.least_stall);
    if stalls.capacity() / 2 > stalls.len() {
        stalls.shrink_to_fit();
    }
    let path_of = |sender: End| {
        let mut row = path_row(flow, sender, &full[sender], limits);
        pace::withhold_path(&mut row, fastest[sender]);
        row
    };
    let (rtt_spikes, rtt_spikes_dropped) = round_trip::spikes(flow);
    let vantage = vantage(connection);
    FlowRow {
        id,
        capture,
        at_end: false,
        goes_on: false,
        continues: connection.continues,
        client: connection.client,
        server: connection.server,
        tunnel: flow.tunnel().cloned(),
        vlan: connection.vlan.map(u16::from),
        interface: None,
        interface_number: 0,
        label: None,
        label_source: None,
        names: None,
        first_payloads: flow.first_payloads().map(|starts| Box::new(starts.of_the_first())),
        start_ns: connection.start,
        end_ns: connection.end,
        segments: connection.segments,
        state: connection.state.name(),
        outcome: OutcomeRow::of(flow, outcome),
        rate_set_by: None,
        lost_ns: time_ns.lost(),
        vantage,
        base_rtt_ns: connection.base_rtt(),
        handshake: HandshakeRow {
            complete: connection.handshake.complete(),
            duration_ns: connection.handshake.start().zip(connection.handshake.end()).map(|(start, end)| end - start),
            answered_ns: connection.handshake.syn.zip(connection.handshake.syn_ack).map(|(syn, answer)| answer - syn),
        },
        directions: DirectionsRow {
            client: direction_row(flow, End::Client, &busy, path_of(End::Client), &time_ns),
            server: direction_row(flow, End::Server, &busy, path_of(End::Server), &time_ns),
        },
        trust: TrustRow::of(flow, vantage.side),
        notes: notes(flow),
        rtt_spikes,
        rtt_spikes_dropped,
        bursts: wanted.bursts.then(|| burst_rows(&flow.bursts)),
        stalls,
        exchanges,
        connection: exchange::connection(flow),
        time_ns,
    }
}

/// Removes the handshake stall where SYNs came in the middle of the client's data: the client did not wait for them.
fn leave_out_late_handshake(stalls: &mut Vec<StallRow>) {
    let Some(handshake) = stalls.first().filter(|stall| stall.cause == Cause::Handshake) else { return };
    let (start, end) = (handshake.start_ns, handshake.end_ns);
    let within = |stall: &StallRow| stall.sender == End::Client && stall.start_ns < end && stall.end_ns > start;
    if stalls[1..].iter().any(within) {
        stalls.remove(0);
    }
}

/// Judges the pauses of one sender: appends its stalls to `stalls`, returns how busy it was.
fn judged(flow: &Finished, sender: End, limits: &Limits, stalls: &mut Vec<StallRow>) -> Busy {
    let mut busy = Busy::default();
    if let Some(over) = flow.over[sender] {
        busy.ends(over.all_acked);
    }
    if flow.pauses[sender].is_empty() {
        return busy;
    }
    let (mut climb, mut blocked, mut lone) = (Climb::default(), Vec::new(), None);
    let (mut free, last) = (flow.connection().start, read_until(flow, sender).unwrap_or(flow.connection().end));
    for pause in flow.pauses[sender].iter() {
        if let Some(end) = pause.all_acked.filter(|_| pause.is_over() && !pause.is_the_peers(flow.threshold)) {
            busy.ends(end);
            continue;
        }
        for mut part in causes::crossed::explain(flow, &pause, limits) {
            // An end waits for one thing at a time and only during its flow, even where hostile clocks and distances
            // contradict that.
            part.start = part.start.clamp(free, last);
            part.end = part.end.clamp(part.start, last);
            free = part.end;
            let waited = is_stall(&pause, &part, flow.threshold);
            busy.add(&pause, &part, waited);
            climb.add(&pause, &part, waited.then_some(stalls.len()), stalls);
            if waited && part.cause == Cause::SndbufLimited {
                lone = if blocked.is_empty() { Lone::of(stalls.len(), pause, &part) } else { None };
                blocked.push((stalls.len(), pause));
            }
            if waited {
                let rest = part.rest.take();
                vec_growth::push(stalls, stall_row(&rest.as_deref().map_or(pause, Rest::pause), part));
            }
        }
    }
    climb.finish(stalls);
    if let Some(lone) = lone {
        lone.joins_others(stalls);
    }
    swing::fill_in_swing(&blocked, stalls);
    busy
}

/// Waits of the client and of the server, as input to the exchanges.
fn waits(stalls: &[StallRow]) -> [Few<Wait>; 2] {
    let mut waits: [Few<Wait>; 2] = [Few::new(), Few::new()];
    for stall in stalls {
        let (start, end) = (stall.start_ns, stall.end_ns);
        waits[stall.sender].push(Wait { start, end, cause: stall.cause, detail: stall.detail });
    }
    waits
}

#[inline(always)]
fn direction_row(flow: &Finished, sender: End, busy: &[Busy; 2], path: PathRow, time_ns: &Ledger) -> DirectionRow {
    let (busy_ns, rwnd_limited_ns) = busy[sender].of(flow, sender);
    let half = flow.connection().half(sender);
    let [rtt_p50_ns, rtt_p95_ns] = round_trips(half);
    let repair = RepairRow::of(flow.repairs(sender), half);
    DirectionRow {
        bytes: half.bytes,
        segments: half.frames,
        mss_bytes: half.known_mss(),
        window_scale: flow.connection().half(sender.peer()).peer_scale.shift(),
        initial_window_bytes: flow.initial_flight[sender].filter(|_| half.syn_seen),
        max_in_flight_bytes: half.max_flight.max(0) as u64,
        retransmitted_bytes: half.retransmitted,
        busy_ns,
        rwnd_limited_ns,
        path,
        repair,
        losses: flow
            .losses(sender)
            .and_then(|losses| LossesRow::of(losses.all(), half.least_rtt, half.round_trips.quantiles([10, 95])))
            .and_then(|losses| losses.beside(repair.needless_retransmissions, time_ns)),
        loses_full_segments: half.loses_full_segments(),
        syn: SynRow::of(flow.connection(), sender),
        announced_window_bytes: announced(flow, sender),
        rtt_p50_ns,
        rtt_p95_ns,
    }
}

/// Two percentiles of the round trips of an end's data. The middle of a class may be shorter than the shortest of all.
fn round_trips(half: &Half) -> [Option<Nanos>; 2] {
    half.round_trips.quantiles([50, 95]).map(|quantile| quantile.map(|rtt| rtt.max(half.least_rtt.unwrap_or(rtt))))
}

/// The largest window that an end announced before its peer stopped to wait.
fn announced(flow: &Finished, end: End) -> Option<u64> {
    let (over, newest) = (flow.over[end.peer()], flow.pauses[end.peer()].last());
    let window = over.map(|over| over.largest_window).or(newest.map(|pause| pause.largest_window))?;
    u64::try_from(window).ok().filter(|window| *window > 0)
}

/// Distance of a tap that is at an end, as a share of the whole round trip.
const AT_AN_END: f64 = 0.1;

fn vantage(connection: &Connection) -> VantageRow {
    let [client, server] = &connection.halves;
    let to_client = client.vantage.get().or(server.peer_distance.get());
    let to_server = server.vantage.get().or(client.peer_distance.get());
    let (Some(to_client), Some(to_server)) = (to_client, to_server) else {
        return VantageRow { side: "unknown", confidence: 0.0 };
    };
    let share = to_client.0 as f64 / (to_client + to_server).0.max(1) as f64;
    let samples = client.vantage.samples().min(server.vantage.samples());
    let (side, margin) = if share <= AT_AN_END {
        (End::Client.name(), 1.0 - share / AT_AN_END)
    } else if share >= 1.0 - AT_AN_END {
        (End::Server.name(), 1.0 - (1.0 - share) / AT_AN_END)
    } else {
        ("between", ((share.min(1.0 - share) - AT_AN_END) / AT_AN_END).min(1.0))
    };
    let weight = if samples >= 3 { 1.0 } else { 0.8 };
    VantageRow { side, confidence: ((0.5 + 0.5 * margin) * weight) as f32 }
}

fn burst_rows(bursts: &[Vec<Burst>; 2]) -> Vec<BurstRow> {
    let row = |sender: End| {
        move |burst: &Burst| BurstRow {
            sender,
            start_ns: burst.start,
            end_ns: burst.end,
            bytes: burst.bytes,
            segments: burst.frames,
            in_flight_bytes: burst.in_flight,
        }
    };
    let [client, server] = bursts;
    let mut rows: Vec<BurstRow> =
        client.iter().map(row(End::Client)).chain(server.iter().map(row(End::Server))).collect();
    rows.sort_by_key(|burst| burst.start_ns);
    rows
}

/// The part is long enough for a stall. A normal round trip is nobody's stall, so an application's pause counts only
/// for the time beyond one.
fn is_stall(pause: &Pause, part: &PausePart, threshold: Nanos) -> bool {
    let length = part.end - part.start;
    if part.cause == Cause::CaptureGap {
        return length > Nanos::ZERO && (pause.ended || pause.left_in_flight > 0);
    }
    if !pause.ended {
        // No data is known to have been queued: the sender had simply finished.
        let closed = pause.closed.is_some() && pause.reopened.is_none();
        let waiting = pause.left_in_flight > 0 || closed || pause.retransmissions > 0 || pause.recovering;
        let overdue = length > pause.rtt() + pause.rtt() + threshold;
        return match part.cause {
            Cause::AppLimited => false,
            Cause::Retransmission => waiting && length > threshold,
            _ => waiting && overdue,
        };
    }
    match part.cause {
        Cause::AppLimited if pause.first => length - pause.distance > threshold,
        Cause::AppLimited if pause.is_turn() => length - pause.rtt() > threshold,
        _ => length > threshold,
    }
}

fn add_handshake(flow: &Finished, outcome: Option<Outcome>, stalls: &mut Vec<StallRow>) {
    let connection = flow.connection();
    let handshake = &connection.handshake;
    let (Some(start), Some(end), false) = (handshake.start(), handshake.end(), connection.continues) else { return };
    let again = handshake.syns.saturating_sub(1) + handshake.syn_acks.saturating_sub(1);
    // Data of the accepting end shows that the SYN was answered, whatever of the handshake was captured.
    let answered = handshake.done.is_some() || connection.half(End::Server).bytes > 0;
    let proof = causes::judge_handshake(HandshakeEvidence {
        sent_again: again,
        complete: answered,
        refused: handshake.refused.is_some(),
        answered: handshake.syn_ack.is_some(),
        unseen: outcome == Some(Outcome::OneSided),
    });
    let cause = if flow.opening_is_misdated() { Cause::Unexplained } else { Cause::Handshake };
    let (proof, missing) = match (cause, outcome) {
        (Cause::Handshake, Some(Outcome::OneSided)) => (proof, vec![Missing::OTHER_END.0]),
        (Cause::Handshake, _) => (proof, Vec::new()),
        _ => (Proof { detail: "", confidence: 0.0 }, vec![Missing::TIME.0]),
    };
    let stall = StallRow {
        number: 0,
        sender: End::Client,
        start_ns: start,
        end_ns: end,
        duration_ns: end - start,
        ended: answered || handshake.refused.is_some(),
        then_bytes: 0,
        cause,
        detail: proof.detail,
        confidence: proof.confidence,
        also: Few::new(),
        missing,
        evidence: Evidence { retransmissions: Some(u64::from(again)), ..Evidence::default() },
        round_trip: RoundTrip::default(),
        attempts: Vec::new(),
        advice: causes::details::advice(cause, proof.detail),
    };
    vec_growth::push(stalls, stall);
}

fn stall_row(pause: &Pause, part: PausePart) -> StallRow {
    let trip = RoundTrip::of(pause, &part);
    let evidence = Evidence::of(pause, &part);
    StallRow {
        number: 0,
        sender: pause.sender,
        start_ns: part.start,
        end_ns: part.end,
        duration_ns: part.end - part.start,
        ended: pause.ended,
        then_bytes: pause.after.bytes,
        cause: part.cause,
        detail: part.proof.detail,
        confidence: part.proof.confidence,
        also: part.also,
        missing: part.missing,
        evidence,
        round_trip: trip,
        attempts: repair::attempts(pause, part.start, part.end),
        advice: causes::details::advice(part.cause, part.proof.detail),
    }
}
