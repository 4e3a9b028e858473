//! Outcome of a connection that nobody answered, or whose peer fell silent for good.

use crate::flow::connection::handshake::Handshake;
use crate::flow::connection::silence::PeerSilence;
use crate::flow::{Connection, End, State};
use crate::json::{named, row};
use crate::pause::Finished;
use crate::time::Nanos;

/// Time that a SYN waits for its answer before it is retransmitted (RFC 6298 §2.1): before that no answer is late.
const PATIENCE: Nanos = Nanos::from_millis(1_000);
/// Longest time after which a client that waits sends its SYN again: 1 s (RFC 6298 §2.1), 3 s of an older one (RFC 1122 §4.2.3.1).
pub(in super::super) const SYN_AGAIN: Nanos = Nanos::from_millis(3_000);
/// Unanswered attempts that no single loss explains: a tail loss probe and two timeouts, or three timeouts.
const ATTEMPTS: u32 = 3;

/// Outcome of a connection that failed, or that the capture does not show to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing answered the SYNs.
    Unreachable,
    /// A RST answered the SYN.
    Refused,
    /// A SYN-ACK answered the SYN, and no ACK completed the handshake.
    HalfOpen,
    /// The client reset the connection instead of completing the handshake.
    Aborted,
    /// Data was retransmitted repeatedly, or after the peer's RST, and the peer was not heard any more.
    Gone(End),
    /// The capture ends so soon after the SYN or SYN-ACK that the answer may have followed.
    TooEarly,
    /// Packets of one end answer the other end, and the capture holds nothing of the other end.
    OneSided,
}

impl Outcome {
    /// Name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Unreachable => "unreachable",
            Outcome::Refused => "refused",
            Outcome::HalfOpen => "half-open",
            Outcome::Aborted => "aborted",
            Outcome::Gone(_) => "gone",
            Outcome::TooEarly => "too-early",
            Outcome::OneSided => "one-sided",
        }
    }

    /// Outcome of a flow; `None` for a connection that was established and whose ends were heard.
    pub(in super::super) fn of(flow: &Finished) -> Option<Outcome> {
        let connection = flow.connection();
        opening(connection, until(flow)).or_else(|| one_sided(connection)).or_else(|| gone(connection, until(flow)))
    }
}

/// Latest time at which a packet of the flow would have been captured.
fn until(flow: &Finished) -> Nanos {
    flow.until.unwrap_or(Nanos(i64::MIN)).max(flow.connection().end)
}

/// Outcome of a handshake that was not completed.
fn opening(connection: &Connection, until: Nanos) -> Option<Outcome> {
    let handshake = &connection.handshake;
    let start = handshake.start()?;
    let [client, server] = &connection.halves;
    if handshake.done.is_some() || client.bytes > 0 && server.bytes > 0 {
        return None;
    }
    if let Some(refused) = handshake.refused {
        let given_up = handshake.syns > 1 && next_syn_due(handshake).is_some_and(|due| refused > due);
        return Some(if given_up { Outcome::Unreachable } else { Outcome::Refused });
    }
    // An end sends only SYNs before it has an answer.
    let went_on = connection.state != State::Opening || client.bytes > 0 || server.bytes > 0;
    let [by_client, by_server] = End::BOTH.map(|end| connection.silence[end.peer()].heard);
    let late = until - start >= PATIENCE;
    match (by_client.is_some(), by_server.is_some(), went_on) {
        // No answer was one that the client could accept, as of a firewall's RST that acknowledges no SYN.
        (true, true, false) if handshake.syn_ack.is_none() && handshake.syns > 1 && late => Some(Outcome::Unreachable),
        (true, true, _) if handshake.syn_ack.is_none() => None, // A challenge ACK, or a RST of an older connection.
        (true, true, true) if connection.state == State::Reset && by_client > by_server => Some(Outcome::Aborted),
        (true, true, true) if connection.state == State::Reset => Some(Outcome::HalfOpen),
        (true, true, true) => None,
        (_, _, true) => Some(Outcome::OneSided),
        (true, false, false) if late => Some(Outcome::Unreachable),
        (true, true, false) if late => Some(Outcome::HalfOpen),
        // The SYN-ACK was retransmitted, although the capture lacks the client.
        (false, true, false) if handshake.syn_acks > 1 => Some(Outcome::HalfOpen),
        (false, true, false) => Some(Outcome::OneSided),
        (_, _, false) => Some(Outcome::TooEarly),
    }
}

