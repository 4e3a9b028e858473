//! `app-limited` — the application had nothing to send.
//!
//! Rule      everything was acknowledged and the sender was still silent, both windows open; or the peer's payload came
//!           and the answer followed (the peer's turn, then thinking); or, with data in flight, neither an ACK nor a
//!           timer started the next segment and the last one was short: the next may also have met an ACK, if the TSval that it
//!           echoes shows that it left before; or the flow's data goes on at the peer's messages, after
//!           ACKs that let nothing go: a window of the protocol above TCP; or short writes come at the tick of a timer, some of
//!           them soon after an ACK; or each end sends a message of one size and waits for the other's
//! Evidence  `in_flight_bytes`, `freed_by_packet`, `freed_to_data_ns`; detail `idle`, `think-time`, `awaiting-peer`,
//!           `application-window`
//! Source    RFC 7661 §3; RFC 7323 §4.3 (an ACK updates the echo before it releases data); RFC 9113 §5.2 and RFC 4254 §5.2
//!           (windows above TCP); Linux TCP_CHRONO (busy time stops when the write queue is empty)
//! Abstains  packets are missing, so that what was in flight is not known; for most of its first wait the server sent its
//!           SYN-ACK again: no request had reached it; ACKs are missing and the last segment was full; the peer's payload came
//!           into an upload of whole segments, whose ACK let it go on at once; for less than the retransmission timer after a
//!           full segment without PSH, from a sender that marks the end of its data; away from the sender, several whole
//!           segments without PSH, after whose ACK more followed soon; there, data that by its echo left before the ACKs of
//!           whole segments came, on a path that had grown; a report of a loss released the next data, which had been queued;
//!           or the next data had left its sender long before, by its timestamps, and sat in a queue before the tap (never sure
//!           where the sender's clock is too coarse to tell). Data answers nothing of the peer that it does not acknowledge: it
//!           left before, and is never sure. Never sure where the first data came no later than the path of the handshake
//!           explains, although later round trips were shorter, nor amid the server's data where the path behind a relay that
//!           may acknowledge for the server explains the pause, nor of a short answer that left as an ACK came, nor where
//!           nothing in flight was acknowledged until the time of the probe timer, nor away from the sender where packets are
//!           missing before the next data, or where the last segment was whole and without PSH, as that of a sender which marks
//!           the end of its data or whose modelled window it filled (but for silences longer than any path), nor where the
//!           silence after the ACK of several whole segments was the smaller part of the wait (a busy host), nor where a whole
//!           segment with PSH came next while data was out (Nagle's algorithm may have held the write that ended in it), nor
//!           where the flight is as long as whole segments although the last was short, or counts as many as the modelled
//!           window holds, nor away from the sender, with data in flight, where the last segment was short and had no PSH, but
//!           others have: a window may have cut it
//! Looks like `sndbuf-limited` (each wait ends at an ACK), `retransmission` (a lost tail), `nagle`, `zero-window`

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::nagle;
use super::rule::{Missing, Rule, Verdict, yes};
use super::tail_probe;
use crate::pause::Pause;
use crate::sender::timers;

pub(super) const RULE: Rule = Rule { cause: Cause::AppLimited, judge };

/// Factor by which a route change hardly ever lengthens the round trip.
const LONGER_PATH: f64 = 4.0;

/// Segments in flight that show a transfer, and not a request.
const SEVERAL: u32 = 4;

/// Away from the sender: its last segment was whole and had no PSH, although it marks the end of its data, or its modelled window was
/// full to the segment. The path may have held the ACKs or what they let go, for longer than it mostly takes.
fn may_wait_in_mid_write(pause: &Pause) -> bool {
    let full = pause.cwnd_known && pause.segments_at_start == pause.cwnd && pause.losses == 0;
    let marks = pause.context.traits.push.value.is_some();
    (full || marks) && !pause.near_sender() && !pause.outlasts_paths() && pause.before.is_cut(pause.mss)
}

/// Judges by the sender's data alone: all data in flight had been acknowledged, or the sender would have retransmitted
/// it.
fn without_acks(pause: &Pause) -> Verdict {
    let short = !pause.before.ends_whole(pause.mss);
    let long = pause.duration() > timers::INITIAL_RTO;
    if short || long { yes(details::IDLE, 0.6) } else { Verdict::CannotTell(Missing::ACKS) }
}

