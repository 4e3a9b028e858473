//! `bandwidth-limited` — the path carried all it could and ACKs came back at its rate.
//!
//! Rule      the smoothed round trip is at least twice the base one, so a queue stands; the gap is much shorter than the
//!           round trip and each ACK releases data at once
//! Evidence  `in_flight_bytes`, `freed_to_data_ns`
//! Source    RFC 9438 §4.1 (self-clocking); Van Jacobson 1988
//! Abstains  never; without a round trip sample there is no sign of a queue
//! Looks like `cwnd-limited` (no queue: the gap is a whole round trip), `pacing` (no ACK ends the gap)

use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Rule, Verdict, yes};
use crate::gap::Gap;

pub(super) const RULE: Rule = Rule { cause: Cause::BandwidthLimited, judge };

fn judge(gap: &Gap, limits: &Limits) -> Verdict {
    let (Some(base), Some(srtt)) = (gap.base_rtt, gap.srtt) else { return Verdict::No };
    let queued = srtt > base.scaled(limits.queue_ratio);
    let clocked = gap.released_by_ack() && gap.left_in_flight > 0 && gap.duration() < srtt.scaled(0.5);
    // A wait of one base round trip is a window's, however long the queue once was.
    let a_round_trip = (gap.duration() - base).0.abs() < base.scaled(0.25).0;
    if queued && clocked && !a_round_trip { yes("queue", 0.75) } else { Verdict::No }
}
