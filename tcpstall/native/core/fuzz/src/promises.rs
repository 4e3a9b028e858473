//! What holds of any report, whatever the bytes: the reader's arithmetic comes out, in numbers that cannot run over.

use tcpstall_core::engine::CaptureStatus;
use tcpstall_core::flow::End;
use tcpstall_core::results::ledger::Owner;
use tcpstall_core::results::rows::DirectionRow;
use tcpstall_core::results::{FlowRow, RareEvidence, StallRow};
use tcpstall_core::time::Nanos;

/// Beyond it a count was negative before it lost its sign.
const COUNT_LIMIT: u64 = 1 << 62;

/// Nanoseconds that are never cut to what 64 bits hold.
fn wide(time: Nanos) -> i128 {
    i128::from(time.0)
}

/// Of one flow.
pub(crate) fn of_flow(row: &FlowRow) {
    assert!(row.start_ns <= row.end_ns, "a flow ends after it began");
    assert!(row.segments > 0, "a flow has segments");
    assert!(row.start_ns >= Nanos::ZERO && row.end_ns <= Nanos::LATEST, "no time is outside the clock's range");
    ledger(row);
    stalls(row);
    bursts(row);
    exchanges(row);
    for side in [&row.directions.client, &row.directions.server] {
        direction(row, side);
    }
    let duration = lasts(row);
    let handshake = row.handshake.duration_ns.map_or(0, wide);
    assert!((0..=duration).contains(&handshake), "a handshake is part of its flow: {handshake} of {duration}");
    assert!(row.base_rtt_ns.is_none_or(|rtt| rtt >= Nanos::ZERO), "a round trip takes time");
    assert!(row.rtt_spikes.is_sorted_by_key(|spike| spike.time_ns));
    for spike in &row.rtt_spikes {
        assert!((row.start_ns..=row.end_ns).contains(&spike.time_ns), "an episode lies inside its flow");
        assert!((0..=2 * duration).contains(&wide(spike.rtt_ns)), "a round trip is what the tap saw and the way to it");
        assert!(spike.in_flight_bytes < COUNT_LIMIT);
    }
    assert!(row.trust.unseen_bytes < COUNT_LIMIT && row.trust.duplicates_removed < COUNT_LIMIT);
    assert!((0.0..=1.0).contains(&row.vantage.confidence));
}

fn lasts(row: &FlowRow) -> i128 {
    wide(row.end_ns) - wide(row.start_ns)
}

fn ledger(row: &FlowRow) {
    assert!(Owner::all().all(|owner| row.time_ns.of(owner) >= Nanos::ZERO), "nobody owns less than nothing");
    let owned: i128 = Owner::all().map(|owner| wide(row.time_ns.of(owner))).sum();
    assert_eq!(owned, lasts(row), "each nanosecond has one owner");
}

fn stalls(row: &FlowRow) {
    for side in End::BOTH {
        let mut free = row.start_ns;
        for stall in row.stalls.iter().filter(|stall| stall.sender == side) {
            assert_eq!(wide(stall.duration_ns), wide(stall.end_ns) - wide(stall.start_ns));
            assert!(stall.duration_ns >= Nanos::ZERO, "a wait has a length");
            let inside = row.start_ns <= stall.start_ns && stall.end_ns <= row.end_ns;
            assert!(inside, "a wait for {:?} lies inside its flow", stall.cause);
            assert!((0.0..=1.0).contains(&stall.confidence));
            if stall.duration_ns > Nanos::ZERO {
                assert!(stall.start_ns >= free, "an end waits for one thing at a time");
                free = stall.end_ns;
            }
            evidence(stall);
        }
    }
    assert!(row.stalls.is_sorted_by_key(|stall| stall.start_ns));
}