/// Time by which a client that still waits has sent its SYN again: each interval is at most twice the one before, so it is no longer
/// than all of them and the first. A RST that comes later answers none of them, as of a NAT that forgets the attempt.
fn next_syn_due(handshake: &Handshake) -> Option<Nanos> {
    let (first, last) = handshake.syn.zip(handshake.last_syn)?;
    Some(last + (last - first) + SYN_AGAIN)
}

/// Outcome of a connection that began before the capture, of which the capture holds one end alone: that end acknowledges more
/// and more data of its peer.
fn one_sided(connection: &Connection) -> Option<Outcome> {
    let unheard = |end: End| connection.silence[end.peer()].heard.is_none() && connection.half(end).never_seen > 0;
    let began_before = connection.handshake.start().is_none();
    (began_before && End::BOTH.into_iter().any(unheard)).then_some(Outcome::OneSided)
}

/// Outcome of an end that retransmitted the same data repeatedly to a silent peer; or at all, to a peer whose last word was a RST:
/// that deleted the connection (RFC 9293 §3.10.7.4), and did not reach the sender.
fn gone(connection: &Connection, until: Nanos) -> Option<Outcome> {
    let lost = |&end: &End| {
        let (silence, half) = (connection.silence[end], connection.half(end));
        let since = silence.heard.unwrap_or(connection.start);
        let silent = silence.attempts() >= ATTEMPTS && until - since >= PATIENCE;
        (silent || silence.follows_reset() && silence.attempts() > 0) && half.snd_una < half.snd_nxt
    };
    End::BOTH.into_iter().find(lost).map(Outcome::Gone)
}

row! {
    /// Outcome in the report.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct OutcomeRow {
        /// `unreachable`, `refused`, `half-open`, `aborted`, `gone`; `too-early` or `one-sided` where the capture does not
        /// decide;
        /// `null` for a connection that was established and whose ends were heard.
        pub outcome: Option<Outcome>,
        /// The end that got no answer.
        #[json(if_any)]
        pub unanswered_sender: Option<End>,
        /// Number of its SYNs or SYN-ACKs; for `gone` the number of retransmissions of the data.
        #[json(if_any)]
        pub unanswered_attempts: Option<u32>,
        /// Time without an answer: up to the RST that ended the connection, or the latest packet of the capture.
        #[json(if_any)]
        pub unanswered_ns: Option<Nanos>,
    }
}

impl OutcomeRow {
    pub(in super::super) fn of(flow: &Finished, outcome: Option<Outcome>) -> OutcomeRow {
        let connection = flow.connection();
        // After a RST nobody waits for an answer.
        let until = if connection.state == State::Reset { connection.end } else { until(flow) };
        let (handshake, start) = (&connection.handshake, connection.start);
        let span = |since: Option<Nanos>| Some((until - since.unwrap_or(start)).or_zero());
        let (sender, attempts, waited) = match outcome {
            Some(Outcome::Unreachable) => (End::Client, handshake.syns, span(handshake.syn)),
            Some(Outcome::HalfOpen) => (End::Server, handshake.syn_acks, span(handshake.syn_ack)),
            Some(Outcome::TooEarly) if handshake.syn_ack.is_some() => {
                (End::Server, handshake.syn_acks, span(handshake.syn_ack))
            }
            Some(Outcome::TooEarly) => (End::Client, handshake.syns, span(handshake.syn)),
            Some(Outcome::Gone(end)) => {
                let silence: PeerSilence = connection.silence[end];
                // Copies sent after the peer's RST do not lengthen the connection.
                let waited = silence.last_attempt.map_or(until, |last| last.max(until));
                (end, silence.attempts(), Some((waited - silence.heard.unwrap_or(start)).or_zero()))
            }
            _ => return OutcomeRow { outcome, ..OutcomeRow::default() },
        };
        OutcomeRow {
            outcome,
            unanswered_sender: Some(sender),
            unanswered_attempts: Some(attempts),
            unanswered_ns: waited,
        }
    }
}

