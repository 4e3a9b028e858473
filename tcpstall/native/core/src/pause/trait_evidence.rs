//! Feeds the traits with pauses, gives each context their evidence, and settles the congestion windows by them.

mod merged_acks;
pub(super) mod spare_segment;

use super::burst::Burst;
use super::evidence::Facts;
use super::evidence::repair::PauseRepairs;
use super::pauses::Context;
use crate::sender::cwnd::{CongestionPhase, INITIAL_WINDOW};
use crate::sender::timers;
use crate::traits::{self, BurstAndPause, Read, Second, Tail};

/// Consecutive steps of growth that overrule the model of the congestion window, because the model begins with common
/// senders' habits.
const SURE_STEPS: u32 = 2;

/// Pauses of a short flow: no more than these need no memory from the heap.
const FEW: usize = 4;

/// Learns the sender's traits from its pauses in order of time, and settles the congestion windows by them: returns the
/// pauses. The traits, and the evidence that they give, go into the `contexts`.
pub(super) fn settle(pauses: Vec<Facts>, contexts: &mut [Context]) -> Vec<Facts> {
    let count = pauses.len();
    if count <= FEW {
        let (mut rounds, mut reads) = ([BurstAndPause::default(); FEW], [Read::default(); FEW]);
        learn(pauses, contexts, &mut rounds[..count], &mut reads[..count])
    } else {
        learn(pauses, contexts, &mut vec![BurstAndPause::default(); count], &mut vec![Read::default(); count])
    }
}

/// The same with room for a round and its evidence per pause.
fn learn(
    mut pauses: Vec<Facts>,
    contexts: &mut [Context],
    rounds: &mut [BurstAndPause],
    reads: &mut [Read],
) -> Vec<Facts> {
    let (mut acked, mut una, mut emptied) = (0, None, true);
    for (pause, room) in pauses.iter().zip(&mut *rounds) {
        *room = BurstAndPause { from_empty: emptied, ..round(pause, &mut una, &mut acked) };
        emptied = room.emptied;
    }
    let traits = traits::learn(rounds, reads);
    for (context, read) in contexts.iter_mut().zip(&*reads) {
        (context.traits, context.read) = (traits, *read);
    }
    let first = rounds.iter().find(|round| !round.no_burst).map_or(0, |round| round.out);
    let merged = merged_acks::are_counted_twice(&pauses, rounds);
    let mut timed_out = false;
    let mut windows = Windows { first, after_idle: traits.after_idle.value, ..Windows::default() };
    for ((pause, context), (round, read)) in pauses.iter_mut().zip(contexts).zip(rounds.iter().zip(&*reads)) {
        context.after_timeout = windows.is_restarted(pause);
        context.timed_out = timed_out;
        timed_out |= pause.repair.as_deref().is_some_and(PauseRepairs::is_timed_out);
        let counted_twice = pause.two_per_ack.filter(|window| merged && pause.losses == 0 && *window < pause.cwnd);
        let Window { cwnd, before_idle, after_idle, old_known } = windows.settled(pause, round, read);
        (pause.cwnd, pause.old_window_known) = (cwnd, old_known);
        (pause.cwnd_before_idle, pause.cwnd_after_idle) = (before_idle, after_idle);
        if let Some(window) = counted_twice {
            // Without a loss no sender of this kind leaves slow start (RFC 5681 §3.1).
            (pause.cwnd, pause.phase) = (window.max(pause.segments_held), CongestionPhase::SlowStart);
        }
    }
    pauses
}

/// The congestion window at a pause.
struct Window {
    cwnd: u32,
    before_idle: Option<u32>,
    after_idle: Option<u32>,
    old_known: bool,
}

impl Window {
    fn of(pause: &Facts) -> Window {
        let Facts { cwnd, cwnd_before_idle, cwnd_after_idle, old_window_known, .. } = *pause;
        Window { cwnd, before_idle: cwnd_before_idle, after_idle: cwnd_after_idle, old_known: old_window_known }
    }
}

/// Settles the windows of one sender's pauses one after the other.
#[derive(Default)]
struct Windows {
    /// Segments out at the sender's first wait.
    first: u32,
    /// Window after an idle period, by the traits.
    after_idle: Option<u32>,
    /// A loss has lowered the window since it was last known.
    lost: bool,
    /// The retransmission timer has lowered the window to a segment, and the flights still climb back.
    restarted: bool,
    /// Segments acknowledged before the last idle period.
    acked: u64,
    /// Window of slow start before the last climb, if that had grown by each acknowledged segment (RFC 5681 §3.1) from where the climb
    /// starts.
    old: u64,
    /// Most segments out since a loss whose repair was new to the tap: the model did not see that it had lowered the window.
    since_loss: Option<u32>,
}

impl Windows {
    /// A timeout that the tap saw only as a silence in the middle of a write came before the `pause`: the window began again with
    /// a segment (RFC 5681 §3.1).
    fn is_restarted(&mut self, pause: &Facts) -> bool {
        let restarted = self.restarted && !pause.first && !pause.is_turn() && pause.segments_at_start < INITIAL_WINDOW;
        self.restarted = restarted || pause.broke_off();
        restarted
    }

