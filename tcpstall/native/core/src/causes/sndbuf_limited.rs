//! `sndbuf-limited` — the application was blocked in write() because the send buffer was full.
//!
//! Rule      an ACK ended the wait at once, both windows had room, the peer sent no payload in between, and the flight lay well
//!           below the modelled congestion window, and ten segments at least; a plateau over {plateau_rounds} rounds or more makes
//!           it sure, from two segments on, or from less to the byte, as do a few whole segments that stand for longer than any
//!           congestion window, without a loss; one full segment at a time over eight rounds makes it unsure. Not between short
//!           writes that mostly no ACK starts, or which together fill no more than a small part of any buffer, nor in step with
//!           bursts that no ACK released: an application's timer; nor where the buffer was empty before most rounds of a plateau
//!           and the data left later than a host or the path's jitter explains: a blocked writer wakes before its buffer is empty;
//!           not a plateau below what was out later, unless its flights are alike to the byte
//! Evidence  `in_flight_bytes`, `plateau_bytes`, `cwnd_estimate_segments`, `window_unused_bytes`; detail `plateau`, with
//!           `ceiling_bytes_per_s` (plateau / round trip), `buffer_low_bytes` to `buffer_high_bytes` (the SO_SNDBUF that it
//!           suggests), `buffer_needed_bytes` (for the peer's window, or twice the plateau)
//! Source    RFC 7323 §4.3 (data released by an ACK echoes its TSval); Linux `sk_stream_wait_memory`, `sk_stream_write_space`
//!           (SO_SNDBUF counts truesize of unsent and unacked data)
//! Abstains  the start of the connection was not captured, or packets are missing, also before the data that ended the wait: then
//!           only a plateau tells, after losses only one alike to the byte; a single flight before and after which no ACK released
//!           more with a large part of it in flight, unless flights alike to the byte end at ACKs too and none is larger, or one of
//!           a sender most of whose waits no ACK ended: a buffer that is full once is full again; a single flight larger than all
//!           others by a quarter, as of a window that grows; a single flight after whose ACK the data came later than a host wakes
//!           a writer, a single small flight, single segments, or few bytes: a buffer that small shows round after round; away from the
//!           sender, the only such wait of a flow without a plateau among five or more for the congestion window is one of these. Never
//!           sure where the sender's data often left just before an ACK, by the TSval that it echoes, where the peer's message let
//!           the data go after ACKs that had not or brought a segment or more, where the buffer was empty for most of the wait, or
//!           where it was empty before most rounds and their data came later than a host answers, where several writes of one size
//!           are out, of which more were out at other times, where other flights of the plateau were larger by a segment, where
//!           Nagle's algorithm may hold the end of a write, where one burst of no more whole segments than an initial window has
//!           came before a smaller flight (a window begins so after an idle period), or where few flights of whole segments show
//!           it: a congestion window grows as slowly; nor where flights of whole segments come from a sender that sets PSH on
//!           hardly any segment: nothing shows then that all data has left, and a window that follows the delay stands as well; nor
//!           where a sender that sets PSH on each segment shows flights of whole segments, however many: they may fill a window of
//!           its own that never grows; nor away from the sender where its last full segment lacks PSH although the end of its data
//!           has it, where only a plateau tells: BSD marks what empties the buffer, Linux not each time; nor after a retransmission
//!           timeout, needless or not: a sender need not take the lowered window back
//! Looks like `app-limited` (the wait does not end at an ACK), `cwnd-limited` (flight grows), `rwnd-limited` (no room)

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::nagle;
use super::rule::{Missing, Rule, Verdict, yes};
use crate::pause::LEAST_PAUSE;
use crate::pause::Pause;
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::time::Nanos;

pub(super) const RULE: Rule = Rule { cause: Cause::SndbufLimited, judge };

