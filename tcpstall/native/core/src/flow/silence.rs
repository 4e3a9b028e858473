//! Retransmissions of one end while its peer was silent.

use crate::time::Nanos;

/// Retransmissions of one end since its peer was last heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PeerSilence {
    /// Time of the peer's latest segment.
    pub heard: Option<Nanos>,
    /// Retransmissions of the first unacknowledged byte since then.
    pub attempts: u32,
    /// Time of the last attempt.
    pub last_attempt: Option<Nanos>,
}

impl PeerSilence {
    /// Takes in a segment of the peer.
    #[inline]
    pub(super) fn is_broken(&mut self, now: Nanos) {
        self.heard = Some(now);
        if self.attempts > 0 {
            (self.attempts, self.last_attempt) = (0, None);
        }
    }

    /// Takes in a retransmission; only the first unacknowledged byte makes it an attempt, since one repair may hold
    /// many segments.
    pub(super) fn lasts(&mut self, now: Nanos, at_left_edge: bool) {
        if at_left_edge {
            self.attempts = self.attempts.saturating_add(1);
            self.last_attempt = Some(now);
        }
    }
}
