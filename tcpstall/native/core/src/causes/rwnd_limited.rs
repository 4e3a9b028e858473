//! `rwnd-limited` — the peer's receive window was full.
//!
//! Rule      right edge of the window − highest byte sent < the next segment (at most one MSS), when the wait began or just
//!           before the ACK that freed it; a little more room counts while it is below a third of a window that is the limit
//!           again and again, because Linux defers a TSO send until more of the window is free
//! Evidence  `peer_window_bytes`, `in_flight_bytes`, `window_unused_bytes`; detail `small-buffer` (the window stands at its
//!           plateau and the reader keeps up) or `slow-reader` (the window shrinks as it fills)
//! Source    RFC 9293 §3.8.6.2.1 (SWS avoidance); Linux `tcp_snd_wnd_test`, `tcp_tso_should_defer`
//! Abstains  window scale unknown, unless flights that fill the window again and again give it away; packets are missing
//! Looks like `cwnd-limited` (room in the window), `zero-window` (window 0), `sndbuf-limited` (a flat flight below the window)

use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Missing, Rule, Verdict, yes};
use crate::gap::Gap;

pub(super) const RULE: Rule = Rule { cause: Cause::RwndLimited, judge };

/// Below this share of the largest window a shrunken one shows a reader that does not keep up.
const SHRUNK: i64 = 2;

fn judge(gap: &Gap, _: &Limits) -> Verdict {
    if gap.flight_at_start == 0 && gap.closed.is_none() || gap.fell_silent() {
        return Verdict::No;
    }
    if gap.flight_unknown {
        return Verdict::CannotTell(Missing::PACKETS);
    }
    let (Some(window), Some(at_start)) = (gap.window, gap.room_at_start) else {
        return Verdict::CannotTell(Missing::WINDOW_SCALE);
    };
    let held = gap.room_held.unwrap_or(at_start);
    let room = at_start.min(held);
    let detail = if window * SHRUNK < gap.largest_window { "slow-reader" } else { "small-buffer" };
    let went_on = !gap.ended || gap.released_by_ack() || gap.acks > 0 || gap.reopened.is_some();
    if room < gap.next_segment() && went_on {
        let confidence = match (gap.scale_inferred, held < gap.next_segment()) {
            (true, _) => 0.7,
            (false, true) => 0.97,
            (false, false) => 0.9,
        };
        return yes(detail, confidence);
    }
    let deferred = held < i64::from(gap.mss) * 4 && held * 3 < window && gap.segments_held < gap.cwnd;
    if deferred && gap.context.window_filled_before && gap.released_by_ack() {
        return yes(detail, 0.8);
    }
    Verdict::No
}