named!(Outcome);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pause::Watch;
    use crate::seq::SeqNo;
    use crate::wire::{Address, Endpoint, Flags, Segment};

    const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);
    const RST_ACK: Flags = Flags::RST.with(Flags::ACK);

    /// Plays (ms, 0 client or 1 server, flags, sequence number, payload): the server's ISN is 900, the client's 0.
    fn flow(said: &[(i64, usize, Flags, u32, u32)], until_ms: i64) -> Finished {
        let ends = [1, 2].map(|host| Endpoint { address: Address::v4([10, 0, 0, host]), port: 80 * u16::from(host) });
        let segment = |&(ms, from, flags, seq, payload): &(i64, usize, Flags, u32, u32)| Segment {
            time: Nanos::from_millis(ms),
            source: ends[from],
            destination: ends[1 - from],
            seq: SeqNo(seq),
            ack: SeqNo(if !flags.has(Flags::ACK) {
                0
            } else if from == 0 {
                901
            } else {
                1
            }),
            flags,
            window: 65_535,
            payload,
            ..Segment::default()
        };
        let segments: Vec<Segment> = said.iter().map(segment).collect();
        let mut watch = Box::new(Watch::new(&segments[0]));
        segments.iter().for_each(|segment| {
            watch.sees(segment);
        });
        let mut flow = watch.finish();
        flow.until = Some(Nanos::from_millis(until_ms));
        flow
    }

    fn outcome(said: &[(i64, usize, Flags, u32, u32)], until_ms: i64) -> Option<Outcome> {
        Outcome::of(&flow(said, until_ms))
    }

    const OPENED: [(i64, usize, Flags, u32, u32); 3] =
        [(0, 0, Flags::SYN, 0, 0), (10, 1, SYN_ACK, 900, 0), (20, 0, Flags::ACK, 1, 0)];

    #[test]
    fn syns_that_nobody_answered_did_not_reach_anybody() {
        assert_eq!(
            outcome(&[(0, 0, Flags::SYN, 0, 0), (1_000, 0, Flags::SYN, 0, 0)], 1_000),
            Some(Outcome::Unreachable)
        );
        assert_eq!(outcome(&[(0, 0, Flags::SYN, 0, 0)], 1_000), Some(Outcome::Unreachable));
    }

    #[test]
    fn a_capture_that_ends_within_a_second_of_the_syn_is_too_short() {
        assert_eq!(outcome(&[(0, 0, Flags::SYN, 0, 0)], 999), Some(Outcome::TooEarly));
        assert_eq!(outcome(&[(0, 0, Flags::SYN, 0, 0), (10, 1, SYN_ACK, 900, 0)], 900), Some(Outcome::TooEarly));
    }

    #[test]
    fn a_reset_that_acknowledges_the_syn_refused_it_after_however_many_tries() {
        let tries = [(0, 0, Flags::SYN, 0, 0), (1_000, 0, Flags::SYN, 0, 0), (1_010, 1, RST_ACK, 0, 0)];
        assert_eq!(outcome(&tries, 5_000), Some(Outcome::Refused));
    }

    #[test]
    fn a_reset_that_comes_long_after_the_next_syn_was_due_answers_none() {
        let tries = |reset| [(0, 0, Flags::SYN, 0, 0), (1_000, 0, Flags::SYN, 0, 0), (reset, 1, RST_ACK, 0, 0)];
        assert_eq!(outcome(&tries(5_000), 9_000), Some(Outcome::Refused));
        assert_eq!(outcome(&tries(5_001), 9_000), Some(Outcome::Unreachable));
    }

    #[test]
    fn resets_that_acknowledge_no_syn_are_no_answer_to_one_that_is_sent_again() {
        let tries = [(0, 0, Flags::SYN, 5, 0), (2, 1, RST_ACK, 0, 0), (1_000, 0, Flags::SYN, 5, 0)];
        assert_eq!(outcome(&tries, 5_000), Some(Outcome::Unreachable));
        assert_eq!(outcome(&tries[..2], 5_000), None);
    }

    #[test]
    fn a_server_that_answered_and_heard_nothing_more_is_left_half_open() {
        let said = [(0, 0, Flags::SYN, 0, 0), (10, 1, SYN_ACK, 900, 0), (1_010, 1, SYN_ACK, 900, 0)];
        assert_eq!(outcome(&said, 1_010), Some(Outcome::HalfOpen));
    }

    #[test]
    fn a_client_that_resets_what_the_server_accepted_aborted_it() {
        let said = [(0, 0, Flags::SYN, 0, 0), (10, 1, SYN_ACK, 900, 0), (20, 0, Flags::RST, 1, 0)];
        assert_eq!(outcome(&said, 9_000), Some(Outcome::Aborted));
    }

    #[test]
    fn an_end_that_answers_what_the_capture_lacks_is_half_a_conversation() {
        let client = [(0, 0, Flags::SYN, 0, 0), (20, 0, Flags::ACK, 1, 0), (21, 0, Flags::ACK, 1, 100)];
        assert_eq!(outcome(&client, 9_000), Some(Outcome::OneSided));
        let server = [(10, 1, SYN_ACK, 900, 0), (40, 1, Flags::ACK, 901, 100)];
        assert_eq!(outcome(&server, 9_000), Some(Outcome::OneSided));
    }

    #[test]
    fn who_resets_waits_no_longer_for_an_answer() {
        let again = (1..9).map(|second| (1_000 * second, 0, Flags::ACK, 1, 100)).collect::<Vec<_>>();
        let unanswered = |said: &[&[_]], until_ms| {
            let flow = flow(&said.concat(), until_ms);
            let row = OutcomeRow::of(&flow, Outcome::of(&flow));
            (row.outcome, row.unanswered_ns.map(|span| span.0 / 1_000_000))
        };
        let gone = Some(Outcome::Gone(End::Client));
        assert_eq!(unanswered(&[&OPENED, &again], 60_000), (gone, Some(59_990)));
        let reset = [(9_000, 0, Flags::RST, 101, 0)];
        assert_eq!(unanswered(&[&OPENED, &again, &reset], 60_000), (gone, Some(8_990)));
    }

    #[test]
    fn a_reset_after_the_handshake_refuses_nothing() {
        assert_eq!(outcome(&[OPENED.as_slice(), &[(30, 1, RST_ACK, 901, 0)]].concat(), 9_000), None);
    }

    #[test]
    fn data_sent_again_three_times_to_nobody_shows_that_the_peer_is_gone() {
        let again = |times: i64| {
            let tries = (0..=times).map(|time| (100 + (200 << time), 0, Flags::ACK, 1, 100));
            OPENED.into_iter().chain(tries).collect::<Vec<_>>()
        };
        assert_eq!(outcome(&again(3), 2_000), Some(Outcome::Gone(End::Client)));
        assert_eq!(outcome(&again(2), 2_000), None);
    }

    #[test]
    fn a_peer_that_says_anything_is_not_gone() {
        let mut said = OPENED.to_vec();
        said.extend((0..6).map(|time| (100 + (200 << time), 0, Flags::ACK, 1, 100)));
        said.push((9_000, 1, Flags::ACK, 901, 0));
        assert_eq!(outcome(&said, 20_000), None);
    }

    #[test]
    fn a_peer_whose_last_word_was_a_reset_is_gone_at_the_first_copy() {
        let reset = [(40, 0, Flags::ACK, 1, 100), (50, 1, RST_ACK, 901, 0)];
        let copy = [(250, 0, Flags::ACK, 1, 100)];
        let goes_on = [(60, 1, Flags::ACK, 901, 0)];
        let said = |parts: &[&[_]]| outcome(&[&OPENED, parts.concat().as_slice()].concat(), 400);
        assert_eq!(said(&[&reset, &copy]), Some(Outcome::Gone(End::Client)));
        assert_eq!(said(&[&reset]), None);
        assert_eq!(said(&[&reset[..1], &copy]), None, "one loss is no end");
        assert_eq!(said(&[&reset, &goes_on, &copy]), None, "another host had sent that RST");
    }

    #[test]
    fn many_segments_of_one_repair_are_one_attempt() {
        let mut said = OPENED.to_vec();
        said.extend((0..9).map(|part| (30, 0, Flags::ACK, 1 + 100 * part, 100)));
        said.extend((0..9).map(|part| (300, 0, Flags::ACK, 1 + 100 * part, 100)));
        assert_eq!(outcome(&said, 20_000), None);
    }
}
