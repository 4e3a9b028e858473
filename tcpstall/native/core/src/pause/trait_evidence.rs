//! Feeds the traits with pauses, and gives each pause the evidence of the traits.

use super::burst::Burst;
use super::evidence::Pause;
use crate::sender::timers;
use crate::traits::{self, BurstAndPause, Read, Second, Tail};

/// Consecutive steps of growth that overrule the model of the congestion window, because the model begins with common
/// senders' habits.
const SURE_STEPS: u32 = 2;

/// Pauses of a short flow: no more than these need no memory from the heap.
const FEW: usize = 4;

/// Learns the sender's traits from its pauses in order of time.
pub(super) fn read(pauses: &mut [Pause]) {
    let count = pauses.len();
    if count <= FEW {
        let (mut rounds, mut reads) = ([BurstAndPause::default(); FEW], [Read::default(); FEW]);
        learn(pauses, &mut rounds[..count], &mut reads[..count]);
    } else {
        learn(pauses, &mut vec![BurstAndPause::default(); count], &mut vec![Read::default(); count]);
    }
}

/// The same with room for a round and its evidence per pause.
fn learn(pauses: &mut [Pause], rounds: &mut [BurstAndPause], reads: &mut [Read]) {
    let (mut acked, mut una, mut emptied) = (0, None, true);
    for (pause, room) in pauses.iter().zip(&mut *rounds) {
        *room = BurstAndPause { from_empty: emptied, ..round(pause, &mut una, &mut acked) };
        emptied = room.emptied;
    }
    let traits = traits::learn(rounds, reads);
    let first = rounds.iter().find(|round| !round.no_burst).map_or(0, |round| round.out);
    forget_idles(pauses, first);
    for ((pause, read), round) in pauses.iter_mut().zip(reads).zip(rounds) {
        let read = *read;
        (pause.context.traits, pause.context.read) = (traits, read);
        if read.climb >= SURE_STEPS {
            pause.cwnd = pause.cwnd.min(round.out);
        }
        if read.before_idle.is_some() && pause.cwnd_before_idle.is_none() {
            (pause.cwnd_before_idle, pause.cwnd_after_idle) = (read.before_idle, traits.after_idle.value);
            pause.old_window_known = true;
        }
    }
}

/// Removes idle periods that were losses: a loss lowered the window, not the idling.
fn forget_idles(pauses: &mut [Pause], first: u32) {
    let mut lost = false;
    for pause in pauses {
        lost |= is_below_restart(pause, first);
        if lost {
            (pause.cwnd_before_idle, pause.cwnd_after_idle) = (None, None);
        }
        if outlasts_timer(pause) {
            lost = pause.broke_off();
        }
    }
}

/// An ACK ended a wait with fewer whole segments out than the flow began with, which is less than any idle period leaves (RFC
/// 5681 §4.1: the smaller of the initial window and the window before): a loss had lowered the window further.
fn is_below_restart(pause: &Pause, first: u32) -> bool {
    let below = pause.cwnd_after_idle.is_some_and(|restarted| pause.segments_held < restarted.min(first));
    let waits = pause.released_by_ack() && !pause.is_turn() && pause.has_room() == Some(true);
    below && waits && !pause.short_segment_out && !pause.flight_unknown
}

/// All data was acknowledged, and more was sent only after the retransmission timer would have fired.
fn outlasts_timer(pause: &Pause) -> bool {
    pause.ended && pause.left_in_flight == 0 && pause.duration() > timers::rto(pause.srtt)
}

/// All data was acknowledged, and more was sent only after the shortest retransmission timer of any stack would have
/// fired. Some stacks apply the floor of 200 ms to the whole timer, and not to its variance part (RFC 6298 §2.4): the
/// flights after the silence show whether the window was lowered.
fn outlasts_floor(pause: &Pause) -> bool {
    let floor = pause.srtt.map_or(timers::INITIAL_RTO, |srtt| srtt.max(timers::LINUX_RTO_MIN));
    pause.ended && pause.left_in_flight == 0 && pause.duration() > floor
}

