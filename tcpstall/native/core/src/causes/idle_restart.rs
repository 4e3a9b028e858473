//! `idle-restart` — an idle period had lowered the congestion window, and the sender climbed back.
//!
//! Rule      the congestion window is full while it is still below what it was before an idle longer than the
//!           retransmission timeout, and the first burst after that idle was no larger than the lowered window; or the flights
//!           climb after that idle from less than what was out before it (the trait `after idle`). Not where a loss had left
//!           less than the lowered window
//! Evidence  `cwnd_estimate_segments`, `cwnd_before_idle_segments`, `cwnd_after_idle_segments`, `extra_round_trips` (at the
//!           first wait of a climb: all its waits less those that the old window would have cost), `window_unused_bytes`;
//!           detail `slow-start`
//! Source    RFC 5681 §4.1, RFC 2861; Linux `tcp_cwnd_restart`, net.ipv4.tcp_slow_start_after_idle
//! Abstains  the start of the connection was not captured; unsure where the ACKs took twice the base round trip: then a queue held
//!           them, and a larger window would have made it longer; or where the flight exceeds the lowered window and every flight before it
//! Looks like `cwnd-limited` in slow start (no idle before), `app-limited` (chunks that never filled the window)

use super::cause::Cause;
use super::cwnd_limited;
use super::details;
use super::limits::Limits;
use super::rule::{Proof, Rule, Verdict};
use crate::pause::Pause;

pub(super) const RULE: Rule = Rule { cause: Cause::IdleRestart, judge };

fn judge(pause: &Pause, limits: &Limits) -> Verdict {
    if pause.cwnd_before_idle.is_none() {
        return Verdict::No;
    }
    // The first burst after the idle period shows the lowered window; more than that was not lowered as modelled.
    let lowered = pause.cwnd_after_idle.is_none_or(|lowered| pause.segments_held <= lowered);
    match cwnd_limited::full(pause, limits) {
        Verdict::Yes(proof) => {
            // In a climb the flights grow from the lowered window to the old one. A window grows only while it is used (RFC 7661
            // §3, Linux `tcp_is_cwnd_limited`), so a flight larger than all before it shows no old window.
            let climbs = pause.before.acks > 0 && pause.context.read.most_before > pause.segments_held;
            let most = if (lowered || climbs) && !stands_in_queue(pause) { 1.0 } else { 0.75 };
            Verdict::Yes(Proof { detail: details::CLIMB, confidence: proof.confidence.min(most) })
        }
        other => other,
    }
}

/// Ratio of a round trip to the base round trip from which at least half of what was in flight stood in a queue.
const QUEUED: i64 = 2;

/// A queue held the ACKs of the wait, or those before it: the path carried all it could, whatever the window.
fn stands_in_queue(pause: &Pause) -> bool {
    pause.slowest_ack.rtt.or(pause.srtt).zip(pause.base_rtt).is_some_and(|(rtt, base)| rtt >= base.times(QUEUED))
}
