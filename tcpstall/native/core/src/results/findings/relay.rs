//! Detects a relay near the client that acknowledges for the server: a split connection (RFC 3135 §2.4), as behind a virtual
//! machine's NAT, a VPN's client or a proxy. Its ACKs come at once; what the server itself says has crossed the rest of the path,
//! as the SYN-ACK had. That part of a wait is a plain round trip, and the relay hides what else the server's end waits for.

use super::kind::FindingKind;
use super::weight::weight;
use crate::exchange::Exchange;
use crate::flow::End;
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;

/// Ratio of the time up to the SYN-ACK to the base round trip, from which the ACKs cross a shorter path.
const SLOWER: i64 = 3;
/// Shortest path behind a relay: a host that schedules late adds up to this.
const LEAST: Nanos = Nanos::from_millis(1);
/// Share of the path's round trip that an answer takes at least: the SYN-ACK may have been a little late.
const SOONEST: f64 = 0.75;
/// Share of it that an answer given at once takes at most.
const AT_ONCE: f64 = 2.0;
/// Share of it that a plain round trip takes at most.
const PLAIN: f64 = 1.25;
/// Divisor of the answers: up to a quarter of them may follow a request by chance, because the server spoke first.
const BY_CHANCE: usize = 4;
/// Round trips that the path may take to repair a loss, or to open a window: a longer pause is the server's own.
const REPAIR: i64 = 8;

/// Round trip between the relay and the server; `None` without a relay, or where nobody can tell. The SYN-ACK and the soonest
/// answer show the same distance. A server whose answers come sooner is nearer: its handshake alone was late.
pub(super) fn beyond(row: &FlowRow) -> Option<Nanos> {
    let base = row.base_rtt_ns?;
    let answered = row.handshake.answered_ns.filter(|_| row.handshake.complete)?;
    let beyond = answered - base;
    let once = End::BOTH.into_iter().all(|end| row.directions.of(end).syn.count == 1);
    if !once || answered <= base.times(SLOWER) || beyond <= LEAST {
        return None;
    }
    let answers = || row.exchanges.iter().flatten().filter(|exchange| is_answer(exchange));
    let within = |share: f64| answers().filter(|exchange| exchange.waited_ns <= beyond.scaled(share)).count();
    let (sooner, at_once) = (within(SOONEST), within(AT_ONCE));
    (at_once > sooner && sooner * BY_CHANCE <= answers().count()).then_some(beyond)
}

fn is_answer(exchange: &Exchange) -> bool {
    exchange.requester == End::Client && exchange.request_bytes > 0 && exchange.response_bytes > 0
}

/// Kind and side of a wait of the server, whose data crosses the path behind the relay: up to one round trip nobody waited, and a
/// pause amid its data of up to some of them may be of that path.
pub(super) fn behind(beyond: Nanos, stall: &StallRow, kind: FindingKind) -> (FindingKind, End) {
    let of_server = matches!(kind, FindingKind::ServerSlow | FindingKind::SentInPieces) && stall.sender == End::Server;
    let wait = Nanos(weight(stall));
    if of_server && wait <= beyond.scaled(PLAIN) {
        (FindingKind::HandshakeDistance, End::Client)
    } else if of_server && kind == FindingKind::SentInPieces && wait <= beyond.times(REPAIR) {
        (FindingKind::Unexplained, End::Server)
    } else {
        (kind, stall.sender)
    }
}
