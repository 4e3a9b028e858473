//! `bandwidth-limited` — the path carried all it could and ACKs came back at its rate.
//!
//! Rule      from the gap's start to its end a queue stood on the path: every ACK came back later than the base round trip by
//!           an eighth of it (or 16 ms) and by four times the distance of the ACKs, for a whole round trip at least; near the
//!           sender, one or two ACKs released the next data at once
//! Evidence  `bottleneck_bytes_per_s`, `bdp_bytes` (rate × base round trip), `in_flight_bytes` above it, `queue_ns`
//! Source    RFC 9438 §4.1 (self-clocking), RFC 9406 §4.2 (a longer round trip shows the queue); Van Jacobson 1988
//! Abstains  never; where no base round trip is known there is no sign of a queue. Time without a gap has no stall, yet the
//!           ledger gives it to this cause
//! Looks like `cwnd-limited` or `rwnd-limited` (a full window, but no queue), `pacing` (several ACKs pass before the next
//!           data), `app-limited`

use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Rule, Verdict, yes};
use crate::gap::Gap;

pub(super) const RULE: Rule = Rule { cause: Cause::BandwidthLimited, judge };

/// A sender that ACKs drive answers each, or every second one where it puts off a TSO frame (Linux `tcp_tso_should_defer`).
const MOST_ACKS: u32 = 2;

fn judge(gap: &Gap, _: &Limits) -> Verdict {
    if gap.context.bottleneck.is_none() {
        return Verdict::No;
    }
    let clocked = gap.released_by_ack() && gap.left_in_flight > 0 && gap.acks <= MOST_ACKS;
    match (gap.near_sender(), clocked) {
        (true, true) => yes("queue", 0.9),
        (true, false) => Verdict::No,
        // Behind the queue only the even arrival of data and the late answers to ACKs are seen.
        (false, _) => yes("queue", 0.75),
    }
}
