//! `retransmission` — the sender was repairing a loss, or waiting for the timer that starts the repair.
//!
//! Rule      data was sent again during the pause, or a recovery begun before it was not over; at a tap behind the loss: the IP-ID
//!           counter or a hole in the sequence shows packets that were sent and did not arrive, or the sender sends again what the
//!           tap saw acknowledged; or the receiver lacked data for most of the wait, by its SACK blocks or by a hole at the tap
//!           that nothing acknowledged; or a silence of a timer's time began in the middle of a write (no PSH) and ended with a
//!           single segment, or ended with a window of one segment, less than the initial window. It ends where everything is
//!           acknowledged, or the recovery point; a wait whose repairs began for different reasons is split, and so is the wait
//!           before the first report of a loss: until then a window or the buffer held the sender, or nothing did, where its own
//!           tap shows that it had no more until the peer answered; and so is the wait until that report, or until the last ACK
//!           before the timer, where Nagle's algorithm held the short end of a write; and so is the time until the peer's message,
//!           where only the answer to that message was lost before the tap
//! Evidence  `retransmissions`, `timeouts`, `needless_retransmissions`, `congestion_point_bytes` (in flight when the first lost
//!           segment was first sent), `lost_before_tap`; details `timeout` (no sign of loss came before the timer),
//!           `fast-retransmit` (SACK came, or three duplicate ACKs without it), `tail-loss` (the probe timer), `recovery`,
//!           `spurious` (the original had arrived, by a DSACK, by an echoed timestamp, by an ACK that met the copy on its way, by
//!           ACKs that step on through the rest of the flight although only its first segment was sent again, or beside a receiver
//!           without SACK by an ACK that came at once, or by one that came too soon after the only copy for any round trip)
//! Source    RFC 6298 §5, RFC 5681 §3.2, RFC 6675 §5, RFC 8985 §7 (TLP), RFC 2883, RFC 3522, RFC 5682; Linux
//!           `tcp_retransmit_timer`, `tcp_send_loss_probe`
//! Abstains  where the sender, having heard nothing since its only copy, went on with new data all the same: nothing had held it;
//!           where its writes had ended with a short segment, and probes in vain alone followed until everything was acknowledged;
//!           where, at the sender, new data ended the wait and nothing had been sent again yet, although reports of a loss had
//!           come; where data was sent again for the first time four timeouts after it was acknowledged, or to a peer whose last
//!           word was a RST; a byte without PSH below the next one to send keeps an idle connection alive; what was lost without a
//!           trace, or is missing where the capture lacks ACKs without payload, is for `capture-gap` or `unexplained`. Never sure of
//!           a first timeout as late as that, nor of a needless copy that came sooner than any timer, without a report (the path may
//!           have made it), nor of a lone probe that was not acknowledged at once, nor of a copy of the only segment out that came
//!           before the longest delayed ACK, over a path too short to lose data often, to a receiver without SACK
//! Looks like `zero-window` (probes of a closed window are not retransmissions), reordering (no data is sent twice), `cwnd-limited`
//!           (after the repair was sent its ACK frees both), `app-limited` at the receiver (a lost tail leaves the tap with nothing
//!           outstanding)

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::rule::{Proof, Rule, Verdict, yes};
use super::tail_probe;
use crate::pause::LEAST_PAUSE;
use crate::pause::{Attempt, Pause, PauseRepairs, Trigger};
use crate::sender::timers::{self, Expired};
use crate::time::Nanos;

pub(super) const RULE: Rule = Rule { cause: Cause::Retransmission, judge };

fn judge(pause: &Pause, _: &Limits) -> Verdict {
    if sends_old_data(pause) {
        return Verdict::No;
    }
    if pause.first_retransmission.is_some() {
        return Verdict::Yes(stages(pause).last().map_or(RECOVERY, |stage| stage.proof));
    }
    // Without the receiver's ACKs nothing shows that a recovery is over.
    if pause.recovering && !pause.unseen.acks {
        return Verdict::Yes(RECOVERY);
    }
    lost_before_tap(pause).or(|| beneath_hole(pause)).or(|| broken_off(pause))
}

