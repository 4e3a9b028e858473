//! Tells a server that ignored what had reached it: a full accept queue drops SYNs, and the ACK and the first data that
//! would complete a connection (Linux `tcp_conn_request`, `tcp_check_req`).

use crate::causes::Cause;
use crate::flow::End;
use crate::results::rows::{FlowRow, StallRow};

/// Copies of the first data on one host: the data itself had arrived.
const ON_ONE_HOST: usize = 1;
/// Copies of the first data that the server ignored at its own tap; one may have been damaged on its way.
const AT_THE_SERVER: usize = 2;
/// Copies elsewhere: a probe and two timeouts, or three timeouts, which no single loss explains.
const ELSEWHERE: usize = 3;

/// Both ends are one host: no path between them loses or damages anything (RFC 1122 §3.2.1.3: a loopback address never leaves its
/// host), so what was captured had arrived. Not where later data was sent again: a test's queue drops packets there.
fn on_one_host(row: &FlowRow) -> bool {
    let (client, server) = (row.client.address, row.server.address);
    let one = client == server || client.is_loopback() && server.is_loopback();
    let loses = |stall: &StallRow| stall.cause == Cause::Retransmission && !is_of_first_data(row, stall);
    let repairs = |side: &End| row.directions.of(*side).repair.fast_retransmits > 0;
    one && !row.stalls.iter().any(loses) && !End::BOTH.iter().any(repairs)
}

/// A SYN that had reached the server was not answered, and a later one was.
pub(super) fn ignored_syn(row: &FlowRow) -> bool {
    let (client, server) = (row.directions.client.syn.count, row.directions.server.syn.count);
    (row.vantage.is_at(End::Server) || on_one_host(row)) && 0 < server && server < client
}

/// The server had completed the handshake, acknowledged nothing of the client's first data however often it came, and went on
/// in the end.
pub(super) fn ignored_data(row: &FlowRow, stall: &StallRow) -> bool {
    let attempts = row.stalls.iter().filter(|stall| is_of_first_data(row, stall)).map(|stall| stall.attempts.len());
    let least = match row.vantage.is_at(End::Server) {
        _ if on_one_host(row) => ON_ONE_HOST,
        true => AT_THE_SERVER,
        false => ELSEWHERE,
    };
    is_of_first_data(row, stall) && attempts.sum::<usize>() >= least
}

/// The whole first request was in flight while the client sent it again.
fn is_of_first_data(row: &FlowRow, stall: &StallRow) -> bool {
    let Some(first) = row.exchanges.as_deref().and_then(<[_]>::first) else { return false };
    let inside = first.start_ns <= stall.start_ns && stall.attempts.iter().all(|copy| copy.time_ns < first.end_ns);
    let all = stall.evidence.in_flight_bytes.is_some_and(|bytes| bytes == first.request_bytes);
    let again = stall.cause == Cause::Retransmission && stall.sender == End::Client;
    again && inside && all && row.handshake.complete && first.response_bytes > 0
}
