//! Detects silences of connections that had nothing to carry: before the next message, and before the last words of an end
//! that closes an idle connection by a timer. Nobody waited for these.

use super::weight::{MESSAGE, weight};
use crate::causes::{Cause, details};
use crate::exchange::{ACKNOWLEDGEMENT, AT_ONCE, FAREWELL};
use crate::flow::End;
use crate::flow::rounds::UNPROMPTED_AFTER;
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;

/// Silence after which little data before the close answers nothing, although the peer spoke last: it had acknowledged a
/// setting, or kept the connection alive. Servers of HTTP/2 close what is idle after 3 to 4 minutes, balancers after 60 s.
const UNANSWERED_AFTER: Nanos = Nanos::from_millis(30_000);
/// Exchanges of a connection that is kept for more: the only answer of a connection is no last word.
const KEPT: u64 = 2;
/// Smallest payload of a full segment on links of today: 1,280 bytes of IPv6 (RFC 8200 §5) less the headers.
const SEGMENT: u64 = 1_208;
/// Alert of TLS 1.2 in a record with AES-GCM: 5 bytes of header, 2 of alert, 24 of nonce and tag (RFC 5288 §3).
const ALERT: u64 = 31;
/// Shortest silence of a connection that is closed as idle: the last chunk of an answer (RFC 9112 §7.1), which may be as short as a
/// notice, mostly comes sooner.
const LEAST_IDLE: Nanos = Nanos::from_millis(1_000);
/// Port of HTTP over TLS (RFC 9110 §4.2.2).
const HTTPS: u16 = 443;