/// The peer asked, and the first copy of the answer was lost before the tap: everything earlier had been acknowledged, and no copy of
/// it was sent or is missing.
pub(super) fn lost_its_answer(pause: &Pause) -> bool {
    let whole = pause.hole.is_none() && pause.hole_before == 0 && !pause.recovering && !pause.acks_lost;
    let acked = pause.all_acked.zip(pause.peer_last).is_some_and(|(acked, asked)| acked <= asked);
    whole && acked && pause.first_retransmission.is_none() && pause.lost_before_tap > 0 && pause.is_turn()
}

/// Timeouts in which the retransmission timer of a sender without earlier losses has expired: the round trip may have been longer
/// than the tap saw, or unknown (3 s: RFC 1122 §4.2.3.1).
pub(super) const EXPIRED: i64 = 4;

/// Longest time after which the retransmission timer expires for the first time, of a sender without earlier losses.
fn longest_timer(pause: &Pause) -> Nanos {
    timers::rto(pause.srtt.max(pause.base_rtt)).max(timers::INITIAL_RTO).times(EXPIRED)
}

/// The first attempt of a repair came later than any timer expires that had not expired before.
fn is_overdue(pause: &Pause, attempt: &Attempt) -> bool {
    let Some(attempts) = pause.repair.as_ref().map(|repair| &repair.attempts) else { return false };
    // The losses are counted at the end of the pause.
    let earlier = pause.losses as usize > attempts.len();
    let first = attempts.first().is_some_and(|first| first.time == attempt.time) && !earlier;
    first && attempt.trigger == Trigger::Timeout && attempt.waited > longest_timer(pause)
}

/// Data was sent again long after all of it was acknowledged: no timer ran (RFC 6298 §5.2), and nobody waited for the copy.
fn sends_old_data(pause: &Pause) -> bool {
    let Some(first) = pause.repair.as_ref().and_then(|repair| repair.attempts.first()) else { return false };
    let acked = pause.all_acked.is_some_and(|acked| first.time - acked > longest_timer(pause));
    is_overdue(pause, first) && acked && pause.left_in_flight == 0
}

/// At the receiver a lost tail leaves nothing outstanding, but the write looks unfinished, or the window has collapsed.
fn broken_off(pause: &Pause) -> Verdict {
    let (collapsed, beyond) = (pause.collapsed(), pause.context.goes_on_beyond);
    match collapsed || pause.broke_off() {
        true => yes(details::TIMEOUT, if collapsed && beyond { 0.85 } else { 0.7 }),
        false => Verdict::No,
    }
}

/// The receiver lacked data for most of the wait, until all data was acknowledged: the repair was on its way, whether
/// or not the capture holds it. RACK waits for a quarter of the round trip before it declares late data lost (RFC 8985
/// §6.2).
fn beneath_hole(pause: &Pause) -> Verdict {
    let Some(hole) = &pause.hole else { return Verdict::No };
    // What is missing may be the first data after everything was acknowledged.
    let idle = pause.all_acked.is_some_and(|acked| acked < hole.since);
    let from = if idle { pause.start().max(hole.since) } else { pause.start() };
    let waited = repaired_at(pause).map_or(pause.end, |(at, _)| at) - from;
    let (stood, known) = (hole.within(pause.start(), pause.end), hole.known_within(pause.start(), pause.end));
    if known > pause.rtt().scaled(0.25) && known + known >= waited {
        return if awaits_more_reports(pause) { Verdict::No } else { Verdict::Yes(RECOVERY) };
    }
    // What network reordering delays comes within a round trip.
    if hole.filled && stood >= pause.rtt().scaled(0.9).max(LEAST_PAUSE) && stood + stood >= waited {
        return Verdict::Yes(RECOVERY);
    }
    // If only the capture lacks the data, the receiver has it and acknowledges it within 500 ms (RFC 9293 §3.8.6.3).
    // Where the receiver's ACKs are missing too, be it those without payload, the hole may be the capture's until SACK blocks report it.
    let lost = hole.reported.is_some() || !pause.unseen.acks && !pause.unseen.bare_acks;
    if lost && stood > pause.rtt().scaled(1.5) + timers::LONGEST_DELAYED_ACK && stood + stood >= waited {
        yes(details::RECOVERY, 0.75)
    } else {
        Verdict::No
    }
}

