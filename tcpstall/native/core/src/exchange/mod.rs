//! Groups turns of direction into exchanges: a request, its response, and the parts of their latency.
//!
//! The latency of an exchange is the time that the requester experienced: from its first byte (or its SYN, where the
//! handshake belongs to the exchange) to the arrival of the last byte of the response, on its own clock. A tap at a
//! round trip d from the requester sees the first byte d/2 late and the last byte d/2 early, so the latency is the
//! tap's span plus d, and it is the same at every vantage. Its parts sum to it exactly.

mod connection;
mod parts;
mod split;

pub use self::connection::{ConnectionRow, connection};
pub use self::parts::{LatencyPart, Phase, round_trips};
pub use self::split::Wait;

use self::split::Split;
use crate::few::Few;
use crate::flow::End;
use crate::flow::rounds::{Closing, Round, Rounds, UNPROMPTED_AFTER};
use crate::json::row;
use crate::pause::Finished;
use crate::time::Nanos;

/// Largest TLS alert in one record: a header of 5 bytes, 2 of alert, and for the longest cipher suites 16 of initial
/// value and 64 of MAC and padding (RFC 5246 §6.2.3).
pub const FAREWELL: u64 = 87;

/// Longest time between the alert and the FIN of an end that closes: it asks for each by itself, within the tick of an old host
/// (HZ = 100).
pub const AT_ONCE: Nanos = Nanos::from_millis(10);

/// Largest acknowledgement of HTTP/2 in a TLS record: a frame of 17 bytes, 5 of header, 24 of nonce and tag (RFC 5288 §3).
pub const ACKNOWLEDGEMENT: u64 = 46;

/// Largest notice or ping of an end: a frame of 100 bytes in a TLS record.
const MESSAGE: u64 = 128;

/// Tickets and a goodbye of a server: two tickets of about 250 bytes each (RFC 8446 §4.6.1) come with the end of a handshake.
pub const TICKETS: u64 = 700;

/// Bytes of a mask, with which a client answers the ping of a WebSocket server (RFC 6455 §5.3, §5.5.3).
const MASK: u64 = 4;

/// Silence after which a notice answers no message: keep-alives and pings come every 30 to 240 s, and a client that asked has
/// mostly given up.
const UNANSWERED_AFTER: Nanos = Nanos::from_millis(30_000);

row! {
    /// One request and its response.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Exchange {
        /// The end that sent the request.
        pub requester: End,
        /// First byte of the request, or the SYN where the handshake belongs to the exchange, at the tap.
        pub start_ns: Nanos,
        /// Last byte of the response, at the tap.
        pub end_ns: Nanos,
        /// Time that the requester experienced: the tap's span plus the round trip from the tap to the requester.
        pub latency_ns: Nanos,
        /// The latency in base round trips, to a tenth; `None` where the base round trip is unknown.
        pub round_trips: Option<f64>,
        /// From the last byte of the request to the first of the response, at the tap.
        #[json(hidden)]
        pub waited_ns: Nanos,
        /// Bytes of the request; 0 where the server spoke first, so that the connection itself was the request.
        pub request_bytes: u64,
        /// Bytes of the response.
        pub response_bytes: u64,
        /// The requester acknowledged the whole response; otherwise the latency is at least this.
        pub complete: bool,
        /// Times that an end sent data before it had received all of the other end's: pipelined requests, or data in both
        /// directions at once.
        pub overlaps: u32,
        /// Parts of the latency; they sum to it.
        pub parts: Few<LatencyPart, 6>,
    }
}

impl Exchange {
    /// Over TLS, a message and long after it another one, as of a server that spoke of its own accord: after 30 s on the client's
    /// clock, or sooner if the client sends such acknowledgements by `habit`, or if it had repeated a ping of the server, which
    /// is as long. What follows an acknowledgement may be long.
    pub fn answers_nothing(&self, habit: bool) -> bool {
        let pong = self.request_bytes == self.response_bytes + MASK;
        let acknowledges = self.acknowledges() && (habit || self.silence() >= UNANSWERED_AFTER);
        let little = (1..=MESSAGE).contains(&self.request_bytes) && (self.response_bytes <= MESSAGE || acknowledges);
        let soon = (pong || habit && self.may_acknowledge()) && self.silence() >= UNPROMPTED_AFTER;
        // A timer that starts with the server's last word, or with the client's, ends within the path's time of 30 s.
        little && (soon || self.silence() + self.of(Phase::Travel) >= UNANSWERED_AFTER)
    }

    /// The client's message is too short for most requests, and the server was silent for long after it: the client may have
    /// acknowledged settings or a ping (RFC 9113 §6.5.3, §6.7).
    pub fn may_acknowledge(&self) -> bool {
        self.acknowledges() && self.silence() >= UNPROMPTED_AFTER
    }

