//! Records the rounds of request and response as they pass, without judging them.
//!
//! The client asks, the server answers; a server that speaks first answers the connection itself. An end has taken its
//! turn only when its data acknowledges everything that the other end had sent by then. Data sent without having
//! received that (pipelined requests, both ends streaming) stays in the round and counts as an overlap, so a flow with
//! data in both directions at once is one long round instead of thousands of meaningless ones. Keep-alives, probes and
//! repeated bytes take no turn.

use super::connection::Connection;
use super::end::End;
use super::half::Half;
use crate::time::Nanos;
use crate::vec_growth;
use crate::wire::Segment;

/// Rounds kept for one flow; further rounds are only counted.
pub const ROUND_LIMIT: usize = 10_000;
/// Most places that another flow takes over.
const SMALL: usize = 8;
/// Silence after which data of an end, with all its earlier data acknowledged, is unprompted: nobody waited for a ping,
/// a notice or the farewell of an idle connection. Keep-alive and heartbeat timers start at 5 s (Apache's
/// KeepAliveTimeout and Node's keepAliveTimeout; HTTP/2, WebSocket and SSH pings come later).
pub const UNPROMPTED_AFTER: Nanos = Nanos::from_millis(5_000);

/// A request and its response as they passed the tap.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Round {
    /// Time of the request's first byte, or of the end of the handshake where the server speaks first.
    pub start: Nanos,
    /// Time of the request's last byte before the first byte of the response.
    pub asked: Nanos,
    /// Time of the request's last byte after the response had begun.
    pub asked_late: Option<Nanos>,
    /// Time of the response's first byte; `None` while there is none.
    pub answered: Option<Nanos>,
    /// Time of the response's first byte from an end that had received the whole request.
    pub answered_all: Option<Nanos>,
    /// Time of the response's last byte; where that had to be retransmitted and was acknowledged then, the later time.
    pub last: Nanos,
    /// All of the response was acknowledged before the round ended.
    pub complete: bool,
    /// Time of the latest repetition of an unacknowledged part of the response.
    repeated: Option<Nanos>,
    /// Bytes of the request; 0 where the server speaks first.
    pub request_bytes: u64,
    /// Bytes of the response.
    pub response_bytes: u64,
    /// Times that an end sent data before it had received all of the other end's.
    pub overlaps: u32,
    /// The connection itself was the request.
    pub opening: bool,
    /// Offsets at which the request and the response begin.
    from: [i64; 2],
}

impl Round {
    /// Offsets at which the request and the response begin.
    pub fn from(&self) -> [i64; 2] {
        self.from
    }

    /// Takes in data of the response at `time`; `server` is the state of its sender after it.
    #[inline]
    fn lasts(&mut self, time: Nanos, server: &Half) {
        self.repeated = None;
        self.last = time.max(self.start);
        self.response_bytes = (server.snd_nxt - self.from[End::Server]).max(0) as u64;
    }
}

/// The first FIN or RST.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Closing {
    /// Sender of the FIN or RST.
    pub by: End,
    /// Time when it passed the tap.
    pub time: Nanos,
    /// True for a RST.
    pub reset: bool,
}

/// A request that the server did not answer.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InVain {
    /// Time of its first byte.
    pub start: Nanos,
    /// Time of its last byte.
    pub asked: Nanos,
    /// Its bytes.
    pub bytes: u64,
}

/// The rounds of one flow.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Rounds {
    current: Option<Round>,
    rounds: Vec<Round>,
    spoke_before: bool,
    last_speaker: Option<End>,
    /// Rounds dropped beyond the limit.
    pub dropped: u64,
    /// Requests without an answer.
    pub unanswered: u64,
    /// The largest of them after the latest answer: a farewell may follow it.
    pub in_vain: Option<InVain>,
    /// Turns of the server without a request.
    pub unprompted: u64,
    /// The FIN or RST that ended the connection.
    pub closing: Option<Closing>,
    /// Sender of the first RST.
    pub reset_by: Option<End>,
}

impl Rounds {
    /// Forgets everything; keeps its memory where that is small.
    pub fn renew(&mut self) {
        let rounds = vec_growth::emptied(&mut self.rounds, SMALL);
        *self = Rounds { rounds, ..Rounds::default() };
    }

    /// The rounds in the flow's next part: an unanswered request continues, an answer in progress belongs to the part
    /// before.
    #[must_use]
    pub fn next_part(self) -> Rounds {
        let current = self.current.filter(|round| round.answered.is_none());
        Rounds { current, rounds: Vec::new(), dropped: 0, unanswered: 0, in_vain: None, unprompted: 0, ..self }
    }

    /// Takes in new data of `sender`; the connection is as the tap knows it after that data.
    #[inline]
    pub fn speaks(&mut self, spoken: &Spoken<'_>, sender: End, connection: &Connection) {
        match sender {
            End::Client => self.asks(spoken, connection),
            End::Server => self.answers(spoken, connection),
        }
        self.last_speaker = Some(sender);
    }

    /// Takes in new data of `sender` that follows at once on other data of that end.
    #[inline]
    pub fn goes_on(&mut self, segment: &Segment, bytes: u32, sender: End, connection: &Connection) {
        match &mut self.current {
            // Nearly always a response goes on, of which the client has asked all.
            Some(round) if sender == End::Server && round.answered_all.is_some() => {
                round.lasts(segment.time, connection.half(End::Server));
                self.last_speaker = Some(sender);
            }
            _ => self.speaks(&Spoken { segment, bytes, held_up: false }, sender, connection),
        }
    }

    /// Data of `sender` that follows at once can only prolong a response of which the client has asked all.
    pub fn is_answered_by(&self, sender: End) -> bool {
        sender == End::Server && self.current.is_some_and(|round| round.answered_all.is_some())
    }

