//! `rwnd-limited` — the peer's receive window was full.
//!
//! Rule      right edge of the window − highest byte sent < the next segment (at most one MSS; where none followed, at most half of
//!           the largest window), when the wait began or just before the ACK that freed it; a little more room counts while it is
//!           below a third of a window that is the limit again and again, because Linux defers a TSO send until more of the window
//!           is free, but never a lone short segment that has room. Or the window, with nothing in flight, stays below a segment
//!           for most of the wait, and the sender does not probe it. A busy host may go on as late as its tick after the ACK, if
//!           that is a small part of the wait (never sure). The short segment that an ACK lets go may fill the window to the byte:
//!           a sender waits rather than fill it up sooner. So may a sender of messages, of which one would fit into room of less
//!           than a segment and those that an ACK lets go together would not. Some senders wait for room of the MSS of the SYNs,
//!           and leave one segment, which options shorten, unused again and again. Data beyond a full window, without an ACK, shows
//!           an ACK that the capture lacks (never sure). The ledger gives it the pauses too short for stalls as well, where the
//!           window was full for eight round trips of them
//! Evidence  `peer_window_bytes`, `in_flight_bytes`, `window_unused_bytes`. Detail `slow-reader`: the right edge stayed behind what
//!           was acknowledged for over a quarter of a round trip, and over the flow's life came back in steps of its own or shut;
//!           `unread_bytes`, `drain_bytes_per_s` (the edge's way over time). Else `small-buffer`: the edge moves with each ACK;
//!           `ceiling_bytes_per_s` (window / round trip), `buffer_low_bytes` to `buffer_high_bytes` (the SO_RCVBUF that it
//!           suggests: a window is 1/2 to 3/4 of twice that), `buffer_needed_bytes` (for the congestion window, or twice the
//!           window)
//! Source    RFC 9293 §3.8.6.2.1 (SWS avoidance), RFC 7323 §2.2 (no SYN's window is scaled); Linux `tcp_snd_wnd_test`,
//!           `tcp_tso_should_defer`, `tcp_win_from_space`
//! Abstains  window scale unknown, unless flights that fill the window again and again give it away (windows of several sizes, or
//!           cut to the byte, where some flights seem larger); packets are missing; nothing followed for over a second after the
//!           ACK of everything; far more seems to be in flight than the window holds; an ACK had made room for a full segment,
//!           and the data came by itself after most of the wait. Never sure where a window below a segment did not open again,
//!           but was filled up late, nor where the window opened during the wait and a later ACK ended it, nor where a segment
//!           more than the window holds was out: its sender goes by another window; nor by the window of a SYN-ACK, where the
//!           next window is that times the scale: such a receiver scales both, and a sender with more out than the smaller one
//!           read it so
//! Looks like `cwnd-limited` (room in the window), `zero-window` (window 0), `sndbuf-limited` (a flat flight below the window), `nagle` (an
//!           ACK opened the window, and the short end of a write left alone at a later one)

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::rule::{Missing, Rule, Verdict, yes};
use super::zero_window;
use crate::pause::Pause;
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::sender::timers;
use crate::time::Nanos;

pub(super) const RULE: Rule = Rule { cause: Cause::RwndLimited, judge };

/// Divisor of a wait: a later answer than a quarter of it may be the application's.
const MOST: i64 = 4;

/// Confidence where the window opened during the wait, and a later ACK ended it, or ACKs and data are stored in the wrong order.
const OPENED_BEFORE: f32 = 0.75;

/// Names the team that can act: whoever sizes the buffer, or whoever makes the application read.
fn detail(pause: &Pause) -> &'static str {
    if pause.context.reader_behind { details::SLOW_READER } else { details::SMALL_BUFFER }
}

/// The window stayed open for less than a segment, with nothing in flight, for most of the wait. The wait ended with the
/// window's update, or a timer filled the window (RFC 9293 §3.8.6.2.1 allows both).
fn below_segment(pause: &Pause) -> bool {
    let Some(window) = pause.persist.window.filter(|window| *window > 0 && pause.probes == 0) else { return false };
    let filled = pause.reopened.is_some() || i64::from(pause.after.first_frame) >= window;
    zero_window::shut(pause).is_some_and(|shut| shut.went_on_at_once) && filled
}

/// The window was full for most of the wait, and the sender, which the window had filled before, went on within a host's
/// tick of the ACK.
fn full_until_late(pause: &Pause) -> bool {
    let full = pause.room_at_start.is_some_and(|room| room < pause.next_segment()) && pause.closed.is_none();
    full && zero_window::woke_late(pause) && pause.after_ack().is_some_and(|span| span.0 <= pause.duration().0 / MOST)
}

/// Everything was acknowledged, the window stayed open, and no data followed for longer than a sender with data leaves a window
/// unused, however small: RFC 9293 §3.8.6.2.1 overrides its wait after 0.1 to 1 s.
fn gave_up(pause: &Pause) -> bool {
    let overridden = timers::rto(pause.srtt).max(timers::INITIAL_RTO);
    let below_segment = pause.persist.window.is_some_and(|window| window > 0) && pause.probes == 0;
    let open = pause.left_in_flight == 0 && (pause.closed.is_none() || below_segment);
    !pause.ended && open && pause.all_acked.is_some_and(|acked| pause.end - acked > overridden)
}

