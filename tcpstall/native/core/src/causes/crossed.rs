//! Words of the peer that crossed a sender's last data on the way. They reached the sender together with the ACK of that
//! data, so that the next data answers them: an application writes its answer once it has read the words, and that the ACK
//! came with them is no proof that anything was held.

use super::cause::Cause;
use super::details;
use super::explain::explain as split;
use super::judge::{Parts, PausePart};
use super::limits::Limits;
use super::rule::Proof;
use crate::flow::rounds::Closing;
use crate::pause::{Facts, Finished, Pause};

/// Confidence where the peer's words and the ACK reached the sender together: what was written before the words came was
/// held by Nagle's algorithm until then.
const TOGETHER: f32 = 0.75;

/// Explains a pause of a finished flow. Where the peer's payload or FIN reached the sender between its last data and its next,
/// as the ACK did, a wait that the ACK alone shows as Nagle's is a wait for the peer's words; and where the FIN came with an ACK
/// that had been held back, or after it, so is a wait for that ACK.
pub fn explain(flow: &Finished, pause: &Pause, limits: &Limits) -> Parts {
    let mut parts = split(pause, limits, flow.threshold);
    let held = |part: &&mut PausePart| match part.cause {
        Cause::Nagle => part.proof.detail.is_empty(),
        cause => cause == Cause::DelayedAck,
    };
    for part in parts.iter_mut().filter(held) {
        let held_by = part.cause;
        let closing = || flow.rounds().closing.filter(|closing| closes(pause, *closing));
        // An ACK that was held back came long after words that had crossed the data: they did not let the next data go.
        let answers = match held_by {
            Cause::Nagle => words_crossed(pause, flow.pauses[pause.sender.peer()].facts()) || closing().is_some(),
            _ => closing().is_some_and(|closing| came_with_ack(pause, closing)),
        };
        if answers {
            part.cause = Cause::AppLimited;
            part.proof = Proof { detail: details::AWAITING_PEER, confidence: part.proof.confidence.min(TOGETHER) };
            part.also.retain(|cause| *cause != Cause::AppLimited);
            part.also.insert(0, held_by);
        }
    }
    parts
}

/// The peer's latest payload before the wait had passed the tap, and could not yet have reached the sender; `peer` are the
/// peer's pauses in order of time.
fn words_crossed(pause: &Pause, peer: &[Facts]) -> bool {
    let before = peer.partition_point(|other| other.start() < pause.start());
    let spoken = peer[..before].iter().rev().find(|other| !other.first);
    spoken.is_some_and(|other| other.start() + pause.distance > pause.start())
}

/// The peer closed its side: the sender's application reads the end of the stream, and may answer that.
fn closes(pause: &Pause, closing: Closing) -> bool {
    let after = closing.time + pause.distance > pause.start();
    closing.by != pause.sender && !closing.reset && after && closing.time <= pause.end
}

/// The peer's FIN reached the sender with the ACK or after it, and before the next data: that may answer the close.
fn came_with_ack(pause: &Pause, closing: Closing) -> bool {
    let heard = closing.time + pause.distance;
    heard <= pause.end && pause.last_ack.is_some_and(|ack| ack <= heard)
}