/// From the first flight on each one was larger, a round trip after the one before, as in slow start: no application writes so.
fn starts_slowly(pause: &Pause) -> bool {
    let next = pause.context.next_flight.filter(|_| pause.context.doubling && pause.losses == 0);
    next.is_some_and(|next| 3 * next >= 4 * pause.flight_at_start) && pause.released_soon()
}

/// The peer's payload came while whole segments were in flight, and their ACK, later than that payload by more than a host takes,
/// let whole segments go on at once: an answer would not wait for it.
fn goes_on_uploading(pause: &Pause) -> bool {
    let full = pause.before.ends_whole(pause.mss) && pause.after.first_frame >= pause.mss;
    let several = pause.segments_at_start >= SEVERAL && pause.near_sender() && pause.losses == 0;
    let later = pause.after_peer().is_some_and(|thinking| thinking > pause.rtt().part(4));
    full && several && later && pause.released_at_once()
}

/// The flight is one message, alike to the byte with those before, and a message of the peer came during the wait: each end waits
/// for the other's.
fn exchanges_messages(pause: &Pause) -> bool {
    let one = pause.before.bytes as i64 == pause.flight_at_start && pause.stands_to_the_byte();
    one && pause.peer_bytes >= u64::from(pause.mss)
}

/// Several whole segments, the last without PSH, ended no write (RFC 9293 §3.9.1.2), and more followed within a part of a round
/// trip after their ACK: a window may have cut them, and a path that varies delayed the answer.
fn may_be_cut(pause: &Pause) -> bool {
    let whole = pause.mss_known && pause.segments_at_start > 1 && pause.after.first_frame >= pause.mss;
    whole && pause.before.is_cut(pause.mss) && pause.followed_soon()
}

/// Several whole segments were out, the last without PSH or as many as before, and the silence after their ACK was the smaller part of
/// the wait: a host that is busy, or whose stack is a process, runs that late, and goes on with what a window or a buffer had held.
fn may_be_busy(pause: &Pause, limits: &Limits) -> bool {
    let several = pause.mss_known && pause.segments_at_start > 1 && !pause.short_segment_out;
    let whole = several && pause.before.ends_whole(pause.mss) && pause.after.first_frame >= pause.mss;
    let held = pause.before.is_cut(pause.mss) || pause.context.plateau_rounds >= limits.plateau_rounds;
    whole && held && pause.after_ack().is_some_and(|span| span + span < pause.duration())
}

/// The whole segment that came next had PSH, with data outstanding: an earlier write had ended within it, as Nagle's algorithm may
/// have held that back until this one filled the segment up (lwIP's `tcp_write` keeps the mark).
fn fills_held(pause: &Pause) -> bool {
    let whole = pause.mss_known && pause.after.first_frame == pause.mss;
    whole && pause.after.first_pushed && pause.left_in_flight > 0 && !nagle::does_not_hold(pause)
}

