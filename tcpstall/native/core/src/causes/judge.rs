//! Applies the rules to a pause, in order of precedence, and the doubts to the verdict.

use super::RULES;
use super::cause::Cause;
use super::doubt::DOUBTS;
use super::limits::Limits;
use super::rule::{Missing, Proof, Rule, Verdict};
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

impl PausePart {
    /// Takes in that evidence is missing.
    fn lacks(&mut self, missing: Missing) {
        if !self.missing.contains(&missing.0) {
            self.missing.push(missing.0);
        }
    }
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
    let mut abstained: Few<(Cause, Missing)> = Few::new();
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
                abstained.push((rule.cause, missing));
                part.lacks(missing);
            }
            Verdict::Yes(_) | Verdict::No | Verdict::CannotTell(_) => {}
        }
    }
    let cause = part.cause;
    for doubt in DOUBTS.iter().filter(|doubt| doubt.concerns(cause, pause)) {
        part.proof.confidence = doubt.lowers(part.proof.confidence);
        if let Some(missing) = doubt.missing {
            part.lacks(missing);
        }
    }
    if !found {
        part.also = unexplained::ranked(pause, limits, abstained);
    } else if !abstained.is_empty() {
        // A rule of higher precedence could not be excluded.
        part.proof.confidence *= 0.8;
        part.also.extend(abstained.into_iter().map(|(cause, _)| cause));
    }
    part
}
