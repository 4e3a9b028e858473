//! `handshake` — the connection was not yet established.
//!
//! Rule      from the first SYN to the segment that completes the handshake, or to the last attempt or the RST that refused it
//! Evidence  `retransmissions` (SYNs and SYN-ACKs sent again); details `syn-loss` where there were any,
//!           `refused` (a RST answered the SYN), `unanswered`
//! Source    RFC 9293 §3.5; RFC 6298 §5.7; Linux tcp_syn_retries: 1 s, then doubling
//! Abstains  the SYN was not captured
//! Looks like `app-limited` (the first wait begins when the handshake is over)

use super::rule::{Proof, Verdict, yes};

/// A flow's handshake is judged as a whole, not as a gap: SYNs and SYN-ACKs that were sent again.
pub(super) fn judge(sent_again: u32, complete: bool, refused: bool) -> Verdict {
    match (sent_again, complete) {
        (0, false) if refused => yes("refused", 0.97),
        (0, true) => yes("", 0.98),
        (0, false) => yes("unanswered", 0.9),
        (_, true) => yes("syn-loss", 0.97),
        (_, false) => Verdict::Yes(Proof { detail: "syn-loss", confidence: 0.95 }),
    }
}
