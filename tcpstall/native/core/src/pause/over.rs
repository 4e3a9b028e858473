//! The silence after a sender's last data in which nobody waited for anything.

use super::builder::Builder;
use super::evidence::Facts;
use crate::flow::Half;
use crate::sender::cwnd::CongestionPhase;
use crate::time::Nanos;

/// Facts of a sender's only silence that the flow's row needs: no neighbour and no rule reads more.
#[derive(Clone, Copy, Debug)]
pub struct Over {
    /// Time when all data was acknowledged.
    pub all_acked: Nanos,
    /// Largest window that the peer had announced before.
    pub largest_window: i64,
    /// The capture holds nothing of the peer.
    pub unheard: bool,
}

/// The end of a sender's flow.
pub(super) struct LastSilence {
    /// End of the silence.
    pub(super) end: Nanos,
    /// Length below which pauses are not stalls.
    pub(super) threshold: Nanos,
    /// Smallest distance of the tap to the sender.
    pub(super) least: Option<Nanos>,
    /// The capture holds segments of the peer.
    pub(super) heard: bool,
}

impl Builder {
    /// The last silence, if it is the sender's only one and nobody waited in it; the silence must be prepared for.
    pub(super) fn over(&self, last: &LastSilence, half: &Half) -> Option<Over> {
        if !self.is_over() {
            return None;
        }
        let open = &self.open;
        let (all_acked, at) = (open.all_acked?, open.beginning?);
        let (start, end) = (self.burst.end, last.end.max(self.burst.end));
        if open.peer_first.is_some_and(|first| first <= last.end)
            && is_the_peers(open.peer_first.zip(open.peer_last), (start, end), last.threshold)
        {
            return None;
        }
        let distance = Nanos::later(half.vantage.at(end), last.least);
        let moved = distance.unwrap_or_default() - half.vantage.now().unwrap_or_default();
        let moves = moved != Nanos::ZERO && !half.vantage.is_held_up();
        let all_acked = if moves { (all_acked + moved).min(end) } else { all_acked };
        Some(Over { all_acked, largest_window: at.largest_window, unheard: !last.heard })
    }

    /// The same as [`Facts::is_over`] of the pause that would end now.
    fn is_over(&self) -> bool {
        let rare = self.open.rare();
        self.pauses.len() == 0
            && self.pause_room > 0
            && self.left.is_some_and(|left| left.flight == 0)
            && rare.closed.is_none()
            && rare.retransmissions == 0
            && self.open.beginning.is_some_and(|at| at.phase != CongestionPhase::Recovery)
            && rare.left_out.is_none()
    }
}

/// The peer's `turn` lasted for the whole pause.
fn is_the_peers(turn: Option<(Nanos, Nanos)>, pause: (Nanos, Nanos), threshold: Nanos) -> bool {
    turn.is_some_and(|(first, last)| first - pause.0 <= threshold && pause.1 - last <= threshold)
}

impl Facts {
    /// Nobody waited when the flow ended: everything that the sender had sent was acknowledged, no window had closed, and
    /// nothing was being repaired. Whatever its cause, such a pause is nobody's stall. Copies of what had been acknowledged
    /// at the tap repair nothing: the ACK met them on its way, or was lost behind the tap.
    pub fn is_over(&self) -> bool {
        let passed = self.all_acked.map(|acked| acked - self.distance);
        let copies = passed.zip(self.first_retransmission).is_some_and(|(acked, again)| acked < again);
        let copies = copies && self.repair.as_ref().is_none_or(|repair| repair.sent == 1);
        !self.ended
            && self.left_in_flight == 0
            && self.closed.is_none()
            && (self.retransmissions == 0 || copies)
            && !self.recovering
            && self.left_out.is_none()
    }

    /// The peer's turn lasted for the whole pause.
    pub fn is_the_peers(&self, threshold: Nanos) -> bool {
        is_the_peers(self.peer_first.zip(self.peer_last), (self.start(), self.end), threshold)
    }
}
