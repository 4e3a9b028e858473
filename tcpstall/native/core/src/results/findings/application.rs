//! Tells the waits of applications apart: slow answers, messages that nobody waits for, idle time, and windows of their own.

use super::beats::Beats;
use super::given_up;
use super::idle;
use super::kind::FindingKind;
use super::tls;
use super::weight::{FULL_SEGMENT, LEAST_SEGMENT, MESSAGE, weight};
use crate::causes::{Cause, details};
use crate::exchange::{ACKNOWLEDGEMENT, ConnectionRow, Exchange};
use crate::flow::End;
use crate::flow::rounds::UNPROMPTED_AFTER;
use crate::results::rows::{DirectionRow, FlowRow, StallRow};
use crate::time::Nanos;

/// Time after which a greeting, or an answer of a few bytes, is late: a lookup of the client's name that fails takes seconds, and
/// so does a lock.
const LATE: Nanos = Nanos::from_millis(1_000);
/// Exchanges from which small payloads in both directions are a terminal or a heartbeat, and not one small request.
const MESSAGES: u64 = 3;

/// Kind of a wait of an application.
pub(super) fn of_application(row: &FlowRow, stall: &StallRow, beats: &Beats) -> FindingKind {
    if stall.detail == details::APPLICATION_WINDOW {
        return FindingKind::FlowControl;
    }
    let answers = stall.detail == details::THINK_TIME;
    if stall.ended && !answers && awaits_permission(row, stall) {
        return FindingKind::NoPermission;
    }
    if !stall.ended || answers && stall.sender == End::Client || !answers && until_close(row, stall) {
        return FindingKind::Idle;
    }
    if idle::ends_with_last_words(row, stall) || answers && idle::answers_close(row, stall) {
        return FindingKind::Idle;
    }
    if !answers && given_up::is_last_word(row, stall) {
        return FindingKind::Idle;
    }
    if answers && only_closes(row) {
        return FindingKind::ServerSilent;
    }
    if answers && on_unused_subflow(row, stall) {
        return FindingKind::Idle;
    }
    if answers && greets_late(row, stall) {
        return FindingKind::ServerSlow;
    }
    let asked = answers && weight(stall) >= LATE.0 && beats.is_asked_for(stall);
    if sends_messages(row) && !asked || beats.has(stall) || !answers && beats.is_between(stall) {
        return FindingKind::Messages;
    }
    if !answers && beats.events.goes_on(stall) {
        return FindingKind::Messages;
    }
    // A client that has said nothing longer than an acknowledgement has asked for nothing.
    let short = mean(&row.directions.client) <= ACKNOWLEDGEMENT && weight(stall) >= UNPROMPTED_AFTER.0;
    if answers && short && idle::carries_tls(row) {
        return FindingKind::Messages;
    }
    // What a server tells of its own accord may have followed a small message by chance.
    if answers && pushes(row) && mean(&row.directions.client) <= MESSAGE {
        return FindingKind::Messages;
    }
    if answers {
        let told = beats.events.told(stall).filter(|told| told.sure || !asked).map(|told| told.kind);
        let kind = if beats.times(stall) { FindingKind::ServerTimer } else { told.unwrap_or(FindingKind::ServerSlow) };
        return match kind {
            FindingKind::ServerSlow if given_up::answered_too_late(row, stall).is_some() => FindingKind::NoAnswer,
            FindingKind::ServerSlow if given_up::only_answers_close(row, stall) => FindingKind::Idle,
            kind => kind,
        };
    }
    if idle::is_notice(row, stall) || idle::had_said_all(row, stall) || idle::had_acknowledged(row, stall) {
        return FindingKind::Idle;
    }
    if stall.sender == End::Server && (pushes(row) || beats.events.only_tells) {
        return FindingKind::Messages;
    }
    if may_be_an_event(row, stall) {
        return FindingKind::ServerSilent;
    }
    if tls::answers_after_tickets(row, stall) {
        return FindingKind::ServerSlow;
    }
    if had_told_all(row, stall) {
        return FindingKind::ServerSilent;
    }
    let direction = row.directions.of(stall.sender);
    let segment = u64::from(direction.mss_bytes.unwrap_or(0));
    // A terminal's largest segment may be a line of text.
    let segment = segment.max(LEAST_SEGMENT);
    let full = stall.evidence.burst_bytes.is_some_and(|bytes| bytes >= segment) || mean(direction) >= segment / 2;
    match full {
        true if tls::answers_after_acknowledging(row, stall) => FindingKind::ServerSlow,
        true if had_asked_all(row, stall) => FindingKind::Idle,
        true => FindingKind::SentInPieces,
        false => FindingKind::Idle,
    }
}

/// True if the peer closed before the wait ended: the next data answered the close, and all data had been exchanged
/// before.
fn until_close(row: &FlowRow, stall: &StallRow) -> bool {
    idle::closes_inside(row, stall) && row.connection.closed_by != Some(stall.sender)
}

