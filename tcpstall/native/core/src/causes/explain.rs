//! Splits a pause into consecutive stalls where the reason changes within the wait.

use smallvec::smallvec;

use super::RULES;
use super::cause::Cause;
use super::details;
use super::judge::{Parts, PausePart, judge};
use super::limits::Limits;
use super::nagle;
use super::retransmission;
use super::rule::{Proof, Verdict};
use crate::pause::{Facts, Pause};
use crate::time::Nanos;

/// Confidence of a full window during which the sender also waited for its probe timer.
const PROBED: f32 = 0.75;

/// Judges a pause by the rules; parts shorter than `threshold` are not split off.
pub fn explain(pause: &Pause, limits: &Limits, threshold: Nanos) -> Parts {
    if let Some(last) = pause.left_out {
        return around_left_out(pause, limits, last.max(pause.start()), threshold);
    }
    if let Some(closed) = pause.closed.filter(|closed| *closed - pause.start() > threshold) {
        let whole = judge(pause, limits, pause.start(), pause.end);
        if whole.cause == Cause::ZeroWindow || judge_zero(pause, limits, closed) {
            return before_zero_window(pause, limits, closed);
        }
        return around_vain_probe(pause, limits, &whole, threshold).unwrap_or_else(|| smallvec![whole]);
    }
    let mut whole = judge(pause, limits, pause.start(), pause.end);
    if whole.cause == Cause::Retransmission {
        if retransmission::held_nobody(pause) {
            return explain(&pause.with(&pause.without_repairs()), limits, threshold);
        }
        if retransmission::went_on_unheard(pause) || retransmission::probed_after_a_write(pause) {
            let parts = explain(&pause.with(&pause.without_repairs()), limits, threshold);
            if parts.iter().all(|part| part.cause == Cause::AppLimited) {
                return parts;
            }
        }
        if let Some(first) = retransmission::began_at_the_end(pause) {
            return smallvec![until_report(pause, limits, whole, first)];
        }
        if let Some(parts) = around_vain_probe(pause, limits, &whole, threshold) {
            return parts;
        }
        let parts = match repaired(pause, threshold) {
            // All data had arrived: nobody waited for the copies.
            Some((mut rest, _)) if retransmission::is_needless(pause) && !retransmission::is_unheard(pause) => {
                rest.before.end = pause.start();
                explain(&pause.with(&rest), limits, threshold)
            }
            Some((rest, at)) => {
                whole.end = at;
                let mut parts = repairs(pause, limits, whole, threshold);
                parts.extend(explain(&pause.with(&rest), limits, threshold));
                parts
            }
            None => around_recovery(pause, limits, whole, threshold),
        };
        let parts = before_report(pause, limits, parts, threshold);
        let parts = behind_held_tail(pause, parts, threshold);
        return behind_request(pause, parts, threshold);
    }
    if whole.cause == Cause::AppLimited && whole.proof.detail != details::APPLICATION_WINDOW {
        return around_peer(pause, whole, threshold);
    }
    smallvec![whole]
}

/// Names the limit that made the sender wait until the report of a loss, where the repair began at `first` and the wait ended
/// with it: until the report the sender did not know of the loss.
fn until_report(pause: &Pause, limits: &Limits, mut whole: PausePart, first: Nanos) -> PausePart {
    let before = Facts { end: first, ..pause.without_repairs() };
    let mut waited = judge(&pause.with(&before), limits, whole.start, whole.end);
    // A cap on bursts holds a sender below its window.
    let capped = pause.context.turns_cut_alike >= limits.cut_turns;
    if capped || !retransmission::HOLDS_UNTIL_REPORT.contains(&waited.cause) {
        whole.proof.confidence = whole.proof.confidence.min(retransmission::REPAIRED);
        return whole;
    }
    waited.proof.confidence = waited.proof.confidence.min(retransmission::REPAIRED);
    waited.also.insert(0, Cause::Retransmission);
    waited
}