/// An ACK had made room for a full segment, no later one let the data go, and it came only after most of the wait: its application
/// wrote it then (RFC 9293 §3.8.6.2.1 lets a full segment go at once). Away from the sender a path that jitters looks the same.
fn left_room_unused(pause: &Pause) -> bool {
    let since = pause.room_since.filter(|_| pause.ended && pause.closed.is_none() && !pause.released_soon());
    let least = if pause.near_sender() { pause.tolerance().times(3) } else { pause.rtt().part(2) };
    since.is_some_and(|since| pause.end - since > least && (pause.end - since).times(2) > pause.duration())
}

/// More was in flight than two windows hold, by the round trip that was assumed: the true one was shorter, and another ACK freed
/// the sender, from whatever limit. A path that jitters adds a few segments to small windows.
fn is_impossible(pause: &Pause, room: i64, window: i64) -> bool {
    -room > window.max(i64::from(INITIAL_WINDOW * pause.mss))
}

/// The room was less than a segment, and an ACK let more go at once than the room would have taken: a sender waits for a whole
/// segment's room (RFC 9293 §3.8.6.2.1), however short the segments are that its application's writes make. It waits for no more
/// than half of the window, which may hold no segment: those of a loopback interface are as large.
fn waits_for_a_segment(pause: &Pause, room: i64, window: i64) -> bool {
    let least = i64::from(pause.mss).min(window / 2);
    let below = pause.mss_known && room < least && pause.segments_held < pause.cwnd;
    below && pause.after.clump.first_bytes as i64 > room && pause.released_by_ack()
}

/// Data followed that the last window in the capture forbids, without an ACK: the capture lacks the ACK that opened the window.
fn went_beyond(pause: &Pause, room: i64) -> bool {
    pause.ended && pause.acks == 0 && pause.after.clump.first_bytes as i64 > room
}

fn judge(pause: &Pause, _: &Limits) -> Verdict {
    if below_segment(pause) {
        // The timer that fills the window may have started long after the window was shut, with the data that it sent.
        return yes(detail(pause), if pause.reopened.is_some() { 0.85 } else { 0.75 });
    }
    if pause.flight_at_start == 0 && pause.closed.is_none() {
        return Verdict::No;
    }
    if pause.fell_silent() {
        return if full_until_late(pause) { yes(detail(pause), 0.7) } else { Verdict::No };
    }
    if gave_up(pause) || left_room_unused(pause) {
        return Verdict::No;
    }
    if pause.flight_unknown {
        return Verdict::CannotTell(Missing::PACKETS);
    }
    if pause.context.read.tail_held && pause.let_room_pass() {
        // The window opened, and Nagle's algorithm still held the short end of a write.
        return Verdict::No;
    }
    let (Some(window), Some(at_start)) = (pause.window, pause.room_at_start) else {
        let excluded = pause.has_room() == Some(true);
        return if excluded { Verdict::No } else { Verdict::CannotTell(Missing::WINDOW_SCALE) };
    };
    let held = pause.room_held.unwrap_or(at_start);
    // No sender sends beyond the window: an ACK is stored too late in the capture.
    let room = if pause.disorder > Nanos::ZERO && at_start < 0 { held } else { at_start.min(held) };
    // Nothing followed: a sender that had room when its last data was out had no more to send, however the window closed
    // since.
    let room = if pause.ended || pause.left_in_flight > 0 { room } else { at_start };
    let went_on = !pause.ended || pause.released_by_ack() || pause.acks > 0 || pause.reopened.is_some();
    if room < pause.next_segment() && went_on {
        if !pause.scale_inferred && is_impossible(pause, held, window) {
            return Verdict::CannotTell(Missing::DISTANCE);
        }
        let confidence = match (pause.scale_inferred, held < pause.next_segment()) {
            (true, _) if pause.is_cut_to(window) => 0.85,
            (true, _) => 0.7,
            // A sender that has more out than the window holds goes by another one: some scale that of a SYN (RFC 7323 §2.2).
            (false, true) if held <= -i64::from(pause.mss) => OPENED_BEFORE,
            (false, true) => 0.97,
            // The window had opened before the ACK that let the data go: another limit may have held the sender since.
            (false, false) => OPENED_BEFORE,
        };
        return yes(detail(pause), confidence);
    }
    if room < pause.next_segment() && went_beyond(pause, room) {
        return yes(detail(pause), 0.7);
    }
    let to_the_byte = held < i64::from(pause.mss) && held == i64::from(pause.after.first_frame);
    if to_the_byte && pause.after.frames == 1 && pause.released_by_ack() {
        // A sender waits for a whole segment's room rather than fill the window up (RFC 9293 §3.8.6.2.1), until an ACK comes.
        return yes(detail(pause), 0.85);
    }
    if waits_for_a_segment(pause, held, window) {
        return yes(detail(pause), 0.7);
    }
    if pause.context.spared_windows > 0 && pause.segments_held < pause.cwnd {
        // The sender waits for room of the MSS of the SYNs, although options shorten its segments. A flight that follows a window
        // of several sizes is no buffer's.
        return yes(detail(pause), if pause.context.spared_windows > 1 { 0.85 } else { 0.7 });
    }
    let deferred = held < i64::from(pause.mss) * 4 && held * 3 < window && pause.segments_held < pause.cwnd;
    // With room for a whole segment no frame of one segment is deferred (Linux `tcp_write_xmit`).
    let lone = held >= i64::from(pause.mss) && pause.after.clump.first_bytes < u64::from(pause.mss);
    if deferred && !lone && pause.context.window_filled_before && pause.released_by_ack() {
        // Linux `tcp_tso_should_defer`, which not every sender implements.
        return yes(detail(pause), 0.75);
    }
    Verdict::No
}
