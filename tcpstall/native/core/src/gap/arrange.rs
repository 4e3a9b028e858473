//! Turns a finished flow's pauses into gaps: short pauses join the bursts around them, and each gap gets its context.

use super::bottleneck::Stretch;
use super::builder::Builder;
use super::context;
use super::coverage;
use super::evidence::{Burst, Clump, Gap};
use crate::flow::hearing::AT_HOST;
use crate::flow::stamps::Stamps;
use crate::flow::{Connection, Direction};
use crate::time::Nanos;

/// Ratio of missing to captured data of a flow above which no silence in the flow is reliable.
const HARDLY_SEEN: i64 = 20;

/// Joins bursts over pauses that turned out too short to be gaps, and gives each gap its neighbours' evidence.
pub(super) fn arrange(
    builder: &mut Builder,
    stretches: &[Stretch],
    threshold: Nanos,
    connection: &Connection,
    sender: Direction,
    stamps: Option<&Stamps>,
) -> (Vec<Gap>, Vec<Burst>) {
    let half = connection.half(sender);
    let (disorder, least) = (connection.disorder(), connection.distances()[sender as usize]);
    let mut gaps = std::mem::take(&mut builder.gaps).unpacked();
    let mut bursts = Vec::with_capacity(gaps.len());
    let mut joined: Option<Burst> = None;
    let sent = builder.sending();
    gaps.retain_mut(|gap| {
        if let Some(earlier) = joined.take() {
            gap.before = join(&earlier, &gap.before);
        }
        if gap.ended && !gap.first && gap.left_out.is_none() && gap.duration() <= threshold {
            joined = Some(gap.before);
            builder.count_full(gap);
            return false;
        }
        gap.base_rtt = connection.base_rtt_at(gap.end);
        if !gap.held_up {
            gap.moves_tap(half.distance.at(gap.end).max(least).unwrap_or_default());
        }
        gap.disorder = disorder;
        gap.flight_unknown |= half.never_seen / HARDLY_SEEN > half.bytes as i64;
        gap.jitter = half.distance.jitter().max(disorder);
        // Disorder up to a round trip is what senders tolerate (RFC 8985 §6.2). The shortest round trip counts, because
        // the held packets lengthen the others.
        if connection.base_rtt().is_none_or(|least| gap.overtaken <= least) {
            gap.overtaken = Nanos::ZERO;
        }
        gap.multipath = connection.handshake.is_multipath();
        // With the tap at a host the unknown distance made no difference.
        gap.unseen.blind &= half.distance.get().is_some_and(|distance| distance > AT_HOST);
        gap.unseen.unplaced = half.distance.get().is_none();
        gap.unseen.misdated = stamps.is_some_and(|stamps| stamps.misdates(gap.start(), gap.end));
        if !gap.first {
            bursts.push(gap.before);
        }
        true
    });
    for index in 1..gaps.len() {
        gaps[index - 1].after = gaps[index].before;
    }
    if !sent {
        gaps.clear();
    }
    coverage::find_missing_acks(&mut gaps, connection.has_spoken(sender.peer()));
    context::fill(&mut gaps, stretches);
    context::tell_reading(&mut gaps, &builder.reading);
    (gaps, bursts)
}

fn join(earlier: &Burst, later: &Burst) -> Burst {
    let (before, after) = (earlier.clump, later.clump);
    let pause = (later.start - earlier.end).max(before.longest_pause);
    let clump = Clump {
        count: before.count + after.count,
        longest_pause: after.longest_pause.max(pause),
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
