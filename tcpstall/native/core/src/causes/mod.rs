//! Judges pauses: one file per cause, one list of rules in order of precedence.

mod app_limited;
mod bandwidth_limited;
mod burst_limited;
mod capture_gap;
pub mod cause;
pub mod crossed;
mod cwnd_growth;
mod cwnd_limited;
mod delayed_ack;
pub mod details;
#[cfg(test)]
mod documentation;
mod doubt;
pub mod excess;
mod explain;
mod handshake;
mod idle_restart;
mod judge;
pub mod limits;
mod nagle;
mod pacing;
mod retransmission;
mod rule;
mod rwnd_limited;
mod sndbuf_limited;
mod tail_probe;
mod unexplained;
mod zero_window;

pub use cause::{Cause, Info};
pub use explain::explain;
pub use handshake::HandshakeEvidence;
pub use judge::PausePart;
pub use limits::Limits;
pub use rule::{Missing, Proof, Rule, Verdict};

/// Every rule that judges a pause, in order of precedence. The first rule that says yes names the cause, as Linux's
/// tcp_chrono does with its three causes; later rules that also say yes are the runners-up.
pub const RULES: [Rule; 13] = [
    capture_gap::RULE,
    retransmission::RULE,
    zero_window::RULE,
    // Before the rules about windows: behind a queue the windows may well be full, but larger ones would gain nothing.
    bandwidth_limited::RULE,
    rwnd_limited::RULE,
    delayed_ack::RULE,
    nagle::RULE,
    pacing::RULE,
    burst_limited::RULE,
    idle_restart::RULE,
    cwnd_limited::RULE,
    app_limited::RULE,
    sndbuf_limited::RULE,
];

/// Rank of a cause where waits of both ends compete for the same time: its place in [`RULES`], strongest first. A cause
/// without a rule ranks last.
pub const fn precedence(cause: Cause) -> usize {
    let mut place = 0;
    while place < RULES.len() && RULES[place].cause.code() != cause.code() {
        place += 1;
    }
    place
}

/// The verdict on a flow's handshake.
pub fn judge_handshake(evidence: HandshakeEvidence) -> Proof {
    match handshake::judge(evidence) {
        Verdict::Yes(proof) => proof,
        Verdict::No | Verdict::CannotTell(_) => unexplained::PROOF,
    }
}

#[cfg(test)]
mod tests {
    use super::RULES;

    /// Another order is another label wherever two rules say yes: the goldens show which.
    #[test]
    fn rules_stand_in_the_known_order() {
        let order = RULES.map(|rule| rule.cause.name());
        let known = [
            "capture-gap",
            "retransmission",
            "zero-window",
            "bandwidth-limited",
            "rwnd-limited",
            "delayed-ack",
            "nagle",
            "pacing",
            "burst-limited",
            "idle-restart",
            "cwnd-limited",
            "app-limited",
            "sndbuf-limited",
        ];
        assert_eq!(order, known);
    }
}
