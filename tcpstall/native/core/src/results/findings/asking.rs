//! Tells a program that asks again and again, and waits for each answer, from people and from events.

use crate::exchange::{AT_ONCE, Exchange};
use crate::results::rows::FlowRow;

/// Exchanges from which it shows that a client asks on and on.
const ASKED: usize = 4;

/// The client mostly asks on at once after an answer, and the server tells nothing of its own accord.
pub(super) fn asks_on(row: &FlowRow) -> bool {
    let exchanges = row.exchanges.as_deref().unwrap_or_default();
    if exchanges.len() < ASKED || row.connection.unprompted > 0 {
        return false;
    }
    let often = exchanges.windows(2).filter(|pair| soon(row, &pair[0], &pair[1])).count();
    2 * often >= exchanges.len() - 1
}

/// The client asked `next` at once when it had the answer to `one`: within the time from the tap to it and back.
pub(super) fn soon(row: &FlowRow, one: &Exchange, next: &Exchange) -> bool {
    row.base_rtt_ns.is_some_and(|rtt| next.start_ns - one.end_ns <= rtt + AT_ONCE)
}