/// True if the wait ended with little data, the last of its end, and the connection closed soon after that: within the
/// time that the silence had lasted.
pub(super) fn ends_with_last_words(row: &FlowRow, stall: &StallRow) -> bool {
    let connection = &row.connection;
    if connection.farewell && stall.sender == End::Server && stall.detail == details::THINK_TIME {
        return stall.end_ns <= connection.closed_ns.unwrap_or_default() && is_last(row, stall);
    }
    if says_goodbye(row, stall) {
        return true;
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

/// The server's last word is as short as an alert, or as a notice with one, and it closes at once after it: that is no piece of an
/// answer, but the end of an idle connection.
fn says_goodbye(row: &FlowRow, stall: &StallRow) -> bool {
    let most = if weight(stall) >= LEAST_IDLE.0 { FAREWELL } else { ALERT };
    let little = stall.sender == End::Server && stall.detail == details::IDLE && (1..=most).contains(&stall.then_bytes);
    little && server_closes_at(row, stall.end_ns) && carries_tls(row) && is_last(row, stall)
}

/// All that a connection of TLS had to say in the capture was one end's farewell (RFC 8446 §6.1): what came before was over.
pub(super) fn only_says_goodbye(row: &FlowRow, by: End) -> bool {
    let [own, other] = [by, by.peer()].map(|end| row.directions.of(end).bytes);
    row.handshake.duration_ns.is_none() && carries_tls(row) && own <= FAREWELL && other == 0
}

/// The server closed at once after what it said until `then`.
pub(super) fn server_closes_at(row: &FlowRow, then: Nanos) -> bool {
    let at_once = |closed: Nanos| closed >= then && closed - then <= AT_ONCE;
    row.connection.closed_by == Some(End::Server) && row.connection.closed_ns.is_some_and(at_once)
}

/// No wait of the same end came after it, but before what answers the close.
fn is_last(row: &FlowRow, stall: &StallRow) -> bool {
    let closed = row.connection.closed_ns;
    let after = |other: &&StallRow| other.sender == stall.sender && other.start_ns >= stall.end_ns;
    row.stalls.iter().filter(after).all(|other| closed.is_some_and(|closed| closed <= other.end_ns))
}

/// The connection was closed during the wait.
pub(super) fn closes_inside(row: &FlowRow, stall: &StallRow) -> bool {
    row.connection.closed_ns.is_some_and(|closed| stall.start_ns < closed && closed <= stall.end_ns)
}

/// True if the wait ended with the farewell of a TLS connection that had been closed meanwhile.
pub(super) fn answers_close(row: &FlowRow, stall: &StallRow) -> bool {
    closes_inside(row, stall) && (1..=MESSAGE).contains(&stall.then_bytes) && is_last(row, stall) && carries_tls(row)
}

/// True if a client acknowledged what it had received, as in HTTP/2: that is no beginning of a request.
pub(super) fn had_acknowledged(row: &FlowRow, stall: &StallRow) -> bool {
    let little = stall.evidence.burst_bytes.is_some_and(|bytes| bytes <= ACKNOWLEDGEMENT);
    stall.sender == End::Client && stall.detail == details::IDLE && little && carries_tls(row)
}

/// True if the last words of a TLS connection were sent again: nobody waits for a farewell or an alert, for the connection was
/// closed already, and not only when its end gave up.
pub(super) fn repeats_farewell(row: &FlowRow, stall: &StallRow) -> bool {
    if stall.cause != Cause::Retransmission {
        return false;
    }
    let again = row.directions.of(stall.sender).retransmitted_bytes;
    let short = (1..=stall.attempts.len() as u64 * FAREWELL).contains(&again);
    let little = (short || stall.evidence.burst_bytes.is_some_and(|bytes| bytes <= MESSAGE)) && stall.then_bytes == 0;
    let closed = row.connection.closed_ns.is_some_and(|closed| closed - stall.start_ns <= AT_ONCE);
    little && closed && carries_tls(row)
}

/// True if no more than a byte was sent again each time, of more in flight: these are keep-alives (RFC 9293 §3.8.4), and the capture
/// lacks the ACKs. A timeout sends a segment.
pub(super) fn keeps_alive(row: &FlowRow, stall: &StallRow) -> bool {
    let (probes, again) = (stall.attempts.len() as u64, row.directions.of(stall.sender).retransmitted_bytes);
    !stall.ended && (1..=probes).contains(&again) && stall.evidence.in_flight_bytes.is_some_and(|bytes| bytes > probes)
}

/// Without its beginning a connection carries TLS where its port says so.
pub(super) fn carries_tls(row: &FlowRow) -> bool {
    row.connection.tls || !row.handshake.complete && row.server.port == HTTPS
}

/// True if the wait of a server ended with a word of TLS that is no piece of an answer: a ping, a notice, a goodbye.
pub(super) fn is_notice(row: &FlowRow, stall: &StallRow) -> bool {
    let within = |bytes: u64, after: Nanos| (1..=bytes).contains(&stall.then_bytes) && weight(stall) >= after.0;
    let word = within(ACKNOWLEDGEMENT, UNPROMPTED_AFTER) || within(MESSAGE, UNANSWERED_AFTER);
    let of_server = stall.sender == End::Server && stall.detail == details::IDLE && carries_tls(row);
    // Only after seconds of silence the rest of the flow is looked at.
    of_server && word && rests_again(row, stall)
}

/// True if the end is silent again after the data that ended its wait: that data was all.
pub(super) fn rests_again(row: &FlowRow, stall: &StallRow) -> bool {
    let next = row.stalls.iter().find(|other| other.sender == stall.sender && other.start_ns >= stall.end_ns);
    next.is_none_or(|next| next.duration_ns >= LEAST_IDLE)
}

/// True if the end had said little before a long silence of its own: that was a message, and the next data another. A
/// client's message is a request, up to a segment: whoever has begun to ask goes on.
pub(super) fn had_said_all(row: &FlowRow, stall: &StallRow) -> bool {
    // Without a handshake the largest segment may have been a whole message.
    let least = if row.handshake.complete { 0 } else { SEGMENT };
    let segment = row.directions.client.mss_bytes.map_or(MESSAGE, u64::from).max(least);
    let most = if stall.sender == End::Client { segment.saturating_sub(1) } else { MESSAGE };
    let little = stall.evidence.burst_bytes.is_some_and(|bytes| bytes <= most);
    stall.detail == details::IDLE && weight(stall) >= UNPROMPTED_AFTER.0 && little
}
