//! One gap to its parts: where the reason changes within a wait, it becomes several stalls end to end.

use super::RULES;
use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Missing, Proof, Rule, Verdict, is_blurred};
use super::{retransmission, unexplained};
use crate::gap::Gap;
use crate::time::Nanos;

/// A stretch of a gap with one cause.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where it begins.
    pub start: Nanos,
    /// Where it ends.
    pub end: Nanos,
    /// Why.
    pub cause: Cause,
    /// The narrower word, and how sure.
    pub proof: Proof,
    /// The runners-up in order of precedence.
    pub also: Vec<Cause>,
    /// What evidence was missing.
    pub missing: Vec<&'static str>,
    /// What it was judged by, where that is not the gap as it began.
    pub rest: Option<Box<Gap>>,
}

/// What the rules say of a gap; parts shorter than `threshold` are not split off.
pub fn explain(gap: &Gap, limits: &Limits, threshold: Nanos) -> Vec<Part> {
    if let Some(last) = gap.left_out {
        return around_left_out(gap, limits, last.max(gap.start()), threshold);
    }
    if let Some(closed) = gap.closed.filter(|closed| *closed - gap.start() > threshold) {
        let whole = judge(gap, limits, gap.start(), gap.end);
        if whole.cause == Cause::ZeroWindow || judge_zero(gap, limits, closed) {
            return before_zero_window(gap, limits, closed);
        }
        return vec![whole];
    }
    let mut whole = judge(gap, limits, gap.start(), gap.end);
    if whole.cause == Cause::Retransmission {
        return match repaired(gap, threshold) {
            // Everything had arrived: nobody waited for the copies.
            Some((mut rest, _)) if retransmission::is_needless(gap) => {
                rest.before.end = gap.start();
                explain(&rest, limits, threshold)
            }
            Some((rest, at)) => {
                whole.end = at;
                let mut parts = repairs(gap, limits, whole, threshold);
                parts.extend(explain(&rest, limits, threshold));
                parts
            }
            None => around_recovery(gap, limits, whole, threshold),
        };
    }
    if whole.cause == Cause::AppLimited {
        return around_peer(gap, whole, threshold);
    }
    vec![whole]
}

/// What is left of a gap in which a repair was over long before it ended, and since when: with everything acknowledged the
/// retransmission timer is off (RFC 6298 §5.2) and no window is full, so the silence that follows has a reason of its own.
fn repaired(gap: &Gap, threshold: Nanos) -> Option<(Gap, Nanos)> {
    // By a better-known distance of the tap that ACK may have reached the sender before the gap.
    let (at, by_timer) = retransmission::repaired_at(gap)?;
    let at = at.max(gap.start());
    if !gap.ended || gap.end - at <= threshold {
        return None;
    }
    // Whoever sends again later had not heard that ACK: it was lost behind the tap.
    let sent_again = gap.repair.iter().flat_map(|repair| &repair.attempts).map(|attempt| attempt.time).max();
    let last = gap.first_retransmission.max(sent_again);
    let heard = last.map_or(gap.recovering || gap.hole.is_some(), |last| last <= at) && !gap.acks_lost;
    let heard = heard || by_timer;
    let mut rest = gap.clone();
    rest.before.end = at;
    (rest.flight_at_start, rest.segments_at_start, rest.segments_held) = (0, 0, 0);
    (rest.retransmissions, rest.first_retransmission, rest.repair) = (0, None, None);
    (rest.recovering, rest.hole) = (false, None);
    if by_timer {
        (rest.left_in_flight, rest.last_ack, rest.unseen.acks) = (0, Some(at), true);
    }
    rest.peer_first = rest.peer_first.map(|first| first.max(at));
    rest.peer_last = rest.peer_last.map(|last| last.max(at));
    (heard && (rest.fell_silent() || rest.is_turn())).then_some((rest, at))
}

/// A repair, and after the recovery point, where that was acknowledged long before the gap ended, what the rest waits for.
fn around_recovery(gap: &Gap, limits: &Limits, mut whole: Part, threshold: Nanos) -> Vec<Part> {
    let rest = gap.after_recovery().filter(|rest| rest.duration() > threshold && !gap.acks_lost);
    let Some(rest) = rest else { return repairs(gap, limits, whole, threshold) };
    let (mut parts, mut start) = (Vec::new(), whole.start);
    if rest.start() - start > threshold {
        start = rest.start();
        whole.end = start;
        parts = repairs(gap, limits, whole, threshold);
    }
    let judged = judge(&rest, limits, start, rest.end);
    parts.push(Part { rest: Some(Box::new(rest)), ..judged });
    parts
}

