//! Detects ACKs that reached the sender and are not in the capture.

use super::evidence::Gap;
use crate::sender::timers;
use crate::time::Nanos;

/// Retransmission timeouts after which data that was neither acknowledged nor retransmitted had been acknowledged: the
/// timer of the oldest data always runs (RFC 6298 §5.1), doubles at each attempt and is 1 s at first.
const TIMEOUTS: i64 = 4;

/// Marks the gaps of one sender, given in order of time, in which ACKs reached the sender that the capture lacks;
/// `heard` is false where the capture holds nothing of the peer.
pub(super) fn find_missing_acks(gaps: &mut [Gap], heard: bool) {
    let mut since: Option<Nanos> = None;
    for gap in gaps.iter_mut().rev() {
        if let Some(oldest) = gap.unseen.oldest.filter(|oldest| is_overdue(gap, *oldest)) {
            since = Some(since.map_or(oldest, |since| since.min(oldest)));
        }
        gap.unseen.acks = !heard || since.is_some_and(|since| gap.end > since);
    }
}

/// The timer should have fired inside the gap. A shut window stops the timer (RFC 9293 §3.8.6.1), and a sender that
/// sends no more may be gone.
fn is_overdue(gap: &Gap, oldest: Nanos) -> bool {
    // Where ACKs are missing the smoothed round trip comes from the few that are not: far too long.
    let timeout = timers::rto(gap.base_rtt.or(gap.srtt)).max(timers::INITIAL_RTO);
    // With a reported and open hole all repairs were lost before the tap.
    let reported = gap.hole.is_some_and(|hole| hole.reported.is_some() && hole.until.is_none());
    gap.ended && gap.closed.is_none() && !reported && gap.end - oldest > timeout.times(TIMEOUTS)
}
