//! Finds pauses beside which no other shows a sender that always has more to send.

use super::evidence::Facts;
use super::pauses::{Context, Pause};

/// Notes these pauses; the plateaus are known.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    for at in 0..pauses.len() {
        let goes_on = |other: usize| {
            let Some((facts, context)) = pauses.get(other).zip(contexts.get(other)) else { return false };
            let much = || 2 * facts.flight_at_start >= pauses[at].flight_at_start;
            !facts.is_turn() && (much() || Pause { facts, context }.stands_to_the_byte()) && facts.released_by_ack()
        };
        contexts[at].lone = !at.checked_sub(1).is_some_and(&goes_on) && !goes_on(at + 1);
    }
}