fn judge_zero(gap: &Gap, limits: &Limits, closed: Nanos) -> bool {
    let mut rest = gap.clone();
    rest.before.end = closed;
    let zero = RULES.iter().find(|rule| rule.cause == Cause::ZeroWindow);
    zero.is_some_and(|rule| matches!((rule.judge)(&rest, limits), Verdict::Yes(_)))
}

/// A repair's stretches between attempts of different kinds, as far as each is long enough to be one.
fn repairs(gap: &Gap, limits: &Limits, mut whole: Part, threshold: Nanos) -> Vec<Part> {
    if !gap.ended {
        // The repair is over when everything is acknowledged; after that nobody waits.
        whole.end = gap.all_acked.unwrap_or(gap.end).clamp(gap.start(), gap.end);
    }
    if let Some(freed) = gap.last_ack.filter(|_| gap.retransmissions == 0 && gap.lost_before_tap > 0 && !gap.recovering)
        && freed - gap.start() > threshold
    {
        // The ACK freed data that was lost before the tap: until then the sender waited for something else.
        let before = Gap { end: freed, lost_before_tap: 0, ..gap.clone() };
        let before = judge(&before, limits, gap.start(), freed);
        whole.start = freed;
        return vec![before, whole];
    }
    if let Some(hole) = gap.hole.filter(|hole| gap.all_acked.is_some_and(|acked| acked < hole.since))
        && hole.since - gap.start() > threshold
    {
        // What was lost was only sent then.
        let before = Gap { end: hole.since, hole: None, ..gap.clone() };
        let before = judge(&before, limits, gap.start(), hole.since);
        whole.start = hole.since;
        return vec![before, whole];
    }
    let mut parts = Vec::new();
    for stage in retransmission::stages(gap) {
        let stage_end = stage.end.min(whole.end);
        if stage_end < whole.end && stage_end - whole.start > threshold && whole.end - stage_end > threshold {
            parts.push(Part { end: stage_end, proof: stage.proof, ..whole.clone() });
            whole.start = stage_end;
        }
    }
    parts.push(whole);
    parts
}

/// Until the window was closed the wait had a reason of its own: it was already full, or a tail was being probed for.
fn before_zero_window(gap: &Gap, limits: &Limits, closed: Nanos) -> Vec<Part> {
    let mut rest = gap.clone();
    rest.before.end = closed;
    rest.retransmissions = 0;
    rest.first_retransmission = None;
    (rest.recovering, rest.hole) = (false, None);
    let mut before = gap.clone();
    before.end = closed;
    before.closed = None;
    before.peer_bytes = 0;
    if before.first_retransmission.is_some_and(|first| first >= closed) {
        before.first_retransmission = None;
        before.retransmissions = 0;
    }
    vec![judge(&before, limits, gap.start(), closed), judge(&rest, limits, closed, gap.end)]
}

/// What was captured before the hole is judged as if the gap had ended there; the rest nobody can tell.
fn around_left_out(gap: &Gap, limits: &Limits, last: Nanos, threshold: Nanos) -> Vec<Part> {
    let mut parts = Vec::new();
    if last - gap.start() > threshold {
        let mut seen = gap.clone();
        seen.left_out = None;
        seen.end = last;
        seen.unseen = Default::default();
        seen.left_in_flight = (gap.flight_at_start - gap.acked).max(0);
        seen.after = Default::default();
        parts.push(judge(&seen, limits, gap.start(), last));
    }
    let mut hole = judge(gap, limits, gap.start().max(last), gap.end);
    if last - gap.start() <= threshold {
        hole.start = gap.start();
    }
    hole.also.clear();
    parts.push(hole);
    parts
}

/// The peer's own turn inside a pause is not the sender's wait: what came before it and after it is.
fn around_peer(gap: &Gap, whole: Part, threshold: Nanos) -> Vec<Part> {
    let (Some(first), Some(last)) = (gap.peer_first, gap.peer_last) else { return vec![whole] };
    // Without anything new the peer may have spoken before the gap.
    let (first, last) = (first.max(gap.start()), last.max(gap.start()));
    // A request of one packet has no length of its own: the sender waited for it, then thought.
    let first = if last - first <= threshold { last } else { first };
    if first == last && (first - gap.start()).min(gap.end - last) <= threshold {
        return vec![whole];
    }
    let mut parts = Vec::new();
    if first - gap.start() > threshold {
        let mut before = whole.clone();
        before.end = first;
        before.proof.detail = "awaiting-peer";
        parts.push(before);
    }
    if gap.end - last > threshold {
        let mut after = whole;
        after.start = last;
        after.proof.detail = "think-time";
        parts.push(after);
    }
    parts
}