fn judge(pause: &Pause, limits: &Limits) -> Verdict {
    if pause.first && !pause.from_start && pause.hole_before > 0 {
        // The capture lacks the beginning of the answer, which may have left long before.
        return Verdict::CannotTell(Missing::PACKETS);
    }
    // The path lost or delayed the request: the server may have thought only after its SYN-ACK.
    let unasked = pause.context.unasked_until.map(|until| until - pause.start());
    if unasked.is_some_and(|span| span + span > pause.duration()) {
        return Verdict::CannotTell(Missing::REQUEST);
    }
    if pause.first || pause.is_turn() && !goes_on_uploading(pause) {
        let thinking = pause.after_peer().unwrap_or(pause.duration());
        let detail = if thinking + thinking >= pause.duration() { details::THINK_TIME } else { details::AWAITING_PEER };
        // What was lost before the tap left earlier.
        let lost = !pause.near_sender() && (pause.hole_before > 0 || pause.lost_before_tap > 0);
        // Data in flight before the capture began may have delayed the first data that the capture holds; so may a path that
        // was still as long as in the handshake.
        let opening = pause.first && !pause.from_start || pause.context.as_in_handshake || unasked.is_some();
        let delayed = opening || lost || pause.left_together;
        return yes(detail, if delayed { 0.75 } else { 0.93 });
    }
    if pause.is_let_go_by_message() {
        return yes(details::APPLICATION_WINDOW, if pause.acks_let_nothing_go() { 0.9 } else { 0.75 });
    }
    if pause.ended && pause.refilled() && (pause.answers_peer() || exchanges_messages(pause)) {
        // An ACK came with the peer's payload.
        return yes(details::THINK_TIME, 0.6);
    }
    if pause.unseen.acks {
        return without_acks(pause);
    }
    if !pause.ended {
        return if pause.left_in_flight == 0 { yes(details::IDLE, 0.9) } else { Verdict::No };
    }
    if pause.flight_unknown {
        return Verdict::CannotTell(Missing::PACKETS);
    }
    if pause.context.ticks && pause.left_in_flight > 0 && pause.refilled() {
        return yes(details::IDLE, 0.75);
    }
    // A writer that an ACK woke would not have waited for so long.
    if pause.context.ticks && pause.refilled() && !pause.released_by_ack() {
        return yes(details::IDLE, if pause.near_sender() { 0.75 } else { 0.6 });
    }
    // The ACK of an earlier write came at the time of this one.
    if pause.context.on_beat && pause.refilled() {
        return yes(details::IDLE, 0.6);
    }
    if pause.refilled() || pause.in_mid_write() || pause.released_by_report() || starts_slowly(pause) {
        return Verdict::No;
    }
    // No network lies between a sender and the tap next to it: a clock that runs slow looks as if.
    let path = !pause.near_sender() && !pause.outlasts_paths();
    if path && (pause.held + pause.held >= pause.duration() || pause.may_be_path()) {
        return Verdict::CannotTell(Missing::DEPARTURE);
    }
    if pause.unseen.departure {
        return yes(details::IDLE, 0.75);
    }
    if pause.left_in_flight == 0 {
        if path && pause.left_before_ack && pause.before.ends_whole(pause.mss) {
            // By its echo the data had left before these ACKs came: the path had grown, and whole segments were still in flight.
            return Verdict::CannotTell(Missing::DISTANCE);
        }
        // Away from the sender a longer path looks the same, unless the pause is longer than any path. After a loss the
        // silence may as well be the retransmission timer of data that never reached the tap.
        let timed = pause.losses > 0 && pause.duration() >= timers::shortest_rto(pause.srtt);
        if (timed || pause.lost_before_tap > 0) && !pause.near_sender() {
            return yes(details::IDLE, 0.6);
        }
        // Nothing could be sent until the window opened: only the silence after that was certainly the application's.
        let full = pause.room_at_start.is_some_and(|room| room < pause.next_segment()) || pause.closed.is_some();
        if full && pause.after_ack().is_some_and(|span| span + span < pause.duration()) {
            return yes(details::IDLE, 0.6);
        }
        // A busy host may take a little longer to answer the ACK, and a window that whole segments filled had held the rest.
        let silent = pause.fell_silent() || !pause.before.ends_whole(pause.mss);
        let late = pause.after_ack().is_some_and(|span| span > pause.rtt().scaled(LONGER_PATH));
        let sure =
            (pause.near_sender() && silent || late && !may_wait_in_mid_write(pause)) && !may_be_busy(pause, limits);
        let sure = sure && !pause.follows_emptied();
        if !sure && may_be_cut(pause) {
            return Verdict::CannotTell(Missing::LIMIT);
        }
        // Away from the sender a congestion window that a jittering path opened looks the same.
        let unsure = if pause.followed_soon() { 0.6 } else { 0.75 };
        return yes(details::IDLE, if sure && !pause.context.may_be_behind_relay { 0.95 } else { unsure });
    }
    let counted = pause.cwnd_known && pause.segments_held >= pause.cwnd;
    // What is short without PSH was not the end of what had been written, for a sender that sets it (RFC 9293 §3.9.1.2).
    let cut = pause.context.pushes && !pause.before.pushed;
    let perhaps_window = pause.before.ends_whole(pause.mss)
        || counted
        || pause.fills_byte_window()
        || !pause.near_sender() && (pause.followed_soon() || cut);
    let confidence: f32 = match (perhaps_window, tail_probe::fits_timer(pause)) {
        // Once it may be an accident of the host that the data met an ACK.
        _ if pause.left_first() && !pause.context.meets_acks => 0.6,
        // A pace that the sender keeps by itself looks the same.
        (true, false) if pause.left_first() => 0.75,
        (true, _) => 0.6,
        // The probe timer ended the silence: what was in flight may be lost.
        (false, true) => 0.75,
        (false, false) => 0.85,
    };
    yes(details::IDLE, if fills_held(pause) { confidence.min(0.7) } else { confidence })
}
