//! `delayed-ack` — the peer held its ACK back and the sender could not go on without it.
//!
//! Rule      one or two segments were unacknowledged, or a sub-MSS one that held the next back; one ACK covered them 20 ms and a
//!           quarter of the round trip or more after it, at most 500 ms, and data followed at once; detail `nagle` where the sender
//!           held a small segment, which may also have left alone when the probe timer fired before the ACK came. Not where a whole
//!           segment followed, unless a congestion window of that size, or one that losses had lowered, held it, or ACKs let what
//!           followed as many bytes go again and again. Unsure where writes of one size also came by themselves
//! Evidence  `in_flight_bytes`, `freed_by_packet`
//! Source    RFC 9293 §3.8.6.3, RFC 5681 §4.2, RFC 8985 §7.3; Linux TCP_DELACK_MIN 40 ms, TCP_DELACK_MAX 200 ms,
//!           `tcp_send_loss_probe`
//! Abstains  no round trip known; where the peer's FIN reached the sender with the ACK or after it, the wait is `app-limited`, and
//!           this cause is also possible
//! Looks like `nagle`, `retransmission` (the timer was about to fire), `rwnd-limited` (a slow reader's ACK)

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::nagle;
use super::rule::{Missing, Rule, Verdict, yes};
use super::tail_probe;
use crate::pause::Pause;
use crate::sender::timers;
use crate::time::Nanos;

pub(super) const RULE: Rule = Rule { cause: Cause::DelayedAck, judge };

/// Half of Linux's shortest delayed-ACK timer: an ACK this much later than the round trip was delayed deliberately.
pub(super) const SHORTEST: Nanos = Nanos::from_millis(20);
/// Share of the shortest round trip by which round trips of a long path vary: a smaller delay does not prove a timer.
pub(super) const JITTER: f64 = 0.25;

fn judge(pause: &Pause, _: &Limits) -> Verdict {
    let nagle = !nagle::does_not_hold(pause);
    if nagle && tail_probe::sent_held_data(pause) {
        // The ACK that would have shown the delay may as well be lost.
        return yes(details::HELD_BY_NAGLE, 0.75);
    }
    let Some(rtt) = pause.base_rtt else { return Verdict::CannotTell(Missing::ROUND_TRIP) };
    let excess = pause.duration() - rtt;
    let waited = excess >= SHORTEST.max(rtt.scaled(JITTER)) && excess <= timers::LONGEST_DELAYED_ACK;
    if !waited || pause.peer_bytes > 0 || !pause.released_by_ack() {
        return Verdict::No;
    }
    let small_alone = pause.after.frames == 1 && pause.after.bytes < u64::from(pause.mss);
    if nagle && pause.short_segment_out && !pause.short_segment_left && small_alone {
        // Some writes of one size came at times of their own: this one may have come late in the wait.
        let by_itself = pause.context.plateau_passed && nagle::repeats_write(pause);
        let unsure = nagle::may_be_full(pause) || by_itself;
        return yes(details::HELD_BY_NAGLE, if unsure { nagle::UNSURE } else { 0.95 });
    }
    // RFC 5681 §4.2: the second full segment is acknowledged at once.
    let may_wait = pause.segments_at_start == 1 || (pause.segments_at_start == 2 && pause.short_segment_out);
    // Nothing but a window of that size holds a whole segment back, where the SYNs tell what is whole.
    let whole = pause.from_start && pause.mss_known && pause.after.first_frame >= pause.mss;
    let free = whole && pause.losses == 0 && (!pause.cwnd_known || pause.cwnd > pause.segments_at_start);
    let free = free && !waits_each_time(pause);
    let one_ack = pause.acks == 1 && pause.left_in_flight == 0 && may_wait && !free;
    if one_ack { yes("", 0.7) } else { Verdict::No }
}

/// ACKs let go what followed after as many bytes again and again, and this one at once: no accident. A sender whose buffer takes no
/// write before it is empty goes on as late as the peer acknowledges.
fn waits_each_time(pause: &Pause) -> bool {
    let context = pause.context;
    context.repeated && context.mostly_refilled && !context.meets_acks && !context.on_beat && pause.released_at_once()
}
