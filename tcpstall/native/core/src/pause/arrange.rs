//! Arranges a finished flow's pauses: short ones join the bursts around them, and each of the others gets its context.

use super::bottleneck::BusyPeriod;
use super::builder::Builder;
use super::burst::{Burst, Clump};
use super::context;
use super::coverage;
use super::evidence::Pause;
use crate::flow::ack_arrival::AT_HOST;
use crate::flow::clock_steps::ClockSteps;
use crate::flow::{Connection, End};
use crate::time::Nanos;

/// Ratio of missing to captured data of a flow above which no silence in the flow is reliable.
const HARDLY_SEEN: i64 = 20;

/// Joins bursts over pauses that turned out too short, and gives each of the others its neighbours' evidence.
pub(super) fn arrange(
    builder: &mut Builder,
    busy_periods: &[BusyPeriod],
    threshold: Nanos,
    connection: &Connection,
    sender: End,
    clock_steps: Option<&ClockSteps>,
) -> (Vec<Pause>, Vec<Burst>) {
    let half = connection.half(sender);
    let (disorder, least) = (connection.disorder(), connection.distances()[sender]);
    let mut pauses = std::mem::take(&mut builder.pauses).unpacked();
    let mut bursts = std::mem::take(&mut builder.bursts);
    bursts.reserve_exact(pauses.len());
    let mut joined: Option<Burst> = None;
    let sent = builder.sending();
    pauses.retain_mut(|pause| {
        if let Some(earlier) = joined.take() {
            pause.before = join(&earlier, &pause.before);
        }
        if pause.ended && !pause.first && pause.left_out.is_none() && pause.duration() <= threshold {
            joined = Some(pause.before);
            builder.count_full(pause);
            return false;
        }
        pause.base_rtt = connection.base_rtt_at(pause.end);
        if !pause.held_up {
            pause.moves_tap(half.vantage.at(pause.end).max(least).unwrap_or_default());
        }
        if half.ip_id.is_shared() && pause.hole.is_none() {
            pause.lost_before_tap = 0;
        }
        // Data that was sent again inside the pause has a later stamp than the data before the pause.
        let known = !pause.first && pause.retransmissions == 0 && pause.probes == 0;
        let apart = pause.stamps_apart.filter(|_| known).and_then(|ticks| half.vantage.tsval_clock.span(ticks));
        pause.context.left_together = apart.is_some_and(|span| span + span <= pause.duration());
        pause.disorder = disorder;
        pause.flight_unknown |= half.never_seen / HARDLY_SEEN > half.bytes as i64;
        pause.jitter = half.vantage.jitter().max(disorder);
        // Disorder up to a round trip is what senders tolerate (RFC 8985 §6.2). The shortest round trip counts, because
        // the held packets lengthen the others.
        if connection.base_rtt().is_none_or(|least| pause.overtaken <= least) {
            pause.overtaken = Nanos::ZERO;
        }
        pause.multipath = connection.handshake.is_multipath();
        // With the tap at a host the unknown distance made no difference.
        pause.unseen.blind &= half.vantage.get().is_some_and(|distance| distance > AT_HOST);
        pause.unseen.unplaced = half.vantage.get().is_none() || half.vantage.was_inferred();
        if pause.unseen.blind && half.vantage.was_inferred() {
            pause.sees_whole_burst();
        }
        pause.unseen.placed_later = pause.unseen.blind && half.vantage.is_proven();
        pause.unseen.unplaced |= pause.unseen.placed_later;
        pause.unseen.misdated = clock_steps.is_some_and(|clock_steps| clock_steps.misdates(pause.start(), pause.end));
        if !pause.first {
            bursts.push(pause.before);
        }
        true
    });
    for index in 1..pauses.len() {
        pauses[index - 1].after = pauses[index].before;
    }
    if !sent {
        pauses.clear();
    }
    coverage::find_missing_acks(&mut pauses, connection.has_spoken(sender.peer()), half.bare_ack);
    context::fill(&mut pauses, busy_periods);
    context::tell_reading(&mut pauses, &builder.reading);
    (pauses, bursts)
}

fn join(earlier: &Burst, later: &Burst) -> Burst {
    let (before, after) = (earlier.clump, later.clump);
    let silence = (later.start - earlier.end).max(before.longest_silence);
    let clump = Clump {
        count: before.count + after.count,
        longest_silence: after.longest_silence.max(silence),
        first_bytes: before.first_bytes,
        ..after
    };
    Burst {
        clump,
        acks: earlier.acks + later.acks,
        start: earlier.start,
        bytes: earlier.bytes + later.bytes,
        frames: earlier.frames + later.frames,
        first_frame: earlier.first_frame,
        ..*later
    }
}
