//! Splits a gap into consecutive stalls where the reason changes within the wait.

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
    /// Start of the part.
    pub start: Nanos,
    /// End of the part.
    pub end: Nanos,
    /// Cause of the part.
    pub cause: Cause,
    /// Detail of the cause, and the confidence.
    pub proof: Proof,
    /// Runners-up in order of precedence.
    pub also: Vec<Cause>,
    /// Missing evidence.
    pub missing: Vec<&'static str>,
    /// Gap that the part was judged by, where that is not the gap as it began.
    pub rest: Option<Box<Gap>>,
}

/// Judges a gap by the rules; parts shorter than `threshold` are not split off.
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
            // All data had arrived: nobody waited for the copies.
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

/// Rest of a gap whose repair ended long before the gap did, and the start of that rest. With all data acknowledged the
/// retransmission timer is off (RFC 6298 §5.2) and no window is full, so the following silence has a reason of its own.
fn repaired(gap: &Gap, threshold: Nanos) -> Option<(Gap, Nanos)> {
    // With a more accurate distance of the tap, that ACK may have reached the sender before the gap.
    let (at, by_timer) = retransmission::repaired_at(gap)?;
    let at = at.max(gap.start());
    if !gap.ended || gap.end - at <= threshold {
        return None;
    }
    // A sender that retransmits later had not received that ACK: the ACK was lost behind the tap.
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

/// Splits a gap at the recovery point, where that was acknowledged long before the gap ended: first the repair, then
/// the reason for the rest.
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

/// Splits a repair into the stretches between attempts of different kinds, where each stretch is long enough for a
/// part.
fn repairs(gap: &Gap, limits: &Limits, mut whole: Part, threshold: Nanos) -> Vec<Part> {
    if !gap.ended {
        // The repair is over when all data is acknowledged; after that nobody waits for it.
        whole.end = gap.all_acked.unwrap_or(gap.end).clamp(gap.start(), gap.end);
    }
    if let Some(freed) = gap.last_ack.filter(|_| gap.retransmissions == 0 && gap.lost_before_tap > 0 && !gap.recovering)
        && freed - gap.start() > threshold
    {
        // The ACK released data that was lost before the tap: until then the sender waited for something else.
        let before = Gap { end: freed, lost_before_tap: 0, ..gap.clone() };
        let before = judge(&before, limits, gap.start(), freed);
        whole.start = freed;
        return vec![before, whole];
    }
    if let Some(hole) = gap.hole.filter(|hole| gap.all_acked.is_some_and(|acked| acked < hole.since))
        && hole.since - gap.start() > threshold
    {
        // The lost data was sent only then.
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

/// Splits off the wait before the window closed, because it had another reason: the window was already full, or the
/// sender waited for a tail-loss probe.
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

/// Judges the packets before the hole in the paste as if the gap had ended there; the rest cannot be judged.
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

/// Splits off the peer's own turn inside a pause: the sender waits only before it and after it.
fn around_peer(gap: &Gap, whole: Part, threshold: Nanos) -> Vec<Part> {
    let (Some(first), Some(last)) = (gap.peer_first, gap.peer_last) else { return vec![whole] };
    // Without any new data the peer may have sent its payload before the gap.
    let (first, last) = (first.max(gap.start()), last.max(gap.start()));
    // A request of one packet has no length: the sender waited for the request, then computed.
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

/// Packets were queued before the tap for most of the gap: the data that the sender had in flight is unknown.
fn stood_still(gap: &Gap) -> bool {
    gap.overtaken > Nanos::ZERO && gap.overtaken + gap.overtaken >= gap.duration()
}

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

/// Twice the first retransmission timeout (RFC 6298 §2.1): over a longer path every SYN would be retransmitted.
const LONGEST_PATH: Nanos = Nanos::from_millis(2_000);

/// The sender stayed silent after the last ACK for longer than the ACK could have taken to reach it.
fn outlasts_paths(gap: &Gap) -> bool {
    gap.left_in_flight == 0 && gap.after_ack().is_some_and(|span| span > LONGEST_PATH)
}

/// Applies one rule. Rules that depend on the order of ACKs and data abstain while the tap's distance is unknown.
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
    // Growth is visible in the sizes of bursts, whichever ACK came before them.
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

/// Causes that a multipath connection decides for all its subflows together (RFC 8684 §3.3.1 the window, §3.3.5 the
/// scheduler), and causes that rest on short segments, because its mappings cut full segments short.
const SHARED: [Cause; 6] =
    [Cause::AppLimited, Cause::RwndLimited, Cause::SndbufLimited, Cause::ZeroWindow, Cause::Nagle, Cause::DelayedAck];
/// Highest confidence in those causes from one subflow.
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
/// Highest confidence in those causes where the capture holds packets out of order.
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
        // The length of the wait is unknown, and therefore its reason.
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