fn judge(pause: &Pause, limits: &Limits) -> Verdict {
    if pause.first || pause.is_turn() || !pause.refilled() || pause.context.ticks || pause.context.on_beat {
        return Verdict::No;
    }
    if pause.has_room().is_none() {
        return Verdict::CannotTell(Missing::WINDOW_SCALE);
    }
    // A small number of whole segments may be a congestion window that grows slowly: twice the rounds are needed to
    // exclude that.
    let slow = pause.segments_at_start < FEW && !pause.short_segment_out;
    let plateau = pause.context.plateau_rounds >= limits.plateau_rounds * if slow { 2 } else { 1 };
    // Flights alike to the byte are a buffer's, although others are larger: Linux counts its own overhead too.
    let plateau = plateau && (pause.stands_to_the_byte() || !exceeds(pause.context.read.most_later, pause));
    // A window that losses lowered before the capture began stands for as many rounds.
    let shown = plateau && (pause.losses == 0 || pause.stands_to_the_byte());
    // More than the tap saw was in flight, if what is missing left before the wait.
    if !plateau && !pause.near_sender() && pause.hole_before > 0 && pause.disorder == Nanos::ZERO {
        let held = pause.overtaken > Nanos::ZERO;
        return Verdict::CannotTell(if held { Missing::DEPARTURE } else { Missing::PACKETS });
    }
    if pause.flight_unknown || (!pause.cwnd_known && !shown) {
        return Verdict::CannotTell(if pause.from_start { Missing::PACKETS } else { Missing::START });
    }
    // Without the handshake the longest message of an application looks like a full segment.
    let segment = if pause.mss_known { pause.mss.min(USUAL_MSS) } else { pause.mss.clamp(LEAST_MSS, USUAL_MSS) };
    // A window counts segments: alike to the byte with less than a whole one at the end, flights show a smaller buffer.
    let lasts = pause.context.plateau_rounds >= ONE_BY_ONE && pause.flight_at_start > i64::from(pause.mss);
    let parts = plateau && lasts && pause.stands_to_the_byte();
    let tiny = pause.flight_at_start < i64::from(SMALLEST * segment) && !parts;
    let single = pause.segments_at_start == 1 && sends_one_by_one(pause);
    if !single && (tiny || pause.segments_at_start < if plateau { SMALLEST } else { INITIAL_WINDOW }) {
        return Verdict::CannotTell(if pause.overtaken > Nanos::ZERO { Missing::DEPARTURE } else { Missing::ROUNDS });
    }
    // A blocked writer fills the buffer again as soon as there is room: a buffer that holds the sender once holds it at the
    // flights before or after as well, or at as many bytes again; a sender that mostly goes on without an ACK is not blocked.
    let most = pause.context.read.most_before.max(pause.context.read.most_later);
    let alone = pause.context.lone && (exceeds(most, pause) || !pause.context.repeated);
    // A window that grows more slowly than modelled (RFC 3465: not all count each segment) makes a flight larger than all others.
    let grown = 4 * u64::from(pause.segments_at_start) > 5 * u64::from(most);
    if !plateau && (alone || grown || !pause.context.mostly_refilled) {
        return Verdict::CannotTell(Missing::ROUNDS);
    }
    // An ACK wakes a blocked writer at once; what comes later came by itself, or through a queue. Away from the sender the
    // path's jitter may have made it later.
    let woken = if pause.near_sender() { LEAST_PAUSE } else { pause.tolerance().max(LEAST_PAUSE) };
    if !plateau && pause.after_ack().is_some_and(|span| span > woken) {
        return Verdict::CannotTell(Missing::ROUNDS);
    }
    // The round alone is no evidence where more was in the buffer; away from the sender it is unsure in any case.
    let marked = pause.in_mid_write();
    if marked && !plateau && pause.near_sender() {
        return Verdict::No;
    }
    // A window that only the buffer keeps from being filled is twice the largest flight.
    let saturated = f64::from(pause.segments_at_start) <= SATURATED * f64::from(pause.cwnd);
    // A sender may keep a window of its own, in whole segments, that never grows; only PSH shows that all data has left.
    // A sender that sends each write by itself, with PSH, has the end of a write among the segments of any window.
    let marks = !pause.context.pushes_each;
    let whole = pause.context.plateau % i64::from(pause.mss.max(1)) == 0;
    let parted = pause.short_segment_out && (marks || !whole && pause.context.brimful);
    // Slow start may end without a loss (RFC 9406); then the window grows by no more than a segment a round trip.
    // Nor does a window that follows the delay grow (RFC 6817): without PSH nothing shows that all data has left.
    let shows_ends = marks && pause.context.traits.push.learnt().is_some();
    let lasts = shows_ends && pause.context.plateau_rounds >= 2 * limits.plateau_rounds;
    let most_of_whole = if lasts { 0.85 } else { OF_WHOLE };
    // A needless timeout lowers the window as well: a sender need not take that back (RFC 4015, RFC 5682 §3).
    let lowered = pause.losses > 0 || pause.context.timed_out;
    let (detail, confidence) = match (plateau, parted, lowered) {
        (true, true, false) => (details::PLATEAU, if saturated { 0.95 } else { 0.8 }),
        // A plateau of whole segments may be a congestion window that cannot grow; only a tap at the sender can tell
        // them apart.
        (true, false, false) => (details::PLATEAU, if pause.near_sender() { most_of_whole } else { 0.6 }),
        (true, _, _) => (details::PLATEAU, 0.7),
        // With one round alone, only the model can exclude other reasons.
        (false, _, _) => ("", UNSURE),
    };
    // Away from the sender a host that passes on what it receives shows a few alike flights as well.
    let few = !pause.near_sender() && pause.context.plateau_rounds <= limits.plateau_rounds;
    let confidence = if few { confidence.min(FEW_ROUNDS) } else { confidence };
    // A window that losses keep from growing is as small.
    let confidence = if pause.segments_at_start < FEW { confidence.min(0.7) } else { confidence };
    let confidence = if single || begins_alike(pause) { confidence.min(UNSURE) } else { confidence };
    let frames = pause.keeps_a_frame_back() || pause.context.cut_at.is_some() && pause.fills_frames();
    let queued = marked && !pause.near_sender();
    let messages = plateau && holds_messages(pause) && exceeds(most, pause);
    let by_message = pause.went_on_at_message() && pause.acks_let_nothing_go() || pause.context.let_go_by_messages;
    let most = match pause.released_at_once() {
        _ if pause.context.meets_acks => UNSURE,
        _ if pause.context.in_step || pause.context.plateau_late || by_message => UNSURE,
        _ if outlasts_ack(pause) || queued || messages || pause.peer_bytes >= u64::from(pause.mss) => UNSURE,
        _ if pause.context.plateau_passed || frames || below_plateau(pause) => PASSED,
        true if nagle::may_hold_tail(pause) => PASSED,
        true if pause.after_ack().is_none_or(|span| span <= LEAST_PAUSE) => 1.0,
        true => LESS_SURE,
        false => UNSURE,
    };
    yes(detail, most.min(confidence))
}

