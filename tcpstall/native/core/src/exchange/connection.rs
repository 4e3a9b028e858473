//! Use of a connection, and its end.

use super::{asked_rounds, is_answer_to_nothing, is_unasked};
use crate::flow::End;
use crate::flow::first_payload::FirstPayloads;
use crate::flow::rounds::InVain;
use crate::json::row;
use crate::pause::Finished;
use crate::time::Nanos;

row! {
    /// Use of one connection, and its end.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ConnectionRow {
        /// Requests with an answer, including those beyond the limit of the list.
        pub exchanges: u64,
        /// Requests without an answer.
        pub unanswered: u64,
        /// Turns of the server without a request.
        pub unprompted: u64,
        /// `client` or `server`: sender of the first FIN or RST.
        pub closed_by: Option<End>,
        /// `fin` or `rst`.
        pub closed_with: Option<&'static str>,
        /// Bytes of an HTTP answer's content that came before the server closed amid it; `None` where it did not, or nobody can tell.
        #[json(if_any)]
        pub cut_at_bytes: Option<u64>,
        /// The whole length of that content.
        #[json(if_any)]
        pub cut_of_bytes: Option<u64>,
        /// Time when that passed the tap.
        #[json(hidden)]
        pub closed_ns: Option<Nanos>,
        /// Sender of the first RST.
        #[json(hidden)]
        pub reset_by: Option<End>,
        /// The server's last data was the farewell of an idle TLS connection.
        #[json(hidden)]
        pub farewell: bool,
        /// The connection carries TLS.
        #[json(hidden)]
        pub tls: bool,
        /// It does so from the client's first byte: no other protocol came before.
        #[json(hidden)]
        pub tls_at_once: bool,
        /// The connection carries requests of HTTP in plain text.
        #[json(hidden)]
        pub http: bool,
        /// The request that the server still owed an answer at the end.
        #[json(hidden)]
        pub in_vain: Option<InVain>,
        /// Its first request asks for permission to send its content.
        #[json(hidden)]
        pub expects_continue: bool,
        /// Idle time before that, from the last byte of the last response, on the clock of the end that closed the
        /// connection;
        /// `None` without an exchange.
        pub idle_before_close_ns: Option<Nanos>,
    }
}

/// Use of a flow, and its end.
pub fn connection(flow: &Finished) -> ConnectionRow {
    let (turns, rounds) = (flow.rounds(), asked_rounds(flow));
    let closing = turns.closing;
    let distance = || flow.connection().distances()[End::Client].unwrap_or_default();
    let idle = closing.zip(rounds.last()).map(|(closing, round)| {
        // The server sent both; the client had to receive the response before it sent the FIN or RST.
        let heard = match closing.by {
            End::Server => Nanos::ZERO,
            End::Client => distance(),
        };
        (closing.time - round.last - heard).or_zero()
    });
    let says_goodbye = || {
        let nothing = rounds.last().is_some_and(|last| is_answer_to_nothing(last, turns));
        // The farewell after it may count to the same turn, or be a turn of its own.
        let ends = [rounds.last(), turns.rounds().last()];
        nothing || ends.into_iter().flatten().any(|last| is_unasked(last, turns, distance()))
    };
    let cut = closing.filter(|closing| closing.by == End::Server).and_then(|_| cut(flow));
    ConnectionRow {
        cut_at_bytes: cut.map(|(came, _)| came),
        cut_of_bytes: cut.map(|(_, all)| all),
        exchanges: rounds.len() as u64 + turns.dropped,
        unanswered: turns.unanswered,
        unprompted: turns.unprompted,
        closed_by: closing.map(|closing| closing.by),
        closed_with: closing.map(|closing| if closing.reset { "rst" } else { "fin" }),
        closed_ns: closing.map(|closing| closing.time),
        reset_by: turns.reset_by,
        farewell: flow.speaks_tls() && says_goodbye(),
        tls: flow.speaks_tls(),
        tls_at_once: flow.first_payloads().is_some_and(FirstPayloads::begin_with_tls),
        http: flow.first_payloads().is_some_and(FirstPayloads::speak_http),
        in_vain: turns.in_vain,
        expects_continue: flow.first_payloads().is_some_and(FirstPayloads::expect_continue),
        idle_before_close_ns: idle,
    }
}

/// Bytes that came of the last answer's content, and its whole length, if there were fewer than its head announces.
fn cut(flow: &Finished) -> Option<(u64, u64)> {
    let last = flow.rounds().rounds().last().filter(|last| last.overlaps == 0)?;
    let end = last.from()[End::Server] + i64::try_from(last.response_bytes).ok()?;
    // A FIN further on shows that the capture lacks the rest.
    let seen = flow.connection().half(End::Server).fin.is_none_or(|fin| fin == end + 1);
    flow.first_payloads().filter(|_| seen)?.announced().cut_at(end)
}
