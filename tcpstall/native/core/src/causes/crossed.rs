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
/// as the ACK did, a wait that the ACK alone shows as Nagle's is a wait for the peer's words.
pub fn explain(flow: &Finished, pause: &Pause, limits: &Limits) -> Parts {
    let mut parts = split(pause, limits, flow.threshold);
    let held = |part: &&mut PausePart| part.cause == Cause::Nagle && part.proof.detail.is_empty();
    for part in parts.iter_mut().filter(held) {
        let closes = || flow.rounds().closing.is_some_and(|closing| closes(pause, closing));
        if words_crossed(pause, flow.pauses[pause.sender.peer()].facts()) || closes() {
            part.cause = Cause::AppLimited;
            part.proof = Proof { detail: details::AWAITING_PEER, confidence: part.proof.confidence.min(TOGETHER) };
            part.also.retain(|cause| *cause != Cause::AppLimited);
            part.also.insert(0, Cause::Nagle);
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