/// One full segment left at the ACK of the one before, round after round, without a loss: any congestion window would have
/// grown (RFC 5681 §3.1). Small stacks keep one segment for repair, and have no room for another.
fn sends_one_by_one(pause: &Pause) -> bool {
    let full = pause.mss_known && !pause.short_segment_out && pause.flight_at_start == i64::from(pause.mss);
    full && pause.losses == 0 && pause.context.plateau_rounds >= ONE_BY_ONE
}

/// One burst of whole segments, no more than an initial window has, and the next flight was smaller by a segment: this answer reached the
/// level once, as others did. After each idle period a congestion window begins anew so (RFC 5681 §4.1, RFC 6928).
fn begins_alike(pause: &Pause) -> bool {
    let whole = !pause.short_segment_out && pause.segments_at_start <= INITIAL_WINDOW;
    let once = pause.before.bytes as i64 == pause.flight_at_start;
    let ends = pause.context.next_flight.is_some_and(|next| next + i64::from(pause.mss) <= pause.flight_at_start);
    whole && once && ends
}

/// Several writes of one size are in flight, and each ends within a segment: what a buffer holds is no multiple of a write.
fn holds_messages(pause: &Pause) -> bool {
    let (write, ends) = (pause.before.bytes as i64, pause.before.pushed && !pause.before.ends_whole(pause.mss));
    ends && pause.flight_at_start > write && pause.flight_at_start % write.max(1) == 0
}

/// The buffer that other flights filled had room for a whole segment more.
fn below_plateau(pause: &Pause) -> bool {
    pause.context.plateau_rounds > 0 && pause.context.plateau - pause.flight_at_start >= i64::from(pause.mss)
}

/// More segments than this flight, or one of its plateau, by a quarter and by one at least: no buffer of that size held them.
fn exceeds(segments: u32, pause: &Pause) -> bool {
    let (flight, out) = (pause.flight_at_start.max(1), i64::from(pause.segments_at_start));
    let out = out * pause.context.plateau.max(flight) / flight;
    4 * i64::from(segments) > 5 * out && i64::from(segments) > out + 1
}

/// All data was acknowledged early in the wait: for most of it the buffer was empty, and a woken writer goes on at once.
fn outlasts_ack(pause: &Pause) -> bool {
    let after = pause.after_ack().unwrap_or_default();
    pause.left_in_flight == 0 && after + after > pause.duration()
}

/// Smallest usual buffer, in segments: with one segment in flight its ACK frees nothing that would wake a writer on Linux.
pub(super) const SMALLEST: u32 = 2;
/// Rounds of one full segment, or of less than two, that show a sender which keeps no more: in slow start the third has four.
pub(super) const ONE_BY_ONE: u32 = 8;
/// Segments below which a plateau may be a congestion window's: repeated losses keep it there.
const FEW: u32 = 4;
/// Payload of a full segment on Ethernet: buffers are no larger where segments are.
const USUAL_MSS: u32 = 1448;
/// Payload of a full segment where no path is known to carry larger ones (RFC 9293 §3.7.1).
pub(super) const LEAST_MSS: u32 = 536;
/// Flight over the modelled window where slow start ended only because no more was sent (Linux tcp_is_cwnd_limited),
/// with some room for data that was acknowledged meanwhile.
const SATURATED: f64 = 0.55;
/// Confidence by a plateau of few rounds away from the sender.
const FEW_ROUNDS: f32 = 0.75;
/// Confidence of a plateau of whole segments over fewer rounds than show a window that grows by a
/// segment a round trip, or of a sender that does not mark the end of its data.
const OF_WHOLE: f32 = 0.75;
/// Confidence where the sender once went on at that level without an ACK, where a congestion window keeps frames back,
/// where a held tail and the next write coincide by chance, or where other flights were larger by a segment.
const PASSED: f32 = 0.7;
/// Confidence where the data followed the ACK within the path's jitter.
const LESS_SURE: f32 = 0.8;
/// Confidence where the data followed a little after the ACK, or in step with some that no ACK released, and so may have
/// come by itself.
const UNSURE: f32 = 0.6;
