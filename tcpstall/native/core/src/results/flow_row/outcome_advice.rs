//! Advice of an outcome, where that of its cause does not fit.

use super::super::rows::StallRow;
use super::super::rows::outcome::Outcome;
use crate::causes::Cause;
use crate::flow::End;

/// Replaces the cause's advice by the outcome's, where the cause's does not fit.
pub(super) fn advise(stalls: &mut [StallRow], outcome: Option<Outcome>) {
    let (cause, sender, advice) = match outcome {
        Some(Outcome::TooEarly) => {
            (Cause::Handshake, End::Client, "capture for longer: the answer may have come later")
        }
        Some(Outcome::OneSided) => (Cause::Handshake, End::Client, "capture both directions"),
        Some(Outcome::Aborted) => (
            Cause::Handshake,
            End::Client,
            "look at the client: it reset the connection although the server had accepted it",
        ),
        Some(Outcome::Gone(end)) => (
            Cause::Retransmission,
            end,
            "find out whether the peer's host still runs, and what on the path stopped carrying packets: a route, or a firewall or NAT that forgot the connection",
        ),
        _ => return,
    };
    let waits = stalls.iter_mut().filter(|stall| stall.cause == cause && stall.sender == sender);
    let open = |stall: &&mut StallRow| cause == Cause::Handshake || !stall.ended;
    waits.filter(open).for_each(|stall| stall.advice = advice);
}
