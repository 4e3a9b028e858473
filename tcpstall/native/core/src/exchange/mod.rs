//! Turns of direction to exchanges: a request, its response, and where their latency went.
//!
//! The latency of an exchange is what the requester lived through: from its first byte (or its SYN, where the handshake
//! belongs to the exchange) to the arrival of the last byte of the response, on its own clock. A tap at a round trip d from
//! the requester sees the first d/2 late and the last d/2 early, so the latency is the tap's span plus d, and it comes out
//! the same at every vantage. Its parts sum to it exactly.

mod connection;
mod parts;
mod split;

pub use self::connection::{ConnectionRow, connection};
pub use self::parts::{Part, Phase, round_trips};
pub use self::split::Wait;

use serde::Serialize;

use self::split::Split;
use crate::flow::Direction;
use crate::flow::turns::{Closing, Round, Turns};
use crate::gap::Finished;
use crate::time::Nanos;

/// A TLS alert in one record takes no more: a header of 5 bytes, 2 of alert, and for the longest cipher suites 16 of
/// initial value and 64 of MAC and padding (RFC 5246 §6.2.3).
const FAREWELL: u64 = 87;

/// One request and its response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exchange {
    /// The end that asked.
    pub requester: &'static str,
    /// First byte of the request, or the SYN where the handshake belongs to it, as the tap saw it.
    pub start_ns: Nanos,
    /// Last byte of the response, as the tap saw it.
    pub end_ns: Nanos,
    /// What the requester lived through: the tap's span and the round trip from the tap to the requester.
    pub latency_ns: Nanos,
    /// The same in base round trips, to a tenth; `None` where the base round trip is not known.
    pub round_trips: Option<f64>,
    /// Bytes of the request; 0 where the server spoke first, so that the connection itself was the request.
    pub request_bytes: u64,
    /// Bytes of the response.
    pub response_bytes: u64,
    /// The requester acknowledged the whole response; otherwise the latency is at least this.
    pub complete: bool,
    /// How often an end spoke before it had heard the other out: pipelined requests, or data both ways at once.
    pub overlaps: u32,
    /// Where the latency went; sums to it.
    pub parts: Vec<Part>,
}

impl Exchange {
    /// What one leg took.
    pub fn of(&self, phase: Phase) -> Nanos {
        let parts = self.parts.iter().filter(|part| part.part == phase);
        parts.fold(Nanos::ZERO, |sum, part| sum + part.duration_ns)
    }
}

/// The exchanges of a flow whose waits are known, those of the client and of the server in order of time.
pub fn exchanges(flow: &Finished, waits: &[Vec<Wait>; 2]) -> Vec<Exchange> {
    let connection = flow.connection();
    // Resets that come after the flow's end measure too.
    let whole = connection.end - connection.start;
    let distances = connection.distances().map(|distance| distance.map(|span| span.min(whole)));
    let split = Split { distances, waits };
    let base_rtt = connection.base_rtt();
    let rounds = asked_rounds(flow);
    let mut exchanges = Vec::with_capacity(rounds.len());
    for (index, round) in rounds.iter().enumerate() {
        // A request that follows at once owes its wait to the handshake; later ones found the connection ready.
        let set_up = connection.handshake.syn.zip(connection.handshake.done).filter(|(_, done)| {
            index == 0 && (round.opening || (round.start >= *done && round.start - *done <= flow.threshold))
        });
        let parts = split.parts(round, set_up);
        let latency = parts.iter().fold(Nanos::ZERO, |sum, part| sum + part.duration_ns);
        exchanges.push(Exchange {
            requester: "client",
            start_ns: set_up.map_or(round.start, |(syn, _)| syn),
            end_ns: round.last,
            latency_ns: latency,
            round_trips: round_trips(latency, base_rtt),
            request_bytes: round.request_bytes,
            response_bytes: round.response_bytes,
            complete: round.complete,
            overlaps: round.overlaps,
            parts,
        });
    }
    exchanges
}

/// The rounds but for a farewell: the client's TLS alert that it is about to close, and the server's in return.
fn asked_rounds(flow: &Finished) -> &[Round] {
    let rounds = flow.turns().rounds();
    match rounds.split_last() {
        Some((last, before)) if flow.speaks_tls() && is_farewell(last, flow.turns()) => before,
        _ => rounds,
    }
}

fn is_farewell(round: &Round, turns: &Turns) -> bool {
    let closes = |closing: &Closing| closing.by == Direction::Client && closing.time <= round.last;
    round.request_bytes <= FAREWELL && round.response_bytes <= FAREWELL && turns.closing.as_ref().is_some_and(closes)
}