/// Packets stood in a queue before the tap for most of the gap: what the sender had out, and waited for, is not known.
fn stood_still(gap: &Gap) -> bool {
    gap.overtaken > Nanos::ZERO && gap.overtaken + gap.overtaken >= gap.duration()
}

/// Rules that rest on what was in flight.
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

/// Twice the first retransmission timer (RFC 6298 §2.1): over a longer path each SYN would be sent again.
const LONGEST_PATH: Nanos = Nanos::from_millis(2_000);

/// The sender stayed silent after the last ACK for longer than that could have taken to reach it.
fn outlasts_paths(gap: &Gap) -> bool {
    gap.left_in_flight == 0 && gap.after_ack().is_some_and(|span| span > LONGEST_PATH)
}

/// Rules that rest on which ACK reached the sender before which data abstain while the tap's distance was not known.
fn judge_one(rule: &Rule, gap: &Gap, limits: &Limits) -> Verdict {
    const RESTS_ON_ORDER: [Cause; 7] = [
        Cause::AppLimited,
        Cause::CwndLimited,
        Cause::IdleRestart,
        Cause::SndbufLimited,
        Cause::Nagle,
        Cause::DelayedAck,
        Cause::BandwidthLimited,
    ];
    let verdict = (rule.judge)(gap, limits);
    // Growth shows in the sizes of bursts, whichever ACK came before them.
    let grew = rule.cause == Cause::CwndLimited && gap.context.read.climb > 1;
    let silent = rule.cause == Cause::AppLimited && outlasts_paths(gap);
    let ordered = !gap.unseen.blind || gap.first || gap.is_turn() || grew || silent;
    match verdict {
        Verdict::Yes(_) if gap.unseen.acks && RESTS_ON_ACKS.contains(&rule.cause) => Verdict::CannotTell(Missing::ACKS),
        Verdict::Yes(_) if stood_still(gap) && RESTS_ON_ORDER.contains(&rule.cause) => {
            Verdict::CannotTell(Missing::DEPARTURE)
        }
        Verdict::Yes(_) if !ordered && RESTS_ON_ORDER.contains(&rule.cause) => Verdict::CannotTell(Missing::DISTANCE),
        verdict => verdict,
    }
}

/// What a multipath connection decides for all its subflows together (RFC 8684 §3.3.1 the window, §3.3.5 the scheduler); and
/// what rests on short segments, which its mappings make of full ones.
const SHARED: [Cause; 6] =
    [Cause::AppLimited, Cause::RwndLimited, Cause::SndbufLimited, Cause::ZeroWindow, Cause::Nagle, Cause::DelayedAck];
/// How sure one subflow can be of them.
const ONE_OF_SEVERAL: f32 = 0.6;

/// What rests on the order of ACKs and data, and on what was in flight between them.
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
/// How sure one can be of them where the capture holds packets out of order.
const OUT_OF_ORDER: f32 = 0.85;

fn judge(gap: &Gap, limits: &Limits, start: Nanos, end: Nanos) -> Part {
    let mut part = Part {
        start,
        end,
        cause: Cause::Unexplained,
        proof: unexplained::PROOF,
        also: Vec::new(),
        missing: Vec::new(),
        rest: None,
    };
    if gap.unseen.misdated {
        // How long it was is not known, and so not why.
        return Part { missing: vec![Missing::TIME.0], ..part };
    }
    let mut doubts: Vec<(Cause, Missing)> = Vec::new();
    let mut found = false;
    for rule in &RULES {
        match judge_one(rule, gap, limits) {
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
    if !gap.unseen.is_nothing() {
        part.proof.confidence *= 0.8;
        if !part.missing.contains(&Missing::PACKETS.0) {
            part.missing.push(Missing::PACKETS.0);
        }
    }
    if is_blurred(gap) && BLURRED.contains(&part.cause) {
        part.proof.confidence = part.proof.confidence.min(OUT_OF_ORDER);
    }
    if gap.multipath && SHARED.contains(&part.cause) {
        part.proof.confidence = part.proof.confidence.min(ONE_OF_SEVERAL);
        part.missing.push(Missing::SUBFLOWS.0);
    }
    if gap.unseen.unplaced {
        part.proof.confidence *= 0.8;
        part.missing.push(Missing::DISTANCE.0);
    }
    if !found {
        part.also = unexplained::ranked(gap, limits, doubts);
    } else if !doubts.is_empty() {
        // A rule of higher precedence could not be excluded.
        part.proof.confidence *= 0.8;
        part.also.extend(doubts.into_iter().map(|(cause, _)| cause));
    }
    part
}
