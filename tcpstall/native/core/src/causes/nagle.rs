//! `nagle` — a small segment was held until earlier data was acknowledged.
//!
//! Rule      a sub-MSS segment was unacknowledged, an ACK covered it, and then one sub-MSS segment went out alone
//! Evidence  `in_flight_bytes`, `burst_bytes`
//! Source    RFC 9293 §3.7.4, RFC 896; Linux `tcp_nagle_check` with Minshall's rule
//! Abstains  never
//! Looks like `delayed-ack` (the ACK came late on purpose), `app-limited` (a reply of the peer came between), `cwnd-limited` (one byte beyond a full window)

use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Rule, Verdict, yes};
use crate::gap::Gap;

pub(super) const RULE: Rule = Rule { cause: Cause::Nagle, judge };

fn judge(gap: &Gap, _: &Limits) -> Verdict {
    let small_alone = gap.after.frames == 1 && gap.after.bytes < u64::from(gap.mss);
    let held = gap.short_segment_out && !gap.short_segment_left && gap.peer_bytes == 0;
    if held && small_alone && gap.released_by_ack() { yes("", 0.85) } else { Verdict::No }
}