/// Splits off the wait after the last needless probe: the original had arrived, so the sender waited for its ACK at the same
/// limit as before, which a probe does not lower (RFC 8985 §7.4.2).
fn around_vain_probe(pause: &Pause, limits: &Limits, whole: &PausePart, threshold: Nanos) -> Option<Parts> {
    let attempts = &pause.repair.as_ref().filter(|_| retransmission::probed_in_vain(pause) && pause.ended)?.attempts;
    let at = attempts.iter().map(|attempt| attempt.time).max()?;
    let answered = pause.last_ack.is_some_and(|ack| ack > at) && pause.all_acked.is_none_or(|acked| acked > at);
    if !answered || at - pause.start() <= threshold || pause.end - at <= threshold {
        return None;
    }
    let mut rest = pause.without_repairs();
    rest.before.end = at;
    let mut waited = judge(&pause.with(&rest), limits, at, pause.end);
    waited.proof.confidence = waited.proof.confidence.min(PROBED);
    let holds = retransmission::HOLDS_UNTIL_REPORT.contains(&waited.cause);
    holds.then(|| smallvec![PausePart { end: at, ..whole.clone() }, waited])
}

/// Splits off the wait until the report of a loss, where no loss was known when the wait began: a limit made the sender wait for
/// that round trip without the loss too.
fn before_report(pause: &Pause, limits: &Limits, mut parts: Parts, threshold: Nanos) -> Parts {
    let Some(rest) = pause.before_report() else { return parts };
    let (start, end) = (pause.start(), rest.facts.end);
    let Some(repair) = parts.first_mut().filter(|part| part.cause == Cause::Retransmission) else { return parts };
    if repair.start > start || end - start <= threshold || repair.end - end <= threshold {
        return parts;
    }
    let mut waited = judge(&rest.pause(), limits, start, end);
    if retransmission::HOLDS_UNTIL_REPORT.contains(&waited.cause) {
        waited.proof.confidence = waited.proof.confidence.min(retransmission::REPAIRED);
        repair.start = end;
        parts.insert(0, PausePart { rest: Some(Box::new(rest)), ..waited });
    } else if let Some(reported) = reported_in_answer(pause).filter(|at| *at - start > threshold) {
        repair.start = reported.min(end);
    }
    parts
}

/// Splits off the wait in which Nagle's algorithm held the end of a write behind a flight, before anything showed that a part of
/// the flight was lost: the sender would have waited for that round trip without the loss too.
fn behind_held_tail(pause: &Pause, mut parts: Parts, threshold: Nanos) -> Parts {
    let (start, until) = (pause.start(), nagle::held_until_repair(pause));
    let Some(until) = until.filter(|until| *until - start > threshold) else { return parts };
    let Some(repair) = parts.first_mut().filter(|part| part.cause == Cause::Retransmission) else { return parts };
    if repair.start > start || repair.end - until <= threshold {
        return parts;
    }
    let mut held = PausePart { end: until, cause: Cause::Nagle, proof: nagle::BEFORE_REPAIR, ..repair.clone() };
    held.also.insert(0, Cause::Retransmission);
    repair.start = until;
    parts.insert(0, held);
    parts
}

/// Splits off the time until the peer's message, where the answer was lost before the tap and no loss came earlier: the sender had
/// nothing to send until then, and its timer ran only since.
fn behind_request(pause: &Pause, mut parts: Parts, threshold: Nanos) -> Parts {
    let asked = pause.peer_last.filter(|_| retransmission::lost_its_answer(pause));
    let Some(asked) = asked.filter(|asked| *asked - pause.start() > threshold) else { return parts };
    let Some(repair) = parts.first_mut().filter(|part| part.cause == Cause::Retransmission) else { return parts };
    if repair.start > pause.start() || repair.end - asked <= threshold {
        return parts;
    }
    let proof = Proof { detail: details::AWAITING_PEER, ..repair.proof };
    let waited = PausePart { end: asked, cause: Cause::AppLimited, proof, ..repair.clone() };
    repair.start = asked;
    parts.insert(0, waited);
    parts
}

