//! Applies the rules to a pause, in order of precedence, and weighs what else is known of it.

use super::RULES;
use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Missing, Proof, Rule, Verdict, is_blurred};
use super::unexplained;
use crate::few::Few;
use crate::pause::{Pause, Rest};
use crate::time::Nanos;

/// A stretch of a pause with one cause.
#[derive(Clone, Debug)]
pub struct PausePart {
    /// Start of the part.
    pub start: Nanos,
    /// End of the part.
    pub end: Nanos,
    /// Cause of the part.
    pub cause: Cause,
    /// Detail of the cause, and the confidence.
    pub proof: Proof,
    /// Runners-up in order of precedence.
    pub also: Few<Cause, 16>,
    /// Missing evidence.
    pub missing: Vec<&'static str>,
    /// Pause that the part was judged by, where that is not the pause as it began.
    pub rest: Option<Box<Rest>>,
}

/// Parts of a pause: nearly always one.
pub(super) type Parts = Few<PausePart, 1>;

/// Rules that depend on the data in flight.
const RESTS_ON_ACKS: [Cause; 9] = [
    Cause::BandwidthLimited,
    Cause::RwndLimited,
    Cause::DelayedAck,
    Cause::Nagle,
    Cause::Pacing,
    Cause::BurstLimited,
    Cause::IdleRestart,
    Cause::CwndLimited,
    Cause::SndbufLimited,
];

/// Applies one rule. Rules that depend on the order of ACKs and data abstain while the tap's distance is unknown.
fn judge_one(rule: &Rule, pause: &Pause, limits: &Limits) -> Verdict {
    const RESTS_ON_ORDER: [Cause; 7] = [
        Cause::AppLimited,
        Cause::CwndLimited,
        Cause::IdleRestart,
        Cause::SndbufLimited,
        Cause::Nagle,
        Cause::DelayedAck,
        Cause::BandwidthLimited,
    ];
    let verdict = (rule.judge)(pause, limits);
    if !matches!(verdict, Verdict::Yes(_)) {
        return verdict;
    }
    // Growth is visible in the sizes of bursts, whichever ACK came before them.
    let grew = rule.cause == Cause::CwndLimited && pause.context.read.climb > 1;
    let silent = rule.cause == Cause::AppLimited && (pause.outlasts_paths() || pause.outlasts_soonest_answer());
    let ordered = !pause.unseen.blind || pause.first || pause.is_turn() || grew || silent;
    if pause.unseen.acks && RESTS_ON_ACKS.contains(&rule.cause) {
        Verdict::CannotTell(Missing::ACKS)
    } else if pause.stood_still() && RESTS_ON_ORDER.contains(&rule.cause) {
        Verdict::CannotTell(Missing::DEPARTURE)
    } else if !ordered && RESTS_ON_ORDER.contains(&rule.cause) {
        Verdict::CannotTell(Missing::DISTANCE)
    } else {
        verdict
    }
}

/// Causes that a subflow of a multipath connection shows by itself. Its window, its data and whether it may send are those of the
/// whole connection (RFC 8684 §3.3.1, §3.3.5), its congestion window grows with that of the others (RFC 6356 §3), and the
/// connection's mappings cut full segments short.
const OWN: [Cause; 4] = [Cause::Handshake, Cause::Retransmission, Cause::CaptureGap, Cause::Unexplained];
/// Highest confidence in other causes from one subflow.
const ONE_OF_SEVERAL: f32 = 0.6;

