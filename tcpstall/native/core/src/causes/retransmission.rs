//! `retransmission` — the sender was repairing a loss, or waiting for the timer that starts the repair.
//!
//! Rule      data was sent again inside the gap, or a recovery begun before it was not over; at a tap behind the loss:
//!           the IP-ID counter or a hole in the sequence shows packets that were sent and did not arrive
//! Evidence  `retransmissions`, `in_flight_bytes`; details `timeout` (no sign of loss came before the timer),
//!           `fast-retransmit` (duplicate ACKs or SACK came), `tail-loss` (a probe of the last segment), `recovery`
//! Source    RFC 6298 §5, RFC 5681 §3.2, RFC 8985 §7 (TLP); Linux `tcp_retransmit_timer`, `tcp_send_loss_probe`
//! Abstains  never; what was lost without a trace is for `capture-gap` or `unexplained`
//! Looks like `zero-window` (probes of a closed window are not retransmissions), reordering (no data is sent twice),
//!           `app-limited` at the receiver (a lost tail leaves the tap with nothing outstanding)

use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Rule, Verdict, yes};
use crate::gap::Gap;
use crate::sender::timers;

pub(super) const RULE: Rule = Rule { cause: Cause::Retransmission, judge };

fn judge(gap: &Gap, _: &Limits) -> Verdict {
    if let Some(first) = gap.first_retransmission {
        let waited = first - gap.last_ack.filter(|ack| *ack < first).unwrap_or(gap.start()).max(gap.start());
        return match (gap.loss_hints > 0, waited >= timers::LINUX_RTO_MIN, gap.retransmissions) {
            (true, false, _) => yes("fast-retransmit", 0.95),
            (_, true, _) => yes("timeout", 0.95),
            (false, false, 1) => yes("tail-loss", 0.9),
            (false, false, _) => yes("timeout", 0.8),
        };
    }
    if gap.recovering {
        return yes("recovery", 0.85);
    }
    // Sent after a silence of a probe timeout, with packets missing just before it: the repair of a loss before the tap.
    let timer = timers::probe_timeout(gap.srtt, gap.segments_at_start);
    if gap.lost_before_tap > 0 && gap.ended && gap.duration() >= timer {
        return yes(if gap.duration() >= timers::LINUX_RTO_MIN { "timeout" } else { "tail-loss" }, 0.8);
    }
    Verdict::No
}
