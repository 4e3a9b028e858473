//! `zero-window` — the receiver closed its window and the sender waited for it to reopen.
//!
//! Rule      the window advertised during the pause is 0, or below one segment with nothing in flight, and the sender probes
//!           it. It stays so for most of the pause, and data follows at once when an update opens it; or for nearly all of
//!           the pause, in which the sender probes, or after which a sender that the window had filled before goes on within
//!           a busy host's tick; or to the end of the capture. Or a sender that had not heard of the update probes with a byte of
//!           its data: the byte ends the wait by itself, without PSH, no sooner than a timer fires, or the wait is for its ACK, which
//!           lets a full segment go at once
//! Evidence  `closed_ns` (how long it was shut), `closed_window_bytes`, `window_probes` with `probe_bytes` (0 or 1) and
//!           `probes_unanswered`, `probes_since_heard`, `freed_by_packet` (the update that opened it). Detail `below-segment`
//!           (open, but for less than a segment; never sure), `never-reopened`. After tcp_retries2 probes that nobody answers a
//!           Linux sender gives up silently: no FIN, and a RST only if the peer speaks again
//! Source    RFC 9293 §3.8.6.1; Linux `tcp_send_probe0`: probes of 0 bytes at SND.UNA-1, doubling to 120 s
//! Abstains  window scale unknown, unless the window field is 0; more than a probe was sent into the shut window: an update is missing
//! Looks like `rwnd-limited` (window > 0 and full, or below a segment and not probed), `app-limited` (nothing left to send), `retransmission` (probes are not)

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::rule::{Rule, Verdict, yes};
use crate::pause::Pause;
use crate::sender::timers;
use crate::time::Nanos;

/// Share of the wait from which a shut window explains all of it: a sender that probes has data waiting, so a short
/// rest after the window opened has no other cause.
pub(super) const NEARLY_ALL: f64 = 0.9;

/// Longest tick of a host (HZ = 100): a busy host is this late.
const TICK: Nanos = Nanos::from_millis(10);

pub(super) const RULE: Rule = Rule { cause: Cause::ZeroWindow, judge };

/// A wait that a shut window explains.
pub(super) struct Shut {
    /// The data followed as soon as the window opened.
    pub(super) went_on_at_once: bool,
}

/// Decides whether the window was shut, or below a segment, for most of the wait, and the sender had data.
pub(super) fn shut(pause: &Pause) -> Option<Shut> {
    let closed = pause.closed?;
    if sent_into(pause, closed) {
        return None;
    }
    let closed = closed.max(pause.start());
    let reopened = pause.reopened.unwrap_or(pause.end).min(pause.end);
    let share = (reopened - closed).0 as f64 / pause.duration().0.max(1) as f64;
    let went_on_at_once = !pause.ended || pause.end - reopened <= pause.tolerance() + pause.tolerance();
    let waiting = went_on_at_once || share >= NEARLY_ALL && (pause.probes > 0 || woke_late(pause));
    (share >= 0.5 && waiting).then_some(Shut { went_on_at_once })
}

/// More than a probe was sent after the window was shut: the update that opened it is missing.
fn sent_into(pause: &Pause, closed: Nanos) -> bool {
    let beyond = pause.room_at_start.is_some_and(|room| room <= -i64::from(pause.mss));
    beyond && pause.before.bytes >= u64::from(pause.mss) && pause.before.start >= closed
}

/// A sender that the window had filled before went on within a host's tick of the window's update.
pub(super) fn woke_late(pause: &Pause) -> bool {
    pause.context.window_filled_before && pause.after_ack().is_some_and(|span| span <= TICK)
}

/// The window had been shut, and a byte of data ended the wait alone once a timer fired. It is no write: without PSH the byte is not
/// the last that was queued (RFC 9293 §3.9.1.2). The sender had not heard that the window was open again, or did not heed that.
fn probes_open_window(pause: &Pause) -> bool {
    let lone = pause.ended && pause.after.first_frame == 1 && !pause.after.first_pushed && pause.left_in_flight == 0;
    let shut = pause.closed.filter(|_| lone && pause.reopened.is_some());
    shut.is_some_and(|closed| pause.end - closed.max(pause.start()) >= timers::shortest_rto(pause.srtt))
}

/// Such a byte is all that is out, and its ACK let a full segment go at once: no other limit leaves so little out.
fn awaits_probes_answer(pause: &Pause) -> bool {
    let lone = pause.before.bytes == 1 && pause.flight_at_start == 1 && !pause.before.pushed;
    let goes_on = pause.released_at_once() && pause.after.first_frame >= pause.mss && pause.mss_known;
    lone && goes_on && pause.context.window_filled_before && pause.peer_bytes == 0
}

fn judge(pause: &Pause, _: &Limits) -> Verdict {
    let Some(Shut { went_on_at_once }) = shut(pause) else {
        return match (probes_open_window(pause), awaits_probes_answer(pause)) {
            (true, _) => yes("", 0.85),
            (_, true) => yes("", 0.75),
            _ => Verdict::No,
        };
    };
    let below_segment = pause.persist.window.is_some_and(|window| window > 0);
    if below_segment && pause.probes == 0 {
        // An open window that the next segment does not fit is a full one (RFC 9293 §3.8.6.2.1).
        return Verdict::No;
    }
    let detail = match (pause.ended, below_segment) {
        (false, _) => details::NEVER_REOPENED,
        (true, true) => details::BELOW_SEGMENT,
        (true, false) => "",
    };
    // A window below a segment is a full window to one stack and a closed one to the next, which probes it.
    let confidence = match (below_segment, went_on_at_once) {
        (true, _) => 0.75,
        (false, true) => 0.95,
        (false, false) if pause.probes > 0 => 0.85,
        (false, false) => 0.75,
    };
    yes(detail, confidence)
}
