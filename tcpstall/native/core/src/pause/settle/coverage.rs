//! Detects ACKs that reached the sender and are not in the capture.

use super::super::evidence::Facts;
use crate::sender::timers;
use crate::time::Nanos;

/// Retransmission timeouts after which data that was neither acknowledged nor retransmitted had been acknowledged: the
/// timer of the oldest data always runs (RFC 6298 §5.1), doubles at each attempt and is 1 s at first.
const TIMEOUTS: i64 = 4;

/// Settles in which pauses of one sender, given in order of time, ACKs reached the sender that the capture lacks; `heard` is
/// false where the capture holds nothing of the peer.
pub(super) fn settle(mut pauses: Vec<Facts>, heard: bool) -> Vec<Facts> {
    if heard && !pauses.iter().any(|pause| missing_from(pause).is_some()) {
        return pauses;
    }
    let mut since: Option<Nanos> = None;
    for pause in pauses.iter_mut().rev() {
        if let Some(oldest) = missing_from(pause) {
            since = Some(since.map_or(oldest, |since| since.min(oldest)));
        }
        pause.unseen.acks = !heard || since.is_some_and(|since| pause.end > since);
    }
    pauses
}

/// Time from which ACKs are missing, where the pause shows it.
fn missing_from(pause: &Facts) -> Option<Nanos> {
    let overdue = pause.unseen.oldest.filter(|oldest| is_overdue(pause, *oldest));
    overdue.or_else(|| was_acked_late(pause).then(|| pause.start()))
}

/// The timer should have fired inside the pause. A shut window stops the timer (RFC 9293 §3.8.6.1), and a sender that
/// sends no more may be gone.
fn is_overdue(pause: &Facts, oldest: Nanos) -> bool {
    // With a reported and open hole all repairs were lost before the tap.
    let reported = pause.hole.is_some_and(|hole| hole.reported.is_some() && hole.until.is_none());
    pause.ended && pause.closed.is_none() && !reported && pause.end - oldest > longest(pause)
}

/// Data was acknowledged long after its timer should have fired, the peer had been silent for as long, and nothing was
/// retransmitted: the ACK that stopped the timer is missing.
fn was_acked_late(pause: &Facts) -> bool {
    let late = pause.slowest_ack.rtt.is_some_and(|rtt| rtt.min(pause.slowest_ack.silence) > longest(pause));
    late && pause.closed.is_none() && pause.retransmissions == 0
}

/// Longest time for which data can be neither acknowledged nor retransmitted. Where ACKs are missing the smoothed round
/// trip comes from the few that are not: far too long.
fn longest(pause: &Facts) -> Nanos {
    if pause.unseen.bare_acks && pause.base_rtt.is_some() {
        return pause.rtt().scaled(1.5) + timers::LONGEST_DELAYED_ACK;
    }
    timers::rto(pause.base_rtt.or(pause.srtt)).max(timers::INITIAL_RTO).times(TIMEOUTS)
}
