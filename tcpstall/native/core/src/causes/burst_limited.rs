//! `burst-limited` — the stack cut the burst that begins an exchange at a fixed count of segments.
//!
//! Rule      at five exchanges or more the first burst stops at the same small count, below the window, with more data
//!           released by the next ACK, and the count does not grow although each was acknowledged in full
//! Evidence  `in_flight_segments`, `cwnd_estimate_segments`
//! Source    Linux before 3.x, `bictcp_moderation` (burst moderation: packets in flight + 3 or + 6)
//! Abstains  fewer exchanges than it needs
//! Looks like `cwnd-limited` (the count grows from exchange to exchange), `sndbuf-limited` (bytes, not segments, are flat)

use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Rule, Verdict, yes};
use crate::gap::Gap;

pub(super) const RULE: Rule = Rule { cause: Cause::BurstLimited, judge };

fn judge(gap: &Gap, limits: &Limits) -> Verdict {
    let whole = gap.flight_at_start % i64::from(gap.mss.max(1)) == 0;
    let below = gap.segments_at_start < gap.cwnd;
    let alike = gap.context.turns_cut_alike >= limits.cut_turns;
    if alike && whole && below && gap.losses == 0 && gap.cwnd_before_idle.is_none() {
        yes("", 0.85)
    } else {
        Verdict::No
    }
}
