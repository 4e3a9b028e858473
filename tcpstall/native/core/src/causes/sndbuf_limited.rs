//! `sndbuf-limited` — the application was blocked in write() because the send buffer was full.
//!
//! Rule      an ACK ended the wait at once, both windows had room, the peer sent no payload in between, and the flight lay
//!           well below the modelled congestion window; a plateau over three rounds or more makes it sure
//! Evidence  `in_flight_bytes`, `plateau_bytes`, `cwnd_estimate_segments`, `window_unused_bytes`; on a plateau `ceiling_bytes_per_s`
//!           (plateau / round trip), `buffer_low_bytes` to `buffer_high_bytes` (the SO_SNDBUF that it suggests),
//!           `buffer_needed_bytes` (for the peer's window, or twice the plateau)
//! Source    Linux `sk_stream_wait_memory`, `sk_stream_write_space` (SO_SNDBUF counts truesize of unsent and unacked data)
//! Abstains  the start of the connection was not captured, or packets are missing: then only a plateau tells
//! Looks like `app-limited` (the wait does not end at an ACK), `cwnd-limited` (flight grows), `rwnd-limited` (no room)

use super::cause::Cause;
use super::limits::Limits;
use super::nagle;
use super::rule::{Missing, Rule, Verdict, yes};
use crate::gap::Gap;
use crate::gap::builder::LEAST_GAP;

pub(super) const RULE: Rule = Rule { cause: Cause::SndbufLimited, judge };

fn judge(gap: &Gap, limits: &Limits) -> Verdict {
    if gap.first || gap.is_turn() || !gap.refilled() {
        return Verdict::No;
    }
    if gap.has_room().is_none() {
        return Verdict::CannotTell(Missing::WINDOW_SCALE);
    }
    let plateau = gap.context.plateau_rounds >= limits.plateau_rounds;
    if gap.flight_unknown || (!gap.cwnd_known && !plateau) {
        return Verdict::CannotTell(if gap.from_start { Missing::PACKETS } else { Missing::START });
    }
    // A window that nothing but the buffer keeps from being filled stands at twice the most that was out.
    let saturated = f64::from(gap.segments_at_start) <= SATURATED * f64::from(gap.cwnd);
    let (detail, confidence) = match (plateau, gap.short_segment_out, gap.losses) {
        (true, true, 0) => ("plateau", if saturated { 0.95 } else { 0.8 }),
        // Whole segments again and again may be a congestion window that cannot grow; only at the sender that shows.
        (true, false, 0) => ("plateau", if gap.near_sender() { 0.85 } else { 0.6 }),
        (true, _, _) => ("plateau", 0.7),
        (false, true, _) => ("", if grows(gap) { UNSURE } else { LESS_SURE }),
        (false, false, _) => ("", 0.6),
    };
    let most = match gap.released_at_once() {
        true if nagle::may_hold_tail(gap) => LESS_SURE,
        true if gap.after_ack().is_none_or(|span| span <= LEAST_GAP) => 1.0,
        true => LESS_SURE,
        false => UNSURE,
    };
    yes(detail, most.min(confidence))
}

/// A buffer of a fixed size holds no more the next time; a congestion window counted in packets does, whatever their size.
fn grows(gap: &Gap) -> bool {
    gap.context.next_flight.is_some_and(|next| next as f64 > GROWTH * gap.flight_at_start as f64)
}

/// More than what one short segment more or less makes of a small flight.
const GROWTH: f64 = 1.25;
/// Flight over the modelled window where slow start ended only because no more was sent (Linux tcp_is_cwnd_limited), with
/// some room for what was acknowledged meanwhile.
const SATURATED: f64 = 0.55;
/// Data that came as soon after the ACK as the path jitters, or as a held tail and the next write might by chance.
const LESS_SURE: f32 = 0.8;
/// Data that came a little after the ACK may have come by itself.
const UNSURE: f32 = 0.6;
