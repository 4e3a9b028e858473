//! Feeds the traits with gaps, and gives each gap the evidence of the traits.

use super::evidence::{Burst, Gap};
use crate::sender::timers;
use crate::traits::{self, Round, Second, Tail};

/// Consecutive steps of growth that overrule the model of the congestion window, because the model begins with common
/// senders' habits.
const SURE_STEPS: u32 = 2;

/// Part of a round trip within which data follows the ACK that released it, however much the path jitters.
pub const SOON: f64 = 0.5;

/// Learns the sender's traits from its gaps in order of time.
pub(super) fn read(gaps: &mut [Gap]) {
    let mut acked = 0;
    let mut una = None;
    let mut rounds: Vec<Round> = gaps.iter().map(|gap| round(gap, &mut una, &mut acked)).collect();
    for at in 0..rounds.len() {
        rounds[at].from_empty = at == 0 || rounds[at - 1].emptied;
    }
    let (traits, reads) = traits::learn(&rounds);
    forget_idles(gaps);
    for ((gap, read), round) in gaps.iter_mut().zip(reads).zip(&rounds) {
        (gap.context.traits, gap.context.read) = (traits, read);
        if read.climb >= SURE_STEPS {
            gap.cwnd = gap.cwnd.min(round.out);
        }
        if read.before_idle.is_some() && gap.cwnd_before_idle.is_none() {
            (gap.cwnd_before_idle, gap.cwnd_after_idle) = (read.before_idle, traits.after_idle.value);
            gap.old_window_known = true;
        }
    }
}

/// Removes idle periods that were losses: a loss lowered the window, not the idling.
fn forget_idles(gaps: &mut [Gap]) {
    let mut lost = false;
    for gap in gaps {
        if lost {
            (gap.cwnd_before_idle, gap.cwnd_after_idle) = (None, None);
        }
        if outlasts_timer(gap) {
            lost = gap.broke_off();
        }
    }
}

/// All data was acknowledged, and more was sent only after the retransmission timer would have fired.
fn outlasts_timer(gap: &Gap) -> bool {
    gap.ended && gap.left_in_flight == 0 && gap.duration() > timers::rto(gap.srtt)
}

fn round(gap: &Gap, una: &mut Option<i64>, acked: &mut u64) -> Round {
    let mss = i64::from(gap.mss.max(1));
    let released = gap.released_by_ack();
    let trails = released && gap.near_sender();
    let trailing = i64::from(gap.segments_at_start.saturating_sub(gap.segments_held)) * mss;
    let mut edge = gap.left_edge - gap.acked + if trails { trailing } else { 0 };
    let mut out = if trails { gap.segments_held } else { gap.segments_at_start };
    if answered_early(gap) {
        edge = gap.left_edge + gap.left_in_flight - gap.before.bytes as i64;
        out = out.max(gap.before.bytes.div_ceil(mss as u64) as u32);
    }
    let newly = una.map_or(0, |una| (edge - una).max(0));
    *una = Some(una.map_or(edge, |una| una.max(edge)));
    *acked += newly as u64;
    let disturbed = gap.retransmissions > 0
        || gap.recovering
        || gap.flight_unknown
        || gap.lost_before_tap > 0
        || gap.broke_off()
        || !gap.unseen.is_nothing();
    Round {
        out,
        acks: gap.before.acks,
        acked: *acked / mss as u64,
        released: released && !gap.fell_silent() && !gap.is_turn(),
        open: gap.has_room() != Some(false) && gap.closed.is_none(),
        disturbed,
        idle: !disturbed && outlasts_timer(gap),
        emptied: gap.left_in_flight == 0,
        no_burst: gap.first,
        from_empty: false,
        tail: tail(gap, &gap.before),
        next: tail(gap, &gap.after),
        acks_inside: gap.acks,
        second: second(gap),
    }
}

/// The tap at the receiver counted ACKs as soon as they left, before its distance was known: the sender still had the
/// whole burst in flight.
fn answered_early(gap: &Gap) -> bool {
    gap.unseen.blind && !gap.first && gap.distance > gap.rtt().scaled(0.5)
}

/// Classifies the end of a burst. In a full window the last segment is as long as the rest of the window.
fn tail(gap: &Gap, burst: &Burst) -> Tail {
    let last = burst.last_frame;
    if burst.ends_whole(gap.mss) || gap.has_room() == Some(false) {
        Tail::Whole
    } else if burst.frames == 1 && last < gap.mss && burst.in_flight <= u64::from(last) {
        Tail::ShortAlone
    } else {
        Tail::ShortWithMore
    }
}

/// Classifies the reaction to a short segment that was alone in flight: in the burst after the gap, or after the gap
/// itself.
fn second(gap: &Gap) -> Second {
    let (mss, first) = (u64::from(gap.mss), u64::from(gap.after.first_frame));
    if !gap.ended || gap.left_in_flight > 0 || first >= mss {
        return Second::None;
    }
    let rest = gap.after.bytes - first.min(gap.after.bytes);
    if rest >= mss && gap.after.frames <= 1 + rest.div_ceil(mss) {
        return Second::FullAtOnce;
    }
    if gap.after.frames > 1 {
        return Second::ShortAtOnce;
    }
    let waited = gap.short_segment_out && gap.segments_at_start == 1 && gap.peer_bytes == 0 && !gap.first;
    match gap.after_ack().filter(|_| waited) {
        Some(span) if span <= gap.rtt().scaled(SOON) => Second::Held,
        Some(_) => Second::Later,
        None => Second::None,
    }
}