/// At the sender new data ended the wait, and nothing had been sent again, although the receiver had reported the hole. The reports
/// had shown this sender no loss yet (RFC 5681 §2: an ACK that changes the window is no duplicate), so another limit held it.
fn awaits_more_reports(pause: &Pause) -> bool {
    let seen = pause.near_sender() && pause.unseen.is_nothing() && !pause.acks_lost && !pause.flight_unknown;
    let released = pause.released_by_report() || pause.released_soon();
    seen && pause.ended && !pause.recovering && pause.lost_before_tap == 0 && released
}

/// End of the repair inside a pause, and whether only the retransmission timer shows it. A repair ends when all data was
/// acknowledged. By the timer, it ends where nothing was retransmitted after the last attempt for twice the timeout
/// (RFC 6298 §5.5: it doubles), so that the ACK of that attempt is missing from the capture.
pub(super) fn repaired_at(pause: &Pause) -> Option<(Nanos, bool)> {
    let attempts = || pause.repair.iter().flat_map(|repair| &repair.attempts);
    let last = attempts().map(|attempt| attempt.time).max().max(pause.first_retransmission);
    let filled = |at: &Nanos| pause.hole.is_none_or(|hole| hole.until.is_some_and(|until| until <= *at));
    // The answer to a needless copy reaches the sender after the answer to the original.
    let cleared = pause.repair.as_ref().filter(|_| is_needless(pause)).and_then(|repair| repair.cleared);
    let acked = pause.all_acked.map(|at| cleared.map_or(at, |cleared| at.max(cleared))).filter(filled);
    let Some(last) = last else { return acked.map(|at| (at, false)) };
    let timeout = timers::rto(pause.base_rtt.or(pause.srtt)).max(timers::INITIAL_RTO);
    let patience = timeout.times(1 << (attempts().count() + 1).clamp(2, MOST_DOUBLINGS));
    // A copy that the timer sends later shows that the sender had not received these ACKs.
    let acked = acked.filter(|_| !is_unheard(pause));
    let heard = acked.filter(|at| *at >= last);
    // While SACK blocks report a hole, the repairs of the hole go on and are lost before the tap.
    let open = pause.hole.is_some_and(|hole| hole.reported.is_some() && hole.until.is_none());
    if pause.ended && !open && (pause.unseen.acks || heard.unwrap_or(pause.end) - last > patience) {
        return Some(((last + pause.rtt()).min(pause.end), true));
    }
    acked.map(|at| (at, false))
}

/// Every copy in the pause was shown to be needless: the originals had arrived.
pub(super) fn is_needless(pause: &Pause) -> bool {
    let shown = |repair: &PauseRepairs| repair.needless > 0 && repair.needless == repair.sent;
    pause.repair.as_ref().is_some_and(|repair| shown(repair) || is_answered_too_soon(pause, repair))
}

/// All data was acknowledged sooner after the only copy than any round trip of the flow took: by the ACK of the original, which
/// was late (RFC 8985 §6.2).
fn is_answered_too_soon(pause: &Pause, repair: &PauseRepairs) -> bool {
    let seen = repair.only_copy().is_some_and(|copy| !is_unseen(copy));
    let measured = pause.rtt() > timers::TICK && !pause.unseen.blind && !pause.unseen.unmeasured;
    seen && measured && answered_after(pause, repair).is_some_and(|span| span < pause.rtt().scaled(TOO_SOON))
}

/// Time from the only copy to the ACK of all data, where that came later.
fn answered_after(pause: &Pause, repair: &PauseRepairs) -> Option<Nanos> {
    let (copy, acked) = repair.only_copy().zip(pause.all_acked)?;
    Some(acked - copy.time).filter(|span| *span > Nanos::ZERO)
}

