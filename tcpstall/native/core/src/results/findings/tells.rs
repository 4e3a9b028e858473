//! Detects a server that tells its client what happens, and is hardly asked.

use super::weight::{FULL_SEGMENT, MESSAGE, weight};
use crate::causes::Cause;
use crate::flow::End;
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;

/// Shortest silence between two events of a server that only tells: a transfer pauses more shortly.
const BETWEEN_EVENTS: Nanos = Nanos::from_millis(250);
/// Times that a server speaks for once that its client does, where it only tells; and divisor of its large messages.
const SELDOM: u64 = 4;

/// The connection began before the capture, the client said nothing in it, or a small message now and then, far more seldom than the
/// server, and that mostly a message of a segment between two silences: it tells events, or speaks by a timer.
pub(super) fn only_tells(row: &FlowRow) -> bool {
    let client = &row.directions.client;
    if row.handshake.duration_ns.is_some() || client.bytes > client.segments * MESSAGE {
        return false;
    }
    let between = |stall: &&StallRow| {
        stall.sender == End::Server && stall.cause == Cause::AppLimited && weight(stall) >= BETWEEN_EVENTS.0
    };
    let said = |stall: &StallRow| stall.evidence.burst_bytes.unwrap_or_default();
    let (all, small) = row
        .stalls
        .iter()
        .filter(between)
        .fold((0, 0), |(all, small), stall| (all + 1, small + u64::from(said(stall) <= FULL_SEGMENT)));
    let little = row.directions.server.bytes <= (all + 1) * FULL_SEGMENT;
    let seldom = client.segments * SELDOM <= all;
    seldom && (little || all >= SELDOM && (all - small) * SELDOM <= all)
}
