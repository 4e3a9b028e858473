//! `handshake` — the connection was not yet established.
//!
//! Rule      from the first SYN to the segment that completes the handshake, or to the last attempt or the last RST that refused
//!           it (Windows sends a refused SYN again)
//! Evidence  `retransmissions` (SYNs and SYN-ACKs sent again); details `syn-loss` where there were any and the handshake was
//!           completed, `refused` (a RST answered the SYN), `unanswered` (nothing did), `half-open` (a SYN-ACK did, and no ACK
//!           followed)
//! Source    RFC 9293 §3.5; RFC 6298 §5.7; Linux tcp_syn_retries: 1 s, then doubling
//! Abstains  the SYN was not captured
//! Looks like `app-limited` (the first wait begins when the handshake is over)

use super::details;
use super::rule::{Proof, Verdict, yes};

/// Observations of one handshake.
#[derive(Clone, Copy, Debug, Default)]
pub struct HandshakeEvidence {
    /// Retransmitted SYNs and SYN-ACKs.
    pub sent_again: u32,
    /// The handshake was completed.
    pub complete: bool,
    /// A RST answered the SYN.
    pub refused: bool,
    /// A SYN-ACK answered the SYN.
    pub answered: bool,
    /// One end continued with packets that answer the other end, and the capture holds nothing of the other end.
    pub unseen: bool,
}

/// Judges a flow's handshake as a whole, not as a pause.
pub(super) fn judge(evidence: HandshakeEvidence) -> Verdict {
    match evidence {
        HandshakeEvidence { complete: true, sent_again: 0, .. } => yes("", 0.98),
        HandshakeEvidence { complete: true, .. } => yes(details::SYN_LOSS, 0.97),
        HandshakeEvidence { refused: true, .. } => yes(details::REFUSED, 0.97),
        HandshakeEvidence { unseen: true, .. } => Verdict::Yes(Proof { detail: "", confidence: 0.5 }),
        HandshakeEvidence { answered: true, .. } => yes(details::HALF_OPEN, 0.9),
        HandshakeEvidence { sent_again: 0, .. } => yes(details::UNANSWERED, 0.9),
        HandshakeEvidence { .. } => yes(details::UNANSWERED, 0.95),
    }
}