    /// The window at the next `pause`. Idle periods that were losses are none: a loss lowered the window, not the idling.
    fn settled(&mut self, pause: &Facts, round: &BurstAndPause, read: &Read) -> Window {
        let mut window = Window::of(pause);
        if restarts_lower(pause, read) {
            self.first = self.first.min(round.out);
        }
        self.lost |= is_below_restart(pause, self.first);
        if self.lost {
            (window.before_idle, window.after_idle) = (None, None);
        }
        if outlasts_timer(pause) {
            self.lost = pause.broke_off();
            self.acked = round.acked + u64::from(round.out);
        }
        if read.climb_starts {
            self.old = u64::from(round.out) + self.acked;
        }
        if read.climb >= SURE_STEPS && !read.merged && round.out < window.cwnd {
            window.cwnd = round.out;
            window.old_known &= window.before_idle.is_some() || u64::from(round.out) >= self.old;
        }
        if self.is_above_all_since_loss(&window) {
            (window.before_idle, window.after_idle) = (None, None);
        }
        if read.before_idle.is_some() && window.before_idle.is_none() && !self.lost {
            (window.before_idle, window.after_idle, window.old_known) = (read.before_idle, self.after_idle, true);
        }
        let most = self.since_loss.map(|most| most.max(round.out));
        self.since_loss = if is_repaired_unseen(pause) { Some(0) } else { most };
        window
    }

    /// The window that the model had before the idle period, or has after it, is larger than all that was out since a loss that the
    /// model did not see: the loss had lowered it, not the idle period.
    fn is_above_all_since_loss(&self, window: &Window) -> bool {
        self.since_loss.zip(window.before_idle).is_some_and(|(most, before)| most < before)
    }
}

/// An ACK ended a wait with fewer whole segments out than the flow began with, which is less than any idle period leaves (RFC
/// 5681 §4.1: the smaller of the initial window and the window before): a loss had lowered the window further.
fn is_below_restart(pause: &Facts, first: u32) -> bool {
    // Away from the sender ACKs seem to trail a burst that released more of it: the path's jitter moves them.
    let out = if pause.near_sender() { pause.segments_held } else { pause.segments_at_start };
    let below = pause.cwnd_after_idle.is_some_and(|restarted| out < restarted.min(first));
    let waits = || pause.released_by_ack() && !pause.is_turn() && pause.has_room() == Some(true);
    below && !pause.short_segment_out && !pause.flight_unknown && waits()
}

/// Away from the sender the segment that ended the wait alone, after a timer's time, repaired a loss, as the numbers of packets that
/// never came show. No copy of it had reached the tap: it is new there.
fn is_repaired_unseen(pause: &Facts) -> bool {
    let lost = pause.lost_before_tap > 0 && pause.hole_before == 0 && pause.retransmissions == 0;
    let alone = pause.ended && pause.after.bytes <= u64::from(pause.mss);
    lost && alone && !pause.near_sender() && pause.duration() >= timers::shortest_rto(pause.srtt)
}

/// Without a loss the flights climb from this wait on, the first after the idle period, which had more than a segment out: some
/// restart below their initial window (4.4BSD and its descendants, RFC 2581 §4.1: no more than the initial window), while the
/// retransmission timer leaves a segment (RFC 5681 §3.1).
fn restarts_lower(pause: &Facts, read: &Read) -> bool {
    let climbs = read.climb_starts && read.climb >= SURE_STEPS && pause.losses == 0;
    climbs && pause.segments_at_start > 1 && pause.before.bytes as i64 == pause.flight_at_start
}

/// All data was acknowledged, and more was sent only after the retransmission timer would have fired.
fn outlasts_timer(pause: &Facts) -> bool {
    pause.ended && pause.left_in_flight == 0 && pause.duration() > timers::rto(pause.srtt)
}

/// All data was acknowledged, and more was sent only after the shortest retransmission timer of any stack would have
/// fired. Some stacks apply the floor of 200 ms to the whole timer, and not to its variance part (RFC 6298 §2.4): the
/// flights after the silence show whether the window was lowered.
fn outlasts_floor(pause: &Facts) -> bool {
    pause.ended && pause.left_in_flight == 0 && pause.duration() > timers::shortest_rto(pause.srtt)
}

fn round(pause: &Facts, una: &mut Option<i64>, acked: &mut u64) -> BurstAndPause {
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
        counted: pause.two_per_ack.filter(|_| trailing == 0 || !trails),
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
        short_behind_short: pause.has_short_behind_short(),
        losses: pause.losses,
        hole: pause.hole.is_some(),
    }
}

/// The tap at the receiver counted ACKs as soon as they left, before its distance was known: the sender still had the
/// whole burst in flight.
fn answered_early(pause: &Facts) -> bool {
    pause.unseen.blind && !pause.first && pause.distance > pause.rtt().scaled(0.5)
}

/// Classifies the end of a burst.
fn tail(pause: &Facts, burst: &Burst) -> Tail {
    let last = burst.last_frame;
    // What leaves with a FIN is exempt from Nagle's algorithm (4.4BSD `tcp_output`, Linux `tcp_nagle_test`).
    if burst.ends_whole(pause.mss) || burst.closes {
        Tail::Whole
    } else if burst.frames == 1 && last < pause.mss && burst.in_flight <= u64::from(last) {
        Tail::ShortAlone
    } else {
        Tail::ShortWithMore
    }
}

/// Classifies the reaction to a short segment that was alone in flight: in the burst after the pause, or after the pause
/// itself.
fn second(pause: &Facts) -> Second {
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