    /// The client's message is too short for most requests.
    pub fn acknowledges(&self) -> bool {
        (1..=ACKNOWLEDGEMENT).contains(&self.request_bytes)
    }

    /// Silence of the server before its first byte.
    fn silence(&self) -> Nanos {
        self.of(Phase::Think) + self.of(Phase::Turnaround)
    }

    /// Time of one phase.
    pub fn of(&self, phase: Phase) -> Nanos {
        let parts = self.parts.iter().filter(|part| part.part == phase);
        parts.fold(Nanos::ZERO, |sum, part| sum + part.duration_ns)
    }
}

/// The exchanges of a flow, given the waits of the client and of the server in order of time. `list` makes an empty list
/// with room for so many.
pub fn exchanges(flow: &Finished, waits: &[Few<Wait>; 2], list: impl FnOnce(usize) -> Vec<Exchange>) -> Vec<Exchange> {
    let connection = flow.connection();
    // Resets after the flow's end also measure distances.
    let whole = connection.end - connection.start;
    let distances = connection.distances().map(|distance| distance.map(|span| span.min(whole)));
    let split = Split { distances, waits };
    let base_rtt = connection.base_rtt();
    let rounds = asked_rounds(flow);
    let mut exchanges = list(rounds.len());
    for (index, round) in rounds.iter().enumerate() {
        // A request that follows at once waited for the handshake; later requests found the connection ready.
        let set_up = connection.handshake.syn.zip(connection.handshake.done).filter(|(_, done)| {
            index == 0
                && !connection.continues
                && (round.opening || (round.start >= *done && round.start - *done <= flow.threshold))
        });
        let parts = split.parts(round, set_up);
        let latency = parts.iter().fold(Nanos::ZERO, |sum, part| sum + part.duration_ns);
        exchanges.push(Exchange {
            requester: End::Client,
            start_ns: set_up.map_or(round.start, |(syn, _)| syn),
            end_ns: round.last,
            latency_ns: latency,
            round_trips: round_trips(latency, base_rtt),
            waited_ns: (round.answered.unwrap_or(round.last) - round.asked).or_zero(),
            request_bytes: round.request_bytes,
            response_bytes: round.response_bytes,
            complete: round.complete,
            overlaps: round.overlaps,
            parts,
        });
    }
    exchanges
}

/// The rounds without a farewell: the client's TLS alert before it closes, and the server's in return.
fn asked_rounds(flow: &Finished) -> &[Round] {
    let rounds = flow.rounds().rounds();
    match rounds.split_last() {
        Some((last, before)) if flow.speaks_tls() && is_farewell(last, flow.rounds()) => before,
        _ => rounds,
    }
}

/// The server said little and closed at once, long after a message of the client that is too short for a request: it
/// acknowledges settings or a ping (RFC 9113 §6.5.3, §6.7), and an idle connection ended (§6.8).
fn is_answer_to_nothing(round: &Round, turns: &Rounds) -> bool {
    let at_once = |closing: &Closing| {
        closing.by == End::Server && !closing.reset && (closing.time - round.last).or_zero() <= AT_ONCE
    };
    let late = round.answered.is_some_and(|answered| answered - round.asked >= UNPROMPTED_AFTER);
    let little = round.request_bytes <= ACKNOWLEDGEMENT && round.response_bytes <= FAREWELL;
    // The client's second message ends the handshake, and too short a one asks for nothing; the answer to it has tickets.
    let set_up = turns.rounds().len() == 2 && round.request_bytes <= MESSAGE && round.response_bytes <= TICKETS;
    (little || set_up) && late && turns.closing.as_ref().is_some_and(at_once)
}

/// The server's word came long after a message of the client that only acknowledged, and the client closed at once: nobody had
/// waited for it. A timer of the server may have begun with what the client acknowledged at once.
fn is_unasked(round: &Round, turns: &Rounds, distance: Nanos) -> bool {
    let late = |answered: &Nanos| *answered - round.asked + AT_ONCE >= UNPROMPTED_AFTER;
    let Some(answered) = round.answered.filter(late) else { return false };
    let at_once = |closing: &Closing| {
        let after = closing.time - answered - distance;
        closing.by == End::Client && closing.time >= answered && after <= AT_ONCE
    };
    let little = round.request_bytes <= MESSAGE && round.response_bytes <= FAREWELL;
    little && turns.closing.as_ref().is_some_and(at_once)
}

fn is_farewell(round: &Round, turns: &Rounds) -> bool {
    let closes = |closing: &Closing| closing.by == End::Client && closing.time <= round.last;
    round.request_bytes <= FAREWELL && round.response_bytes <= FAREWELL && turns.closing.as_ref().is_some_and(closes)
}
