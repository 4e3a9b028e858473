//! Retransmissions of one end while its peer was silent.

use crate::time::Nanos;

/// Retransmissions of one end since its peer was last heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PeerSilence {
    /// Time of the peer's latest segment.
    pub heard: Option<Nanos>,
    /// Retransmissions of the first unacknowledged byte since then; the highest bit is set where that segment was a RST.
    attempts: u32,
    /// Time of the last attempt.
    pub last_attempt: Option<Nanos>,
}

/// Bit of `attempts` that tells of the peer's RST, so that the next segment of the peer clears both at once.
const RESET: u32 = 1 << 31;

impl PeerSilence {
    /// Retransmissions of the first unacknowledged byte since the peer's latest segment.
    pub fn attempts(&self) -> u32 {
        self.attempts & !RESET
    }

    /// The peer's latest segment was a RST.
    pub fn follows_reset(&self) -> bool {
        self.attempts & RESET != 0
    }

    /// The peer's segment that was just taken in is a RST.
    pub(in crate::flow) fn begins_with_reset(&mut self) {
        self.attempts = RESET;
    }

    /// Takes in a segment of the peer.
    #[inline]
    pub(in crate::flow) fn is_broken(&mut self, now: Nanos) {
        self.heard = Some(now);
        if self.attempts > 0 {
            (self.attempts, self.last_attempt) = (0, None);
        }
    }

    /// Takes in a retransmission; only the first unacknowledged byte makes it an attempt, since one repair may hold
    /// many segments.
    pub(in crate::flow) fn lasts(&mut self, now: Nanos, at_left_edge: bool) {
        if at_left_edge {
            self.attempts = (self.attempts & RESET) | (self.attempts() + 1).min(!RESET);
            self.last_attempt = Some(now);
        }
    }
}