/// First report of a loss, where the sender had nothing more to send until the peer answered: before it that was the
/// normal round trip, for which nobody is to blame.
fn reported_in_answer(pause: &Pause) -> Option<Nanos> {
    pause.hole.and_then(|hole| hole.reported).filter(|_| pause.is_turn() && pause.near_sender())
}

/// Rest of a pause whose repair ended long before the pause did, and the start of that rest. With all data acknowledged the
/// retransmission timer is off (RFC 6298 §5.2) and no window is full, so the following silence has a reason of its own.
fn repaired(pause: &Pause, threshold: Nanos) -> Option<(Facts, Nanos)> {
    // With a more accurate distance of the tap, that ACK may have reached the sender before the pause.
    let (at, by_timer) = retransmission::repaired_at(pause)?;
    let at = at.max(pause.start());
    if !pause.ended || pause.end - at <= threshold {
        return None;
    }
    // A sender that retransmits later had not received that ACK: the ACK was lost behind the tap.
    let sent_again = pause.repair.iter().flat_map(|repair| &repair.attempts).map(|attempt| attempt.time).max();
    let last = pause.first_retransmission.max(sent_again);
    let heard = last.map_or(pause.recovering || pause.hole.is_some(), |last| last <= at) && !pause.acks_lost;
    let heard = heard || by_timer;
    let mut rest = pause.without_repairs();
    rest.before.end = at;
    (rest.flight_at_start, rest.segments_at_start, rest.segments_held) = (0, 0, 0);
    if by_timer {
        (rest.left_in_flight, rest.last_ack, rest.unseen.acks) = (0, Some(at), true);
    }
    rest.peer_first = rest.peer_first.map(|first| first.max(at));
    rest.peer_last = rest.peer_last.map(|last| last.max(at));
    (heard && (rest.fell_silent() || rest.is_turn())).then_some((rest, at))
}

/// Splits a pause at the recovery point, where that was acknowledged long before the pause ended: first the repair, then
/// the reason for the rest.
fn around_recovery(pause: &Pause, limits: &Limits, mut whole: PausePart, threshold: Nanos) -> Parts {
    let rest = pause.after_recovery().filter(|rest| rest.facts.duration() > threshold && !pause.acks_lost);
    let Some(rest) = rest else { return repairs(pause, limits, whole, threshold) };
    let (mut parts, mut start) = (Parts::new(), whole.start);
    if rest.facts.start() - start > threshold {
        start = rest.facts.start();
        whole.end = start;
        parts = repairs(pause, limits, whole, threshold);
    }
    let judged = judge(&rest.pause(), limits, start, rest.facts.end);
    parts.push(PausePart { rest: Some(Box::new(rest)), ..judged });
    parts
}

fn judge_zero(pause: &Pause, limits: &Limits, closed: Nanos) -> bool {
    let mut rest = pause.facts.clone();
    rest.before.end = closed;
    let zero = RULES.iter().find(|rule| rule.cause == Cause::ZeroWindow);
    zero.is_some_and(|rule| matches!((rule.judge)(&pause.with(&rest), limits), Verdict::Yes(_)))
}

/// Splits a repair into the stretches between attempts of different kinds, where each stretch is long enough for a
/// part.
fn repairs(pause: &Pause, limits: &Limits, mut whole: PausePart, threshold: Nanos) -> Parts {
    if !pause.ended {
        // The repair is over when all data is acknowledged; after that nobody waits for it.
        // A sender that then repeats it again and again has not received that ACK.
        let again = pause.repair.as_ref().filter(|repair| repair.sent > 1);
        let again = again.and_then(|repair| repair.attempts.iter().map(|attempt| attempt.time).max());
        let over = pause.all_acked.map_or(pause.end, |acked| again.map_or(acked, |again| again.max(acked)));
        whole.end = over.clamp(pause.start(), pause.end);
    }
    if let Some(hole) = pause.hole.filter(|hole| pause.all_acked.is_some_and(|acked| acked < hole.since))
        && hole.since - pause.start() > threshold
    {
        // The lost data was sent only then.
        let before = Facts { end: hole.since, hole: None, ..pause.facts.clone() };
        let mut parts = explain(&pause.with(&before), limits, threshold);
        whole.start = hole.since;
        parts.push(whole);
        return parts;
    }
    let mut parts = Parts::new();
    for stage in retransmission::stages(pause) {
        let stage_end = stage.end.min(whole.end);
        if stage_end < whole.end && stage_end - whole.start > threshold && whole.end - stage_end > threshold {
            parts.push(PausePart { end: stage_end, proof: stage.proof, ..whole.clone() });
            whole.start = stage_end;
        }
    }
    parts.push(whole);
    parts
}

