//! `idle-restart` — an idle period had lowered the congestion window, and the sender climbed back.
//!
//! Rule      the congestion window is full while it is still below what it was before an idle longer than the retransmission
//!           timeout, and the first burst after that idle was no larger than the lowered window; or the flights climb after that
//!           idle from less than what was out before it (the trait `after idle`); or in {cut_turns} exchanges in a row at least the
//!           first burst after an idle stops at the same count, a little below the lowered window; or the first burst after that
//!           idle ends within a write at the initial window, and its ACK lets more go. Not where less than the lowered window was
//!           out, without a climb: a loss had left that (at the sender, where no loss was seen: less than the initial window); nor
//!           where no less than the old window was out, or more than the lowered window and than ever before, but by less than
//!           half; nor, away from the sender, where nothing as large as the old window was out since a loss whose repair was new to
//!           the tap: that loss had lowered it; nor where flights stand at the same level over {plateau_rounds} rounds, the next
//!           one included: a window in slow start grows; nor, without a climb away from the sender, for much less than a round
//!           trip: no window holds a sender that shortly
//! Evidence  `cwnd_estimate_segments`, `cwnd_before_idle_segments`, `cwnd_after_idle_segments`, `extra_round_trips` (at the
//!           first wait of a climb: all its waits less those that the old window would have cost), `window_unused_bytes`;
//!           detail `slow-start`
//! Source    RFC 5681 §4.1, RFC 2861; Linux `tcp_cwnd_restart`, net.ipv4.tcp_slow_start_after_idle
//! Abstains  the start of the connection was not captured; unsure where the ACKs took twice the base round trip: then a queue held
//!           them, and a larger window would have made it longer; or where no flight before it was larger, or the next one, a
//!           round later, is no larger
//! Looks like `cwnd-limited` in slow start (no idle before), `app-limited` (chunks that never filled the window)

use super::cause::Cause;
use super::cwnd_growth;
use super::cwnd_limited;
use super::details;
use super::limits::Limits;
use super::rule::{Proof, Rule, Verdict, yes};
use crate::pause::Pause;
use crate::sender::cwnd::INITIAL_WINDOW;

pub(super) const RULE: Rule = Rule { cause: Cause::IdleRestart, judge };

fn judge(pause: &Pause, limits: &Limits) -> Verdict {
    // What is no smaller than the old window was not lowered.
    if pause.cwnd_before_idle.is_none_or(|old| pause.segments_at_start >= old) {
        return Verdict::No;
    }
    // No idle period leaves less than the initial window (RFC 5681 §4.1). Where no loss was seen at the sender, the window before
    // the idle period may have been smaller than modelled: not each sender counts all that an ACK covers.
    let lossless = pause.losses == 0 && pause.near_sender();
    let least = if lossless { initial_window(pause) } else { u32::MAX };
    let below = |lowered: u32| 5 * u64::from(pause.segments_at_start) < 4 * u64::from(lowered.min(least));
    let initial = restarts_at_initial(pause);
    if pause.context.read.climb == 0 && pause.cwnd_after_idle.is_some_and(below) && !initial {
        return Verdict::No;
    }
    if pause.context.stands_next
        && pause.context.read.climb == 0
        && pause.context.plateau_rounds >= limits.plateau_rounds
    {
        return Verdict::No;
    }
    // A lowered window holds a sender for a round trip. Away from it a shorter silence is that of a link that collects frames.
    if pause.context.read.climb == 0 && cwnd_growth::may_be_clumps(pause) {
        return Verdict::No;
    }
    // The first burst after the idle period shows the lowered window; more than that was not lowered as modelled.
    let lowered = pause.cwnd_after_idle.is_none_or(|lowered| pause.segments_held <= lowered);
    // A flight larger than all before it shows no old window; a climb by slow start would make it half as large again.
    let largest = pause.context.read.most_before;
    let used = largest > pause.segments_held;
    let climbs = pause.context.read.climb > 0 || 2 * u64::from(pause.segments_held) >= 3 * u64::from(largest);
    if pause.segments_held > largest && !lowered && !climbs {
        return Verdict::No;
    }
    match cwnd_limited::full(pause, limits) {
        Verdict::Yes(proof) => {
            // In a climb the flights grow from the lowered window to the old one. A window grows only while it is used (RFC 7661
            // §3, Linux `tcp_is_cwnd_limited`), so a flight no smaller than all before it shows no old window.
            let fits = used && (lowered || pause.before.acks > 0) && !pause.context.stands_next;
            let most = if fits && !stands_in_queue(pause) { 1.0 } else { 0.75 };
            Verdict::Yes(Proof { detail: details::CLIMB, confidence: proof.confidence.min(most) })
        }
        _ if initial || restarts_alike(pause, limits) => yes(details::CLIMB, MODEL_APART),
        other => other,
    }
}

/// The initial window that the flow shows, or the usual one.
fn initial_window(pause: &Pause) -> u32 {
    pause.context.traits.initial_window.value.unwrap_or(INITIAL_WINDOW)
}

/// The first burst after the idle period broke off within a write at the initial window, whatever the window was before, and its
/// ACK let more go: RFC 5681 §4.1 restarts there.
fn restarts_at_initial(pause: &Pause) -> bool {
    let initial = initial_window(pause);
    let first = pause.before.bytes as i64 == pause.flight_at_start && pause.segments_at_start == initial;
    let lowered = pause.cwnd_before_idle.is_some_and(|before| before > initial) && pause.losses == 0;
    let waits = pause.in_mid_write() && pause.released_soon() && !pause.is_turn() && pause.has_room() == Some(true);
    first && lowered && waits
}

/// Exchange after exchange the first burst after an idle period stopped at the same count, with more to send, and little
/// below the modelled window: that window halves with each timeout of the idle period, of which the model may count one less.
fn restarts_alike(pause: &Pause, limits: &Limits) -> bool {
    let alike = pause.context.turns_cut_alike >= limits.cut_turns;
    let first = pause.context.cut_at == Some(pause.segments_at_start) && !pause.short_segment_out;
    let waits = pause.released_by_ack() && !pause.is_turn() && pause.has_room() != Some(false);
    let below = pause.cwnd_after_idle.is_some_and(|lowered| pause.segments_at_start < lowered);
    alike && first && waits && below && pause.losses == 0
}

/// Confidence where the modelled window has room, and only the likeness of the exchanges or the initial window tells.
const MODEL_APART: f32 = 0.7;

/// Ratio of a round trip to the base round trip from which at least half of what was in flight stood in a queue.
const QUEUED: i64 = 2;

/// A queue held the ACKs of the wait, or those before it: the path carried all it could, whatever the window.
fn stands_in_queue(pause: &Pause) -> bool {
    pause.slowest_ack.rtt.or(pause.srtt).zip(pause.base_rtt).is_some_and(|(rtt, base)| rtt >= base.times(QUEUED))
}