fn round(pause: &Pause, una: &mut Option<i64>, acked: &mut u64) -> BurstAndPause {
    let mss = i64::from(pause.mss.max(1));
    let released = pause.released_by_ack();
    let trails = released && pause.near_sender();
    let trailing = i64::from(pause.segments_at_start.saturating_sub(pause.segments_held)) * mss;
    let mut edge = pause.left_edge - pause.acked + if trails { trailing } else { 0 };
    let mut out = if trails { pause.segments_held } else { pause.segments_at_start };
    if answered_early(pause) {
        edge = pause.left_edge + pause.left_in_flight - pause.before.bytes as i64;
        out = out.max(pause.before.bytes.div_ceil(mss as u64) as u32);
    }
    let newly = una.map_or(0, |una| (edge - una).max(0));
    *una = Some(una.map_or(edge, |una| una.max(edge)));
    *acked += newly as u64;
    let disturbed = pause.retransmissions > 0
        || pause.recovering
        || pause.flight_unknown
        || pause.lost_before_tap > 0
        || pause.broke_off()
        || !pause.unseen.is_nothing();
    // In a full window the last segment is as long as the rest of the window.
    let full = pause.has_room() == Some(false);
    let let_room_pass = pause.closed.is_none() && pause.let_room_pass();
    BurstAndPause {
        out,
        acks: pause.before.acks,
        acked: *acked / mss as u64,
        released: released && !pause.fell_silent() && !pause.is_turn(),
        open: !full && pause.closed.is_none(),
        let_room_pass,
        disturbed,
        idle: !disturbed && outlasts_floor(pause),
        emptied: pause.left_in_flight == 0,
        no_burst: pause.first,
        from_empty: false,
        tail: if full { Tail::Whole } else { tail(pause, &pause.before) },
        next: if full && !let_room_pass { Tail::Whole } else { tail(pause, &pause.after) },
        acks_inside: pause.acks,
        second: second(pause),
        pushed: pause.before.pushed,
        pushes: pause.before.pushes,
        answered: pause.is_turn(),
        several_short: pause.has_several_short(),
        losses: pause.losses,
        hole: pause.hole.is_some(),
    }
}

/// The tap at the receiver counted ACKs as soon as they left, before its distance was known: the sender still had the
/// whole burst in flight.
fn answered_early(pause: &Pause) -> bool {
    pause.unseen.blind && !pause.first && pause.distance > pause.rtt().scaled(0.5)
}

/// Classifies the end of a burst.
fn tail(pause: &Pause, burst: &Burst) -> Tail {
    let last = burst.last_frame;
    if burst.ends_whole(pause.mss) {
        Tail::Whole
    } else if burst.frames == 1 && last < pause.mss && burst.in_flight <= u64::from(last) {
        Tail::ShortAlone
    } else {
        Tail::ShortWithMore
    }
}

/// Classifies the reaction to a short segment that was alone in flight: in the burst after the pause, or after the pause
/// itself.
fn second(pause: &Pause) -> Second {
    let (mss, first) = (u64::from(pause.mss), u64::from(pause.after.first_frame));
    if !pause.ended || pause.left_in_flight > 0 || first >= mss {
        return Second::None;
    }
    let rest = pause.after.bytes - first.min(pause.after.bytes);
    if rest >= mss && pause.after.frames <= 1 + rest.div_ceil(mss) {
        return Second::FullAtOnce;
    }
    if pause.after.frames > 1 {
        return Second::ShortAtOnce;
    }
    let waited = pause.short_segment_out && pause.segments_at_start == 1 && pause.peer_bytes == 0 && !pause.first;
    match pause.after_ack().filter(|_| waited) {
        Some(_) if pause.followed_soon() => Second::Held,
        Some(_) => Second::Later,
        None => Second::None,
    }
}