    /// Takes in bytes that `sender` sent again, or late; bytes not yet acknowledged prolong its turn.
    pub fn repeats(&mut self, segment: &Segment, sender: End, connection: &Connection) {
        let half = connection.half(sender);
        let Some(round) = self.current.as_mut().filter(|round| round.answered.is_some()) else { return };
        let end = half.offset(segment.seq) + i64::from(segment.payload);
        if sender == End::Server && end > half.acked_at_tap().max(round.from[End::Server]) {
            round.repeated = Some(segment.time);
        }
    }

    /// Takes in a FIN or a RST of `by`.
    pub fn closes(&mut self, by: End, time: Nanos, reset: bool) {
        self.closing.get_or_insert(Closing { by, time, reset });
        self.reset_by = self.reset_by.or(reset.then_some(by));
    }

    /// Takes in that packets are missing here: the next sender may be in the middle of a turn.
    pub fn left_out(&mut self, connection: &Connection) {
        self.finish(connection);
        self.spoke_before = true;
    }

    /// Ends the round, or the last round with the flow.
    pub fn finish(&mut self, connection: &Connection) {
        let Some(mut round) = self.current.take() else { return };
        if round.answered.is_none() {
            self.unanswered += 1;
            let (Round { start, asked, .. }, bytes) = (round, round.request_bytes);
            if self.in_vain.is_none_or(|known| known.bytes < bytes) {
                self.in_vain = Some(InVain { start, asked, bytes });
            }
            return;
        }
        self.in_vain = None;
        let end = round.from[End::Server] + round.response_bytes as i64;
        round.complete = connection.half(End::Server).acked_at_tap() >= end;
        if let Some(repeated) = round.repeated.filter(|_| round.complete) {
            round.last = round.last.max(repeated);
        }
        if self.rounds.len() < ROUND_LIMIT {
            vec_growth::push(&mut self.rounds, round);
        } else {
            self.dropped += 1;
        }
    }

    /// The kept rounds, in order of time.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    fn asks(&mut self, spoken: &Spoken<'_>, connection: &Connection) {
        let own = connection.half(End::Client);
        if let Some(round) = &mut self.current {
            let added = match round.answered {
                None => !spoken.is_unprompted(round.asked, own),
                Some(_) => !spoken.has_heard_all_of(connection.half(End::Server)),
            };
            if added {
                round.request_bytes = (own.snd_nxt - round.from[End::Client]).max(0) as u64;
                if round.answered.is_none() {
                    round.asked = spoken.segment.time.max(round.start);
                } else {
                    round.asked_late = Some(spoken.segment.time);
                    round.answered_all = None;
                    round.overlaps += u32::from(self.last_speaker != Some(End::Client));
                }
                return;
            }
            self.finish(connection);
        }
        self.begin(
            spoken.segment.time,
            [own.snd_nxt - i64::from(spoken.bytes), connection.half(End::Server).snd_nxt],
            false,
        );
        if let Some(round) = &mut self.current {
            round.request_bytes = u64::from(spoken.bytes);
        }
    }

    fn begin(&mut self, start: Nanos, from: [i64; 2], opening: bool) {
        self.spoke_before = true;
        self.current = Some(Round { start, asked: start, opening, from, ..Round::default() });
    }

    fn answers(&mut self, spoken: &Spoken<'_>, connection: &Connection) {
        let own = connection.half(End::Server);
        if self.current.is_none() {
            let opening = connection.handshake.done.filter(|_| !self.spoke_before);
            let Some(done) = opening else {
                let unasked = self.spoke_before && self.last_speaker != Some(End::Server);
                self.unprompted += u64::from(unasked);
                return;
            };
            self.begin(done, [connection.half(End::Client).snd_nxt, own.snd_nxt - i64::from(spoken.bytes)], true);
        }
        let Some(round) = &mut self.current else { return };
        if round.answered.is_some() && round.asked_late.is_none() && spoken.is_unprompted(round.last, own) {
            self.finish(connection);
            self.unprompted += 1;
            return;
        }
        let client = connection.half(End::Client);
        if round.answered.is_none() && !round.opening && client.offset(spoken.segment.ack) <= round.from[End::Client] {
            // The response crossed the request on the path and cannot answer it.
            round.overlaps += u32::from(self.last_speaker == Some(End::Client));
            round.from[End::Server] = own.snd_nxt;
            return;
        }
        // An answer that the capture holds too late is stamped back, at most to the round's beginning.
        let time = spoken.segment.time.max(round.start);
        let now = Some(time);
        if round.answered_all.is_none() && spoken.has_heard_all_of(client) {
            round.answered_all = now;
        }
        round.answered = round.answered.or(now);
        round.lasts(time, own);
    }
}

/// New data as it passes, with its context.
pub struct Spoken<'a> {
    /// The segment.
    pub segment: &'a Segment,
    /// New bytes in it.
    pub bytes: u32,
    /// Any silence before it was TCP's: a closed window, a repair.
    pub held_up: bool,
}

impl Spoken<'_> {
    /// The segment acknowledges everything that the tap has seen of its receiver.
    fn has_heard_all_of(&self, peer: &Half) -> bool {
        !peer.started() || peer.offset(self.segment.ack) >= peer.snd_nxt
    }

    /// The data comes long after the sender's last data, and nothing of TCP delayed it.
    fn is_unprompted(&self, last: Nanos, own: &Half) -> bool {
        let all_acked = own.snd_una >= own.snd_nxt - i64::from(self.bytes);
        self.segment.time - last >= UNPROMPTED_AFTER && all_acked && !self.held_up
    }
}
