//! Detects silences of connections that had nothing to carry: before the next message, and before the last words of an end
//! that closes an idle connection by a timer. Nobody waited for these.

use super::weight::{MESSAGE, weight};
use crate::causes::details;
use crate::flow::End;
use crate::flow::rounds::UNPROMPTED_AFTER;
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;

/// Silence after which little data before the close answers nothing, although the peer spoke last: it had acknowledged a
/// setting, or kept the connection alive. Servers of HTTP/2 close what is idle after 3 to 4 minutes, balancers after 60 s.
const UNANSWERED_AFTER: Nanos = Nanos::from_millis(30_000);
/// Exchanges of a connection that is kept for more: the only answer of a connection is no last word.
const KEPT: u64 = 2;

/// True if the wait ended with little data, the last of its end, and the connection closed soon after that: within the
/// time that the silence had lasted.
pub(super) fn ends_with_last_words(row: &FlowRow, stall: &StallRow) -> bool {
    let connection = &row.connection;
    if connection.farewell && stall.sender == End::Server && stall.detail == details::THINK_TIME {
        return stall.end_ns <= connection.closed_ns.unwrap_or_default() && is_last(row, stall);
    }
    let least = match stall.detail {
        details::IDLE => UNPROMPTED_AFTER,
        details::THINK_TIME if connection.exchanges >= KEPT => UNANSWERED_AFTER,
        _ => return false,
    };
    let soon =
        connection.closed_ns.is_some_and(|closed| closed >= stall.end_ns && closed - stall.end_ns <= stall.duration_ns);
    weight(stall) >= least.0 && (1..=MESSAGE).contains(&stall.then_bytes) && soon && is_last(row, stall)
}

/// No wait of the same end came after it.
fn is_last(row: &FlowRow, stall: &StallRow) -> bool {
    row.stalls.iter().all(|other| other.sender != stall.sender || other.start_ns < stall.end_ns)
}

/// True if the end had said little before a long silence of its own: that was a message, and the next data another. A
/// client's message is a request, up to a segment: whoever has begun to ask goes on.
pub(super) fn had_said_all(row: &FlowRow, stall: &StallRow) -> bool {
    let segment = row.directions.client.mss_bytes.map_or(MESSAGE, u64::from);
    let most = if stall.sender == End::Client { segment.saturating_sub(1) } else { MESSAGE };
    let little = stall.evidence.burst_bytes.is_some_and(|bytes| bytes <= most);
    stall.detail == details::IDLE && weight(stall) >= UNPROMPTED_AFTER.0 && little
}
