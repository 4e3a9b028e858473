//! Tells the waits of TLS's handshake, before any request, from those for answers.

use super::given_up::LEAST_SEALED;
use super::idle::carries_tls;
use super::weight::{MESSAGE, weight};
use crate::causes::{Cause, details};
use crate::exchange::{ACKNOWLEDGEMENT, Exchange, TICKETS};
use crate::flow::End;
use crate::results::rows::{FlowRow, StallRow};

/// Exchanges before the first answer: the hellos, and the client's end of the handshake with the server's tickets.
const SET_UP: usize = 2;

/// The wait is one of the handshake: the server's for its first flight, or the client's between that and its own second one.
pub(super) fn is_of_handshake(row: &FlowRow, stall: &StallRow) -> bool {
    let Some(hellos) = hellos(row) else { return false };
    let own = stall.cause == Cause::AppLimited && stall.detail == details::THINK_TIME;
    own && match stall.sender {
        End::Server => stall.end_ns <= hellos.end_ns,
        End::Client => row.exchanges.as_deref().and_then(|all| all.get(1)).is_some_and(|next| {
            // A client that has only the first of two flights goes on at once.
            stall.end_ns == next.start_ns && next.request_bytes > 0
        }),
    }
}

/// The server had sent no more than its tickets before the wait, and with its end of the handshake the client had sent a request:
/// the wait is for the answer (RFC 8446 §4.6.1). A server that speaks of its own accord may have waited for an event.
pub(super) fn answers_after_tickets(row: &FlowRow, stall: &StallRow) -> bool {
    let little = stall.evidence.burst_bytes.is_some_and(|bytes| bytes <= TICKETS);
    let all = row.exchanges.as_deref().unwrap_or_default();
    let index = all.iter().position(|exchange| is_inside(exchange, stall));
    // A client that acknowledges the settings that came with the tickets still waits for its answer.
    let asked = index.filter(|index| *index > 0).and_then(|index| match (&all[index - 1], &all[index]) {
        (before, this) if index > 1 && this.acknowledges() && before.response_bytes <= TICKETS => {
            Some(index - 1).zip(Some(before))
        }
        (_, this) => Some(index).zip(Some(this)),
    });
    let asked = asked.filter(|(index, asked)| *index <= SET_UP && asked.request_bytes >= LEAST_SEALED);
    stall.sender == End::Server && little && row.connection.unprompted == 0 && hellos(row).is_some() && asked.is_some()
}

/// The server had only acknowledged before the wait, as HTTP/2 does a ping or settings, and the client had sent a request: the wait
/// is for the answer (RFC 9113 §6.5.3, §6.7).
pub(super) fn answers_after_acknowledging(row: &FlowRow, stall: &StallRow) -> bool {
    let only = stall.evidence.burst_bytes.is_some_and(|bytes| bytes <= ACKNOWLEDGEMENT);
    let asked = || row.exchanges.iter().flatten().find(|exchange| is_inside(exchange, stall));
    let own = stall.sender == End::Server && stall.detail == details::IDLE && carries_tls(row);
    only && own && stall.then_bytes > MESSAGE && asked().is_some_and(|asked| asked.request_bytes >= LEAST_SEALED)
}

/// The exchange began before the wait, and ended after it.
pub(super) fn is_inside(exchange: &Exchange, stall: &StallRow) -> bool {
    exchange.start_ns <= stall.start_ns && stall.end_ns <= exchange.end_ns
}

/// Time of the waits of the handshake among these.
pub(super) fn time_in_handshake<'a>(row: &FlowRow, stalls: impl Iterator<Item = &'a StallRow>) -> i64 {
    stalls.filter(|stall| is_of_handshake(row, stall)).map(weight).sum()
}

/// The exchange of the hellos, where the connection carries TLS from its beginning.
fn hellos(row: &FlowRow) -> Option<&Exchange> {
    let first = row.exchanges.as_deref().and_then(<[_]>::first)?;
    (row.connection.tls_at_once && row.handshake.complete && first.request_bytes > 0).then_some(first)
}