/// All data had arrived, and the sender had no more: until the peer had answered, or at all, with copies that came sooner than any
/// timer (RFC 6298 §2.3).
pub(super) fn held_nobody(pause: &Pause) -> bool {
    let sooner = || pause.repair.iter().flat_map(|repair| &repair.attempts).all(|copy| copy.waited < pause.rtt());
    is_needless(pause) && !is_repairing(pause) && (pause.is_turn() || !pause.ended && sooner())
}

/// The timer sent needless copies again and again, each later than the answer to the one before could come: the ACKs that the tap
/// saw were lost on their way to the sender, which waited for one of them (RFC 6298 §5.2).
pub(super) fn is_unheard(pause: &Pause) -> bool {
    let fired = |attempt: &&Attempt| attempt.trigger == Trigger::Timeout && attempt.waited > pause.rtt();
    let fires = pause.repair.iter().flat_map(|repair| &repair.attempts).filter(fired).count();
    fires >= TIMEOUTS && is_needless(pause) && !pause.near_sender()
}

/// The repair of a loss that the receiver had reported was under way when the pause began: if data is sent again later
/// without need, the sender waits for that repair all the same.
pub(super) fn is_repairing(pause: &Pause) -> bool {
    let reported = pause.hole.and_then(|hole| hole.reported);
    pause.recovering && reported.is_some_and(|reported| reported <= pause.start())
}

/// The sender sent a copy once, heard nothing, and sent new data all the same: nothing had held it back. After a timeout the
/// copy fills the window (RFC 5681 §3.1); behind a probe the next data goes as soon as it is written (RFC 8985 §7.4).
pub(super) fn went_on_unheard(pause: &Pause) -> bool {
    let once = pause.repair.as_ref().and_then(|repair| repair.only_copy());
    let later = once.is_some_and(|copy| pause.end - copy.time > LEAST_PAUSE);
    let silent = pause.acks == 0 && pause.peer_bytes == 0 && pause.loss_hints == 0;
    let seen = !pause.unseen.acks && !pause.unseen.bare_acks && !pause.acks_lost;
    pause.ended && pause.after.bytes > 0 && later && silent && seen && !pause.recovering && pause.hole.is_none()
}

/// Limits under which a sender waits for ACKs, whether or not something was lost.
pub(super) const HOLDS_UNTIL_REPORT: [Cause; 3] = [Cause::RwndLimited, Cause::CwndLimited, Cause::SndbufLimited];

/// Time of the first retransmission, where a report of the loss triggered it and the wait ended with it. No loss was known
/// when the wait began: the sender would have waited for that round trip without the loss too.
pub(super) fn began_at_the_end(pause: &Pause) -> Option<Nanos> {
    let known = pause.recovering || pause.hole.and_then(|hole| hole.reported).is_some_and(|at| at <= pause.start());
    let first = pause.first_retransmission.filter(|_| pause.ended && !known)?;
    let mut attempts = pause.repair.iter().flat_map(|repair| &repair.attempts);
    let reported = attempts.all(|attempt| attempt.time < pause.start() || attempt.trigger == Trigger::Fast);
    let rest = pause.end - first;
    // Further duplicate ACKs let the next data go (RFC 5681 §3.2 step 4).
    let at_end = rest <= pause.tolerance().times(2) && rest.times(LATE) <= pause.duration();
    (reported && at_end).then_some(first)
}

/// Divisor of a wait: the repair began at its end if less than that part was left.
const LATE: i64 = 4;

/// Every copy in the pause came from the probe timer, and the original had arrived: such a probe lowers no window (RFC
/// 8985 §7.4.2).
pub(super) fn probed_in_vain(pause: &Pause) -> bool {
    let mut attempts = pause.repair.iter().flat_map(|repair| &repair.attempts);
    is_needless(pause) && attempts.all(|attempt| attempt.trigger == Trigger::TailProbe)
}