/// Splits off the wait before the window closed, because it had another reason: the window was already full, or the
/// sender waited for a tail-loss probe.
fn before_zero_window(pause: &Pause, limits: &Limits, closed: Nanos) -> Parts {
    let mut rest = pause.facts.clone();
    rest.before.end = closed;
    rest.retransmissions = 0;
    rest.first_retransmission = None;
    (rest.recovering, rest.hole) = (false, None);
    let mut before = pause.facts.clone();
    before.end = closed;
    before.closed = None;
    before.peer_bytes = 0;
    // No receiver moves the edge of its window back (RFC 9293 §3.8.6): if the ACK of everything closed it, it was full.
    if before.room_at_start.is_none() && pause.all_acked.is_some_and(|acked| acked <= closed) {
        (before.room_at_start, before.window) = (Some(0), Some(before.flight_at_start));
    }
    let probed = retransmission::probed_in_vain(&pause.with(&before)) && before.has_room() == Some(false);
    if probed || before.first_retransmission.is_some_and(|first| first >= closed) {
        before.first_retransmission = None;
        before.retransmissions = 0;
    }
    let mut first = judge(&pause.with(&before), limits, pause.start(), closed);
    if probed {
        first.proof.confidence = first.proof.confidence.min(PROBED);
    }
    smallvec![first, judge(&pause.with(&rest), limits, closed, pause.end)]
}

/// Judges the packets before the hole in the paste as if the pause had ended there; the rest cannot be judged.
fn around_left_out(pause: &Pause, limits: &Limits, last: Nanos, threshold: Nanos) -> Parts {
    let mut parts = Parts::new();
    if last - pause.start() > threshold {
        let mut seen = pause.facts.clone();
        seen.left_out = None;
        seen.end = last;
        seen.unseen = Default::default();
        seen.left_in_flight = (pause.flight_at_start - pause.acked).max(0);
        seen.after = Default::default();
        parts.push(judge(&pause.with(&seen), limits, pause.start(), last));
    }
    let mut hole = judge(pause, limits, pause.start().max(last), pause.end);
    if last - pause.start() <= threshold {
        hole.start = pause.start();
    }
    hole.also.clear();
    parts.push(hole);
    parts
}

/// Splits off the peer's own turn inside a pause: the sender waits only before it and after it.
fn around_peer(pause: &Pause, whole: PausePart, threshold: Nanos) -> Parts {
    let (Some(first), Some(last)) = (pause.peer_first, pause.peer_last) else { return smallvec![whole] };
    // Without any new data the peer may have sent its payload before the pause.
    let (first, last) = (first.max(pause.start()), last.max(pause.start()));
    // A request of one packet has no length: the sender waited for the request, then computed.
    let first = if last - first <= threshold { last } else { first };
    if first == last && (first - pause.start()).min(pause.end - last) <= threshold {
        return smallvec![whole];
    }
    let mut parts = Parts::new();
    if first - pause.start() > threshold {
        let mut before = whole.clone();
        before.end = first;
        before.proof.detail = details::AWAITING_PEER;
        parts.push(before);
    }
    if pause.end - last > threshold {
        let mut after = whole;
        after.start = last;
        after.proof.detail = details::THINK_TIME;
        parts.push(after);
    }
    parts
}
