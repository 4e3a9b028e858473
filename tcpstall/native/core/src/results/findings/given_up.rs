//! Tells requests that nobody answered: a timer of the client ran out, or the server had closed the idle connection.

use super::idle::closes_inside;
use super::weight::{LEAST_SEGMENT, MESSAGE, weight};
use crate::causes::Cause;
use crate::exchange::{AT_ONCE, Exchange};
use crate::flow::{End, State};
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;

/// Shortest wait that is given up, and shortest idle time: timers of clients and servers are whole seconds.
const PATIENCE: Nanos = Nanos::from_millis(1_000);
/// Longest: what is closed later was no longer waited for.
const LONGEST: Nanos = Nanos::from_millis(300_000);
/// Segments of a request that is written at once: its head, and its content.
const PIECES: u64 = 2;
/// Smallest request over TLS; below it are the end of the handshake, acknowledgements and pings (RFC 8446 §4.4.4, RFC 9113 §6).
pub(super) const LEAST_SEALED: u64 = 160;

/// Time that a client had waited for an answer when it closed; `None` where it did not give up, or nobody can tell: many
/// protocols have messages without an answer.
pub(super) fn given_up(row: &FlowRow) -> Option<Nanos> {
    let connection = &row.connection;
    let asked = connection.in_vain?;
    let closed = connection.closed_ns.filter(|_| connection.closed_by == Some(End::Client))?;
    let arrived = row.stalls.iter().all(|stall| stall.cause != Cause::Retransmission || stall.ended);
    let seen = row.trust.unseen_bytes == 0 && row.outcome.outcome.is_none();
    let wait = last_words(row).map_or(closed - asked.asked, |words| Nanos(weight(words)));
    let long = (PATIENCE..=LONGEST).contains(&wait);
    (long && arrived && seen && is_answered(row, asked.bytes)).then_some(wait)
}

/// Time that a client had waited when it closed, where the answer came after that: nobody reads it any more, and the client's host
/// resets the connection at its first segment (RFC 2525 §2.17). `None` where the client had only sent all its data, or left sooner
/// than timers do.
pub(super) fn answered_too_late(row: &FlowRow, stall: &StallRow) -> Option<Nanos> {
    let (wait, asked) = left_amid(row, stall)?;
    (!is_made_by_close(row, stall) || is_answered(row, asked.request_bytes)).then_some(wait)
}

/// The client left, and only that made the server speak: the client had asked for nothing, or nobody can tell whether its message
/// asked for an answer.
pub(super) fn only_answers_close(row: &FlowRow, stall: &StallRow) -> bool {
    let by_client = row.connection.closed_by == Some(End::Client) && closes_inside(row, stall);
    let unasked = by_client && row.directions.client.bytes == 0;
    let perhaps = || left_amid(row, stall).is_some_and(|(_, asked)| !is_answered(row, asked.request_bytes));
    is_made_by_close(row, stall) && (unasked || perhaps())
}

/// Time that a client had waited when it closed in that wait of the server, and what it had asked; `None` where it read on.
fn left_amid<'a>(row: &'a FlowRow, stall: &StallRow) -> Option<(Nanos, &'a Exchange)> {
    let connection = &row.connection;
    let closed = connection.closed_ns.filter(|_| connection.closed_by == Some(End::Client))?;
    let wait = closed - (stall.end_ns - Nanos(weight(stall)));
    let amid = stall.sender == End::Server && closed < stall.end_ns && (PATIENCE..=LONGEST).contains(&wait);
    let over = row.end_ns - stall.end_ns <= row.base_rtt_ns.unwrap_or_default() + AT_ONCE;
    let asked = row.exchanges.as_deref().and_then(<[_]>::last)?;
    (amid && over && connection.reset_by == Some(End::Client)).then_some((wait, asked))
}

/// The wait ended as soon as the server heard that the client had closed.
fn is_made_by_close(row: &FlowRow, stall: &StallRow) -> bool {
    row.connection
        .closed_ns
        .is_some_and(|closed| stall.end_ns - closed <= row.base_rtt_ns.unwrap_or_default() + AT_ONCE)
}

/// The server closed an idle connection, or had forgotten it, and answered the next request with a RST (RFC 9293 §3.10.7.1):
/// clients that reuse connections meet servers that close them (RFC 9112 §9.5).
pub(super) fn came_too_late(row: &FlowRow) -> bool {
    let connection = &row.connection;
    let last = row.exchanges.as_deref().and_then(<[_]>::last);
    let (Some(asked), Some(last), Some(closed)) = (connection.in_vain, last, connection.closed_ns) else {
        return false;
    };
    let idle = asked.start - last.end_ns >= PATIENCE;
    let at_once = closed - asked.asked <= row.base_rtt_ns.unwrap_or_default() + AT_ONCE;
    let by_server = connection.closed_by == Some(End::Server) && row.state == State::Reset.name();
    idle && at_once && by_server && is_answered(row, asked.bytes)
}

/// A message of the client that asked for nothing made the server close at once, in a connection that had been answered: it said
/// goodbye, and the server's RST answers it, as an LDAP server's does an unbind (RFC 4511 §4.3).
pub(super) fn was_dismissed(row: &FlowRow) -> bool {
    let connection = &row.connection;
    let (Some(asked), Some(closed)) = (connection.in_vain, connection.closed_ns) else { return false };
    let at_once = closed - asked.asked <= row.base_rtt_ns.unwrap_or_default() + AT_ONCE;
    connection.exchanges > 0 && at_once && asked.bytes <= MESSAGE && !is_answered(row, asked.bytes)
}

/// The client's farewell before it closed, after the wait.
pub(super) fn is_last_word(row: &FlowRow, stall: &StallRow) -> bool {
    let closed = row.connection.closed_ns.unwrap_or_default();
    let near = stall.sender == End::Client && stall.end_ns <= closed && closed - stall.end_ns < PATIENCE;
    near && last_words(row).is_some_and(|words| words.number == stall.number) && given_up(row).is_some()
}

/// The pause of the client between its request and a few bytes right before it closed, as of a TLS alert.
fn last_words(row: &FlowRow) -> Option<&StallRow> {
    let (asked, closed) = (row.connection.in_vain?, row.connection.closed_ns?);
    let own = |stall: &&StallRow| stall.sender == End::Client && stall.cause == Cause::AppLimited;
    let last = row.stalls.iter().rev().find(own)?;
    let inside = asked.start <= last.start_ns && last.end_ns <= closed && closed - last.end_ns < PATIENCE;
    (inside && (1..=MESSAGE).contains(&last.then_bytes)).then_some(last)
}

/// The protocol answers such requests, as HTTP does. Others have messages without an answer, and subscriptions. Over TLS a server
/// that speaks of its own accord may do so.
fn is_answered(row: &FlowRow, bytes: u64) -> bool {
    let connection = &row.connection;
    connection.http && !is_in_bits(row) || connection.tls && bytes >= LEAST_SEALED && connection.unprompted == 0
}

/// The first request came in several segments, and not in full ones: who sends it a line at a time may never complete it.
fn is_in_bits(row: &FlowRow) -> bool {
    let client = &row.directions.client;
    let segment = u64::from(client.mss_bytes.unwrap_or(0)).max(LEAST_SEGMENT);
    row.connection.exchanges == 0 && client.segments > PIECES && client.bytes / client.segments < segment / 2
}