/// A short segment had ended the writes, and only probes in vain followed, until everything was acknowledged: they let nothing wait
/// that had been written (RFC 8985 §7.4.2).
pub(super) fn probed_after_a_write(pause: &Pause) -> bool {
    let over = pause.ended && pause.left_in_flight == 0 && !pause.before.ends_whole(pause.mss);
    over && probed_in_vain(pause) && !is_repairing(pause) && !is_unheard(pause)
}

/// Confidence once the data has been retransmitted: the sender waits for the ACK of the copy and for the window that
/// the loss lowered, and both waits end with the same ACK (RFC 6675 §5: the sender may send the window less the data
/// still in flight).
pub(super) const REPAIRED: f32 = 0.75;

/// Confidence where neither the loss nor its repair is in the capture: a counter that other connections share, or packets that
/// the capture lacks, look alike.
const UNSEEN: f32 = 0.75;

const RECOVERY: Proof = Proof { detail: details::RECOVERY, confidence: REPAIRED };

/// Share of the shortest round trip within which no answer to a copy comes.
const TOO_SOON: f64 = 0.5;

/// Timeouts in one wait from which the first copy's answer was lost, too.
const TIMEOUTS: usize = 2;

/// Doublings after which the timeout exceeds every stack's longest (Linux: 120 s).
const MOST_DOUBLINGS: usize = 7;

/// Detects the repair of a loss that the tap did not see: packets are missing just before the data that ended a silence
/// of a probe timeout, or the ACKs inside the silence were lost.
fn lost_before_tap(pause: &Pause) -> Verdict {
    let probe = timers::probe_timeout(pause.srtt, pause.segments_at_start);
    // Where the capture holds no ACKs without payload, it may lack the data as well, and no timer is known.
    if !pause.ended || pause.duration() < probe || pause.unseen.bare_acks {
        return Verdict::No;
    }
    let unanswered = tail_probe::sent_new_data(pause) && !tail_probe::sent_held_data(pause);
    if unanswered || pause.acks_lost && timers::fires_at(probe, 1, pause.duration()) {
        // Away from the sender a queue or a late ACK may make the silence seem unanswered.
        let heard = unanswered && pause.acks > 0;
        return yes(details::TAIL_LOSS, if pause.near_sender() && !heard { 0.85 } else { UNSEEN });
    }
    let waited = pause.after_ack().map_or(pause.duration(), |after| after.min(pause.duration()));
    // What the peer asked for left when its request came.
    let waited = pause.after_peer().filter(|_| pause.is_turn()).map_or(waited, |after| after.min(waited));
    if pause.lost_before_tap == 0 {
        return Verdict::No;
    }
    if pause.hole_before > 0 {
        // A probe may carry new data beyond the lost data (RFC 8985 §7.3); the retransmission timer never sends new
        // data.
        return if timers::fires_at(probe, 1, waited) { yes(details::TAIL_LOSS, UNSEEN) } else { Verdict::No };
    }
    // The timer sends the first lost segment alone (RFC 5681 §3.1: a loss window of one), the probe the last one. On a
    // path shorter than the pauses that separate bursts, the ACK of that segment has released more within the same
    // burst.
    let clocked = pause.rtt() <= LEAST_PAUSE && pause.after.first_frame <= pause.mss && pause.after.acks > pause.acks;
    if pause.after.bytes > u64::from(pause.mss) && !clocked {
        return Verdict::No;
    }
    let fired = timers::fired(pause.lost_before_tap, pause.after.first_frame < pause.mss);
    match timers::expired(pause.srtt, pause.segments_at_start, waited, &fired) {
        Some(Expired::Probe) => yes(details::TAIL_LOSS, UNSEEN),
        Some(Expired::Timeout) => yes(details::TIMEOUT, UNSEEN),
        // A round trip tells the ACK from the data.
        None if pause.rtt() > timers::TICK && timers::fires_after_a_second(waited, &fired) => {
            yes(details::TIMEOUT, 0.7)
        }
        None => Verdict::No,
    }
}