/// Causes that rest on the order of ACKs and data, and on the data in flight between them.
const BLURRED: [Cause; 9] = [
    Cause::AppLimited,
    Cause::RwndLimited,
    Cause::CwndLimited,
    Cause::IdleRestart,
    Cause::SndbufLimited,
    Cause::Nagle,
    Cause::DelayedAck,
    Cause::Pacing,
    Cause::BurstLimited,
];
/// Causes for which little more than the ACK that ended the wait speaks.
const COINCIDES: [Cause; 2] = [Cause::Nagle, Cause::SndbufLimited];
/// Highest confidence in those causes where the data may have followed the ACK by chance.
const BY_CHANCE: f32 = 0.75;
/// Causes that a wait for the repair resembles at the sender, once a loss is reported.
const LIKE_REPAIRS: [Cause; 3] = [Cause::CwndLimited, Cause::SndbufLimited, Cause::Pacing];
/// Highest confidence in those causes where a loss had been reported.
const REPORTED: f32 = 0.75;
/// Causes that rest, with data in flight, on the absence of ACKs or on what each ACK lets go.
const WITHOUT_ACKS: [Cause; 3] = [Cause::AppLimited, Cause::Pacing, Cause::BurstLimited];
/// Highest confidence in those causes where the capture may lack ACKs.
const PERHAPS_ACKED: f32 = 0.75;
/// Highest confidence in those causes where the capture holds packets out of order.
const OUT_OF_ORDER: f32 = 0.85;

/// Judges a pause by the rules, as the cause of the stretch from `start` to `end`.
pub(super) fn judge(pause: &Pause, limits: &Limits, start: Nanos, end: Nanos) -> PausePart {
    let mut part = PausePart {
        start,
        end,
        cause: Cause::Unexplained,
        proof: unexplained::PROOF,
        also: Few::new(),
        missing: Vec::new(),
        rest: None,
    };
    if pause.unseen.misdated {
        // The length of the wait is unknown, and therefore its reason.
        return PausePart { missing: vec![Missing::TIME.0], ..part };
    }
    let mut doubts: Few<(Cause, Missing)> = Few::new();
    let mut found = false;
    for rule in &RULES {
        match judge_one(rule, pause, limits) {
            Verdict::Yes(proof) if !found => {
                found = true;
                part.cause = rule.cause;
                part.proof = proof;
            }
            Verdict::Yes(_) if !part.also.contains(&rule.cause) => part.also.push(rule.cause),
            Verdict::CannotTell(missing) if !found => {
                doubts.push((rule.cause, missing));
                if !part.missing.contains(&missing.0) {
                    part.missing.push(missing.0);
                }
            }
            Verdict::Yes(_) | Verdict::No | Verdict::CannotTell(_) => {}
        }
    }
    if !pause.unseen.is_nothing() {
        part.proof.confidence *= 0.8;
        if !part.missing.contains(&Missing::PACKETS.0) {
            part.missing.push(Missing::PACKETS.0);
        }
    }
    if is_blurred(pause) && BLURRED.contains(&part.cause) {
        part.proof.confidence = part.proof.confidence.min(OUT_OF_ORDER);
    }
    if pause.ack_is_no_proof() && COINCIDES.contains(&part.cause) {
        part.proof.confidence = part.proof.confidence.min(BY_CHANCE);
    }
    let reported = pause.near_sender() && pause.hole.is_some_and(|hole| hole.reported.is_some());
    if reported && LIKE_REPAIRS.contains(&part.cause) {
        part.proof.confidence = part.proof.confidence.min(REPORTED);
    }
    if pause.unseen.perhaps_acks && pause.left_in_flight > 0 && WITHOUT_ACKS.contains(&part.cause) {
        part.proof.confidence = part.proof.confidence.min(PERHAPS_ACKED);
        part.missing.push(Missing::UNSTAMPED_ACKS.0);
    }
    if pause.multipath && !OWN.contains(&part.cause) {
        part.proof.confidence = part.proof.confidence.min(ONE_OF_SEVERAL);
        part.missing.push(Missing::SUBFLOWS.0);
    }
    if pause.unseen.unplaced {
        part.proof.confidence *= 0.8;
        part.missing.push(Missing::DISTANCE.0);
    }
    if !found {
        part.also = unexplained::ranked(pause, limits, doubts);
    } else if !doubts.is_empty() {
        // A rule of higher precedence could not be excluded.
        part.proof.confidence *= 0.8;
        part.also.extend(doubts.into_iter().map(|(cause, _)| cause));
    }
    part
}