/// The client had sent the head of its first request, which asks whether to go on, and the server was silent (RFC 9110 §10.1.1).
fn awaits_permission(row: &FlowRow, stall: &StallRow) -> bool {
    let first = || row.stalls.iter().find(|other| other.sender == End::Client && other.cause == Cause::AppLimited);
    let in_request = |exchange: &Exchange| stall.end_ns <= exchange.end_ns;
    let asked = || row.exchanges.as_deref().and_then(<[_]>::first).is_some_and(in_request);
    row.connection.expects_continue && first().is_some_and(|first| first.number == stall.number) && asked()
}

/// The server speaks first, as of mail, databases and shells, and did so late; the client had waited for that and went on.
fn greets_late(row: &FlowRow, stall: &StallRow) -> bool {
    let Some([greeting, next, ..]) = row.exchanges.as_deref() else { return false };
    let first = greeting.request_bytes == 0 && greeting.requester == End::Client && stall.sender == End::Server;
    let inside = tls::is_inside(greeting, stall);
    first && inside && weight(stall) >= LATE.0 && next.start_ns - greeting.end_ns <= LATE
}

/// On this subflow of a multipath connection the client had said nothing: the server sent its answers on others (RFC 8684 §3.3.5).
fn on_unused_subflow(row: &FlowRow, stall: &StallRow) -> bool {
    let first = row.exchanges.as_deref().and_then(<[_]>::first);
    let unasked = |words: &Exchange| words.request_bytes == 0 && words.requester == End::Client;
    row.notes.contains(&"mptcp") && first.is_some_and(|words| unasked(words) && stall.end_ns <= words.end_ns)
}

/// The client said nothing, and the server closed at once after its first words, long after the connection began: it may have waited
/// for a request in vain.
fn only_closes(row: &FlowRow) -> bool {
    let [words] = row.exchanges.as_deref().unwrap_or_default() else { return false };
    idle::server_closes_at(row, words.end_ns)
        && row.directions.client.bytes == 0
        && words.end_ns - words.start_ns >= UNPROMPTED_AFTER
}

/// Small payloads in both directions, more than one small request and its answer.
pub(super) fn sends_messages(row: &FlowRow) -> bool {
    let ConnectionRow { exchanges, unprompted, .. } = row.connection;
    exchanges + unprompted >= MESSAGES && End::BOTH.into_iter().all(|side| mean(row.directions.of(side)) <= MESSAGE)
}

/// The server began about as many turns of its own accord as it answered: it sends events as they happen.
fn pushes(row: &FlowRow) -> bool {
    let ConnectionRow { exchanges, unprompted, .. } = row.connection;
    unprompted >= MESSAGES && 2 * unprompted >= exchanges
}

/// The connection began before the capture, or TLS hides what was asked, and the server was silent for long before no more than a
/// segment: what it had said before may have been whole.
fn may_be_an_event(row: &FlowRow, stall: &StallRow) -> bool {
    let long = stall.sender == End::Server && weight(stall) >= UNPROMPTED_AFTER.0;
    let hidden = began_before(row) || idle::carries_tls(row) && idle::rests_again(row, stall);
    long && hidden && (1..=FULL_SEGMENT).contains(&stall.then_bytes)
}

/// Likewise after a shorter silence, where what the server had said before was shorter than any full segment: that was mostly whole.
/// Where a message had answered one of the client's, that was whole as well, however much follows.
fn had_told_all(row: &FlowRow, stall: &StallRow) -> bool {
    let late = stall.sender == End::Server && weight(stall) >= LATE.0;
    let said = stall.evidence.burst_bytes.unwrap_or(u64::MAX);
    let exchange = || row.exchanges.iter().flatten().find(|exchange| tls::is_inside(exchange, stall));
    let asked = || exchange().map(|exchange| exchange.request_bytes);
    let answered = || said <= MESSAGE && asked().is_some_and(|asked| (1..=MESSAGE).contains(&asked));
    let hidden = began_before(row) || idle::carries_tls(row);
    let little = (1..=FULL_SEGMENT).contains(&stall.then_bytes) || began_before(row) && answered();
    late && said < LEAST_SEGMENT && hidden && little
}

/// Next to the client the whole answer came sooner after the client's pause than the path takes: it answers what the client had sent
/// before, and what followed the pause is another request.
fn had_asked_all(row: &FlowRow, stall: &StallRow) -> bool {
    let inside = |exchange: &&Exchange| stall.sender == End::Client && tls::is_inside(exchange, stall);
    let answered = || row.exchanges.iter().flatten().find(inside).map(|exchange| exchange.end_ns - stall.end_ns);
    let path = row.base_rtt_ns.filter(|_| row.vantage.side == End::Client.name());
    path.is_some_and(|path| answered().is_some_and(|after| after + after < path))
}

fn began_before(row: &FlowRow) -> bool {
    row.handshake.duration_ns.is_none()
}

/// Mean payload of a segment, bytes.
fn mean(direction: &DirectionRow) -> u64 {
    direction.bytes / direction.segments.max(1)
}