/// A stretch of a repair with one reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    /// End: the last attempt of its kind, or the end of the pause.
    pub(super) end: Nanos,
    /// Detail that names the reason.
    pub(super) proof: Proof,
}

/// Stretches between attempts of different kinds, each named after the attempt that ends it.
pub(super) fn stages(pause: &Pause) -> Vec<Stage> {
    let Some(repair) = &pause.repair else { return Vec::new() };
    let spurious = is_needless(pause);
    let needless = if is_repairing(pause) {
        RECOVERY
    } else {
        Proof { detail: details::SPURIOUS, confidence: needless_of(repair) }
    };
    let mut stages: Vec<(&Attempt, Stage)> = Vec::new();
    for attempt in repair.attempts.iter().filter(|attempt| attempt.time > pause.start() && attempt.time <= pause.end) {
        let proof = if spurious { needless } else { proof(attempt, pause) };
        match stages.last_mut().filter(|(last, _)| spurious || last.trigger == attempt.trigger || is_unseen(last)) {
            // A trigger that shows later is the reason for what came before too.
            Some((last, stage)) if is_unseen(last) => {
                (*last, *stage) = (attempt, Stage { end: attempt.time, proof });
            }
            Some((last, stage)) => (*last, stage.end) = (attempt, attempt.time),
            None => stages.push((attempt, Stage { end: attempt.time, proof })),
        }
    }
    let begin = stages.len().checked_sub(2).map_or(pause.start(), |before| stages[before].1.end);
    if let Some((attempt, last)) = stages.last_mut() {
        last.end = pause.end;
        if attempt.trigger == Trigger::Fast && last.end - attempt.time > attempt.time - begin {
            last.proof.confidence = last.proof.confidence.min(REPAIRED);
        }
    }
    stages.into_iter().map(|(_, stage)| stage).collect()
}

/// Confidence that needless copies are the sender's: one that neither a timer nor a report triggered may be the path's, and a
/// path whose round trip fell may answer sooner than ever before.
fn needless_of(repair: &PauseRepairs) -> f32 {
    if repair.needless == 0 || repair.attempts.iter().all(is_unseen) { 0.75 } else { 0.85 }
}

fn is_unseen(attempt: &Attempt) -> bool {
    attempt.trigger == Trigger::Unseen
}

/// The only copy was a probe, and all data was acknowledged later than a round trip after it: a segment that fills a gap is
/// acknowledged at once (RFC 5681 §4.2), so that the ACK may be a late one of the original.
fn is_answered_late(pause: &Pause) -> bool {
    let late = |span: Nanos| span > pause.rtt().scaled(1.5) + timers::TICK;
    pause.repair.as_ref().and_then(|repair| answered_after(pause, repair)).is_some_and(late)
}

/// The copy came before the longest delayed ACK (RFC 9293 §3.8.6.3), and nothing shows whether its receiver held that.
fn may_be_held(pause: &Pause, attempt: &Attempt) -> bool {
    let held = pause.repair.as_ref().is_some_and(|repair| repair.may_be_held);
    held && attempt.waited < timers::LONGEST_DELAYED_ACK
}

fn proof(attempt: &Attempt, pause: &Pause) -> Proof {
    let rtt = pause.rtt();
    let confidence = match attempt.trigger {
        // No timer is shorter than the round trip (RFC 6298 §2.3).
        Trigger::Timeout if attempt.waited < rtt => return Proof { confidence: 0.6, ..RECOVERY },
        // Few stacks have a timer as short as this.
        Trigger::Timeout if attempt.waited < timers::LINUX_RTO_MIN => 0.7,
        Trigger::Timeout if is_overdue(pause, attempt) => UNSEEN,
        Trigger::Timeout | Trigger::TailProbe if may_be_held(pause, attempt) => UNSEEN,
        Trigger::Timeout => 0.95,
        Trigger::Fast => 0.85,
        Trigger::TailProbe if is_answered_late(pause) => UNSEEN,
        Trigger::TailProbe => 0.9,
        Trigger::Unseen => 0.6,
    };
    Proof { detail: attempt.trigger.name(), confidence }
}
