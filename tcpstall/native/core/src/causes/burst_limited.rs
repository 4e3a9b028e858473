//! `burst-limited` — the stack cut its bursts at a fixed count of segments.
//!
//! Rule      in {cut_turns} exchanges in a row at least the first burst stops at the same small count, below the congestion window,
//!           with more data released by the next ACK, and the count does not grow although each was acknowledged in full; within
//!           such an exchange, each partial ACK let just as many segments go (packets in flight + the cap); or ACK after ACK lets
//!           the same few segments go, also where it covered more, and less is in flight than before although nothing was lost
//! Evidence  `in_flight_segments`, `cwnd_estimate_segments`, `burst_cap_segments`, `exchanges_cut_alike`; detail `partial-ack`
//!           within an exchange
//! Source    Linux before 3.x, `bictcp_moderation` (burst moderation: packets in flight + 3 or + 6); 4.4BSD's descendants,
//!           `TCP_MAXBURST` (four segments for each call of `tcp_output`)
//! Abstains  fewer exchanges than a congestion window needs to grow; after a loss or an idle of a timeout; where the window has
//!           room for less than a frame of offloaded segments (`tcp_tso_should_defer`)
//! Looks like `cwnd-limited` (the count grows from exchange to exchange), `sndbuf-limited` (bytes, not segments, are flat),
//!           `nagle` (no more than the short end of each answer is left: never sure), a window that is never filled for a round
//!           trip (more than ten segments: never sure), what each ACK lets go where the capture lacks packets and no timestamps
//!           date the ACKs (never sure)

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::rule::{Rule, Verdict, yes};
use crate::pause::Pause;
use crate::sender::cwnd::INITIAL_WINDOW;

pub(super) const RULE: Rule = Rule { cause: Cause::BurstLimited, judge };

fn judge(pause: &Pause, limits: &Limits) -> Verdict {
    let Some(cap) = pause.context.cut_at else { return by_ack(pause) };
    let first = pause.segments_at_start == cap;
    let below = pause.segments_at_start < pause.cwnd;
    let often = pause.context.turns_cut_alike >= limits.cut_turns;
    if pause.losses > 0
        || pause.cwnd_before_idle.is_some()
        || !often
        || pause.keeps_a_frame_back()
        || pause.fills_frames()
    {
        return Verdict::No;
    }
    match (first, below) {
        (true, true) => yes("", if waits_for_its_end(pause) || cap > INITIAL_WINDOW { UNSURE } else { 0.85 }),
        (true, false) => Verdict::No,
        // The cap on segments in flight plus burst was met exactly, at this ACK and at the first bursts of the turns.
        (false, true) => yes(details::PARTIAL_ACK, 0.85),
        (false, false) => yes(details::PARTIAL_ACK, 0.7),
    }
}

/// Confidence where no more than the short end of the answer was left, or where the cap is larger than an initial window: a
/// congestion window that exchanges do not fill stays as it is (RFC 7661 §3), and no known cap is that large.
const UNSURE: f32 = 0.78;

/// No more than the short end of the answer was left: Nagle's algorithm (RFC 896) holds such an end back too, until all is
/// acknowledged or, in some stacks, until the next ACK.
fn waits_for_its_end(pause: &Pause) -> bool {
    pause.after.bytes < u64::from(pause.mss)
}

/// Waits at a cap on each ACK, from which it is likely.
const OFTEN: u32 = 6;

/// Each ACK let just as many segments go, also where it covered more.
fn by_ack(pause: &Pause) -> Verdict {
    if pause.context.per_ack.is_none() {
        return Verdict::No;
    }
    // A window that a loss has lowered lets few segments go as well; so does a smaller one that an ACK announced which the
    // capture lacks.
    let certain = pause.losses == 0 && !pause.unseen.perhaps_acks;
    let likely = certain && pause.context.per_ack_waits >= OFTEN;
    yes(details::PARTIAL_ACK, if likely { 0.85 } else { 0.75 })
}