fn evidence(stall: &StallRow) {
    let within = |span: Option<Nanos>| span.is_none_or(|span| (Nanos::ZERO..=stall.duration_ns).contains(&span));
    let found = &stall.evidence;
    let rare = |number: fn(&RareEvidence) -> Option<u64>| found.rare.get(number);
    assert!(within(stall.round_trip.excess_ns), "what a wait took beyond the round trip is part of the wait");
    assert!(
        within(found.rare.get(|rare| rare.receiver.closed_ns)),
        "a window was not shut for longer than the wait for it"
    );
    assert!(found.freed_to_data_ns.is_none_or(|span| span >= Nanos::ZERO), "data follows what freed it");
    for attempt in &stall.attempts {
        let time = attempt.time_ns;
        assert!(stall.start_ns <= time && time <= stall.end_ns, "an attempt lies inside its wait");
        assert!(attempt.waited_ns >= Nanos::ZERO);
    }
    let counts = [
        found.in_flight_bytes,
        found.peer_window_bytes,
        found.burst_bytes,
        rare(|rare| rare.plateau_bytes),
        found.retransmissions,
        rare(|rare| rare.window_probes),
        rare(|rare| rare.receiver.probes_unanswered),
        rare(|rare| rare.receiver.unread_bytes),
        rare(|rare| rare.repair.timeouts),
        rare(|rare| rare.repair.congestion_point_bytes),
    ];
    assert!(counts.into_iter().flatten().all(|count| count < COUNT_LIMIT), "no count is negative: {counts:?}");
}

fn bursts(row: &FlowRow) {
    for side in End::BOTH {
        let mut free = row.start_ns;
        for burst in row.bursts.iter().flatten().filter(|burst| burst.sender == side) {
            assert!(burst.start_ns <= burst.end_ns, "a burst ends after it began");
            assert!(burst.start_ns >= free, "a burst begins after the one before it");
            assert!(burst.end_ns <= row.end_ns, "a burst lies inside its flow");
            assert!(burst.bytes < COUNT_LIMIT && burst.in_flight_bytes < COUNT_LIMIT);
            free = burst.end_ns;
        }
    }
}

fn exchanges(row: &FlowRow) {
    for exchange in row.exchanges.iter().flatten() {
        assert!(
            row.start_ns <= exchange.start_ns && exchange.start_ns <= exchange.end_ns,
            "an answer follows {:?}",
            exchange
        );
        assert!(exchange.end_ns <= row.end_ns, "an exchange lies inside its flow");
        assert!(exchange.parts.iter().all(|part| part.duration_ns > Nanos::ZERO), "a part has a length");
        let parts: i128 = exchange.parts.iter().map(|part| wide(part.duration_ns)).sum();
        assert_eq!(parts, wide(exchange.latency_ns), "the parts of a latency sum to it");
        // The requester lived through what the tap saw, and through the way to the tap and back: neither outlasts the flow.
        let seen = wide(exchange.end_ns) - wide(exchange.start_ns);
        assert!(parts >= seen && parts <= 2 * lasts(row), "{parts} is not {seen} and a round trip");
        assert!(exchange.request_bytes < COUNT_LIMIT && exchange.response_bytes < COUNT_LIMIT);
    }
}

fn direction(row: &FlowRow, side: &DirectionRow) {
    let busy = side.busy_ns.map_or(0, wide);
    assert!((0..=lasts(row)).contains(&busy), "an end is busy while its flow lasts: {busy} of {}", lasts(row));
    let limited = side.rwnd_limited_ns.map_or(0, wide);
    assert!((0..=busy).contains(&limited), "a window limits an end that is busy: {limited} of {busy}");
    let full = wide(side.path.bandwidth_limited_ns);
    assert!((0..=lasts(row)).contains(&full), "a path is busy while its flow lasts: {full} of {}", lasts(row));
    assert!(side.repair.reordering_ns >= Nanos::ZERO);
    let counts =
        [side.bytes, side.segments, side.retransmitted_bytes, side.max_in_flight_bytes, side.repair.reordering_bytes];
    assert!(counts.iter().all(|count| *count < COUNT_LIMIT), "no count is negative: {counts:?}");
}

/// Of one input with the flows that it gave.
pub(crate) fn of_capture(status: &CaptureStatus, rows: &[FlowRow]) {
    let segments: u64 = rows.iter().map(|row| row.segments).sum();
    assert_eq!(segments, status.tcp_segments, "each segment belongs to one flow");
    let skipped = &status.skipped;
    let packets = [skipped.not_ip, skipped.not_tcp, skipped.ip_fragment, skipped.cut_short, status.tcp_segments];
    assert!(packets.iter().all(|count| *count <= status.packets), "{packets:?} of {}", status.packets);
    assert_eq!(status.exit_code != 0, status.error.is_some());
    let lines = status.error.as_ref().map_or(0, |error| error.chars().filter(|char| char.is_control()).count());
    assert_eq!(lines, 0, "an error is one line: {:?}", status.error);
}
