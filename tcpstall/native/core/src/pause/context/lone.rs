//! Finds pauses beside which no other shows a sender that always has more to send.

use super::super::evidence::Facts;
use super::super::pauses::{ALIKE, Context, Pause};
use super::rounds::ROUND;

/// Notes these pauses; the plateaus are known.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    find_refilled(pauses, contexts);
    let repeated = repeated(pauses);
    for at in 0..pauses.len() {
        let goes_on = |other: usize| {
            let Some((facts, context)) = pauses.get(other).zip(contexts.get(other)) else { return false };
            let much = || 2 * facts.flight_at_start >= pauses[at].flight_at_start;
            !facts.is_turn() && (much() || Pause { facts, context }.stands_to_the_byte()) && facts.released_by_ack()
        };
        contexts[at].lone = !at.checked_sub(1).is_some_and(&goes_on) && !goes_on(at + 1);
        contexts[at].repeated = repeated.binary_search(&pauses[at].flight_at_start).is_ok();
    }
}

/// Bytes in flight, in order, at which an ACK ended several waits of the sender: what fitted once fits again.
fn repeated(pauses: &[Facts]) -> Vec<i64> {
    let waits = |pause: &&Facts| !pause.first && !pause.is_turn() && pause.released_by_ack();
    let mut flights: Vec<i64> = pauses.iter().filter(waits).map(|pause| pause.flight_at_start).collect();
    flights.sort_unstable();
    flights.chunk_by(|a, b| a == b).filter(|alike| alike.len() >= ALIKE).map(|alike| alike[0]).collect()
}

/// Tells the pauses of one sender whether ACKs ended most of its waits with data in flight.
fn find_refilled(pauses: &[Facts], contexts: &mut [Context]) {
    let waits = |pause: &&Facts| pause.ended && !pause.first && !pause.is_turn() && pause.flight_at_start > 0;
    let (mut refilled, mut others) = (0, 0);
    for pause in pauses.iter().filter(waits) {
        if pause.released_by_ack() { refilled += 1 } else { others += 1 }
    }
    contexts.iter_mut().for_each(|context| context.mostly_refilled = refilled >= others);
}

/// Marks the waits after which a window in slow start would have grown, and the next flight was no larger: an ACK ended this
/// wait and the next one, a round later, and in between nothing was lost and no peer spoke.
pub(super) fn find_standing(pauses: &[Facts], contexts: &mut [Context]) {
    let waits = |pause: &Facts| !pause.is_turn() && !pause.first && !pause.flight_unknown && pause.released_by_ack();
    let calm = |pause: &Facts| pause.retransmissions == 0 && pause.loss_hints == 0 && !pause.recovering;
    for (pair, context) in pauses.windows(2).zip(contexts) {
        let (now, next) = (&pair[0], &pair[1]);
        let both = || calm(now) && calm(next) && now.losses == next.losses && waits(now) && waits(next);
        let later = next.start() - now.start() >= now.rtt().scaled(ROUND);
        // After whole segments the rest of a buffer is less than a segment.
        let rest = if now.short_segment_out { 0 } else { i64::from(now.mss) - 1 };
        let more = next.flight_at_start > now.flight_at_start + rest;
        let has_room = next.room_at_start.is_none_or(|room| room >= i64::from(now.mss));
        context.stands_next = later && !more && has_room && both();
    }
}
