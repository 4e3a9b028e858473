//! Detects what a server told when something happened: the client had asked for nothing, or had asked to be told. Nobody waits
//! for the network then, nor for a server that is slow.

use super::idle::carries_tls;
use super::kind::FindingKind;
use super::news::length_of_polls;
use super::tells::only_tells;
use super::weight::{FULL_SEGMENT, MESSAGE, weight};
use crate::causes::{Cause, details};
use crate::exchange::{ACKNOWLEDGEMENT, AT_ONCE, Exchange};
use crate::flow::End;
use crate::flow::rounds::UNPROMPTED_AFTER;
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;

/// Time within which a program replies to what it was told; people take longer.
const REPLY: Nanos = Nanos::from_millis(100);
/// Time within which a request is answered soon.
const SOON: Nanos = Nanos::from_millis(500);
/// Largest request that may have no content: with a cookie or a token of a few kilobytes its head fills several segments.
const HEAD: u64 = 4 * FULL_SEGMENT;
/// Shortest silence that may be of an event where the client only acknowledges.
const LATE: Nanos = Nanos::from_millis(1_000);
/// Shortest wait of a long poll.
const LONG: Nanos = Nanos::from_millis(10_000);
/// Replies that make a habit.
const REPLIES: usize = 3;
/// Ratio from which times differ: of replies and requests, and of replies among themselves.
const APART: i64 = 4;
/// Divisor of the replies: up to a quarter of them may have been answered by chance.
const BY_CHANCE: usize = 4;
/// Messages that wanted no answer from which it is sure that others of their length want none.
const SURE: usize = 2;
/// Messages of one connection that wanted no answer, and from which others may want none either.
const UNANSWERED: u64 = 3;
/// First exchange in which a client has no settings to acknowledge before its first answer.
const SET_UP: usize = 4;

/// A silence that was before an event, or may have been.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Told {
    pub(super) kind: FindingKind,
    /// A program that asks on at once does not refute it.
    pub(super) sure: bool,
}

/// Exchanges in which the server told events, or may have.
#[derive(Default)]
pub(super) struct Events {
    /// Start and end, in order, with the silence before the server's message.
    told: Vec<(Nanos, Nanos, Told)>,
    /// Start and end, in order, of exchanges in which more came after the whole answer.
    gone_on: Vec<(Nanos, Nanos)>,
    /// Lengths of what the server told unasked, and of its heartbeats, in order.
    unasked: Vec<u64>,
    /// Lengths of its answers that came soon, in order.
    answered: Vec<u64>,
    /// A client that had said little may have waited for the wait's end, but no exchange shows that.
    perhaps: bool,
    /// The server only tells.
    pub(super) only_tells: bool,
}

impl Events {
    pub(super) fn of(row: &FlowRow) -> Events {
        let talk = Talk::of(row);
        let spans = || talk.exchanges.iter().enumerate().map(|(index, one)| (index, one.start_ns, one.end_ns));
        let told = spans().filter_map(|(index, start, end)| talk.told(index).map(|told| (start, end, told))).collect();
        let gone_on = spans().filter(|(index, ..)| talk.goes_on(*index)).map(|(_, start, end)| (start, end)).collect();
        let little = row.directions.client.bytes <= row.directions.client.segments * MESSAGE;
        let perhaps = talk.began_before && little && talk.exchanges.is_empty();
        let (unasked, answered) = (talk.unasked(), talk.answered());
        Events { told, gone_on, unasked, answered, perhaps, only_tells: only_tells(row) }
    }

    /// A silence before the server's message, where that may have been an event.
    pub(super) fn told(&self, stall: &StallRow) -> Option<Told> {
        if self.perhaps && weight(stall) >= UNPROMPTED_AFTER.0 {
            return Some(Told { kind: FindingKind::ServerSilent, sure: false });
        }
        let begun = self.told.partition_point(|(start, ..)| *start < stall.end_ns);
        let told = begun.checked_sub(1).map(|last| &self.told[last]).filter(|(_, end, _)| stall.end_ns <= *end);
        let alike = || self.is_told_unasked(stall).then_some(Told { kind: FindingKind::ServerSilent, sure: true });
        told.map(|(.., told)| *told).or_else(alike)
    }

    /// The message that ended the long silence is as long as others that the server told unasked, and hardly an answer that came soon
    /// was: a peer of a gossip, a broker or a tunnel says the same whether or not it was spoken to.
    fn is_told_unasked(&self, stall: &StallRow) -> bool {
        let (unasked, answered) = (count(&self.unasked, &stall.then_bytes), count(&self.answered, &stall.then_bytes));
        weight(stall) >= UNPROMPTED_AFTER.0 && unasked >= SURE && unasked > answered
    }

    /// True for a wait of the server after its whole answer: it told an event.
    pub(super) fn goes_on(&self, stall: &StallRow) -> bool {
        let begun = self.gone_on.partition_point(|(start, _)| *start < stall.end_ns);
        let inside = begun > 0 && stall.end_ns <= self.gone_on[begun - 1].1;
        inside && stall.sender == End::Server && weight(stall) >= LATE.0
    }
}

/// A flow whose turns are read.
struct Talk<'a> {
    row: &'a FlowRow,
    exchanges: &'a [Exchange],
    /// No SYN was captured.
    began_before: bool,
    tls: bool,
    /// Lengths of the client's messages after which it spoke again of its own accord, long after them, in order.
    unanswered: Vec<u64>,
    /// Waits of the client for its peer: start, and length of what it had said.
    awaiting: Vec<(Nanos, u64)>,
    /// Silences of the server in the middle of what it said, in order: start, end, weight, and length of what came before.
    paused: Vec<(Nanos, Nanos, i64, Option<u64>)>,
    /// Length of each request, and whether it was answered soon, in order.
    soon: Vec<(u64, bool)>,
    /// Lengths of each request and of its answer, in order.
    pairs: Vec<(u64, u64)>,
    /// Lengths of the requests that may be long polls, in order.
    polls: Vec<u64>,
    /// Length of requests that may ask for news.
    news: Option<u64>,
    /// The client's small messages that follow the server's at once are replies.
    replies: bool,
    /// The client's messages over TLS are as short as acknowledgements, with few exceptions.
    acknowledges: bool,
    /// All of the client's messages are small, and follow the server's at once; most are as long as each other.
    only_replies: bool,
}

impl Talk<'_> {
    fn of(row: &FlowRow) -> Talk<'_> {
        let exchanges = row.exchanges.as_deref().unwrap_or_default();
        let spoke_again = |stall: &&StallRow| {
            let idle = stall.sender == End::Client && stall.cause == Cause::AppLimited && stall.detail == details::IDLE;
            idle && stall.ended && weight(stall) >= UNPROMPTED_AFTER.0
        };
        let stalls_of = |end: End, detail: &'static str| {
            row.stalls
                .iter()
                .filter(move |stall| stall.sender == end && stall.cause == Cause::AppLimited && stall.detail == detail)
        };
        let burst = |stall: &StallRow| stall.evidence.burst_bytes;
        let unanswered = row.stalls.iter().filter(spoke_again).filter_map(burst).filter(|bytes| *bytes <= FULL_SEGMENT);
        let awaiting = stalls_of(End::Client, details::AWAITING_PEER)
            .filter_map(|stall| burst(stall).map(|bytes| (stall.start_ns, bytes)));
        let paused = stalls_of(End::Server, details::IDLE)
            .map(|stall| (stall.start_ns, stall.end_ns, weight(stall), burst(stall)));
        let base = row.base_rtt_ns.unwrap_or_default();
        let mut talk = Talk {
            row,
            exchanges,
            began_before: row.handshake.duration_ns.is_none(),
            tls: carries_tls(row),
            unanswered: in_order(unanswered),
            awaiting: in_order(awaiting),
            paused: in_order(paused),
            soon: in_order(exchanges.iter().map(|one| (one.request_bytes, one.waited_ns <= base + SOON))),
            pairs: in_order(exchanges.iter().map(|one| (one.request_bytes, one.response_bytes))),
            polls: Vec::new(),
            news: length_of_polls(row, base + REPLY),
            replies: false,
            acknowledges: false,
            only_replies: false,
        };
        talk.polls = in_order(
            (0..exchanges.len()).filter(|&index| talk.polls(index)).map(|index| exchanges[index].request_bytes),
        );
        (talk.replies, talk.acknowledges, talk.only_replies) =
            (talk.has_replies(), talk.acknowledges(), talk.only_replies());
        talk
    }

    fn base(&self) -> Nanos {
        self.row.base_rtt_ns.unwrap_or_default()
    }

    /// Lengths of the server's messages after long silences that no data of the client ended, and of its heartbeats: answers as long
    /// as what they answer, after a silence.
    fn unasked(&self) -> Vec<u64> {
        let idle = |stall: &&StallRow| {
            let own = stall.sender == End::Server && stall.cause == Cause::AppLimited && stall.detail == details::IDLE;
            own && stall.ended && weight(stall) >= UNPROMPTED_AFTER.0
        };
        let told = self.row.stalls.iter().filter(idle).map(|stall| stall.then_bytes);
        let echoes = self
            .exchanges
            .windows(2)
            .filter(|two| two[1].start_ns - two[0].end_ns >= LATE && two[1].request_bytes == two[1].response_bytes);
        let beats = echoes.map(|two| two[1].response_bytes).filter(|bytes| *bytes <= MESSAGE);
        in_order(told.chain(beats).filter(|bytes| (1..=FULL_SEGMENT).contains(bytes)))
    }

    /// Lengths of the answers that came soon, but for heartbeats.
    fn answered(&self) -> Vec<u64> {
        let soon = |one: &&Exchange| one.waited_ns <= self.base() + SOON && one.request_bytes != one.response_bytes;
        in_order(self.exchanges.iter().filter(soon).map(|one| one.response_bytes))
    }

    /// The client's message followed the server's at once.
    fn follows(&self, index: usize) -> bool {
        index > 0 && self.exchanges[index].start_ns - self.exchanges[index - 1].end_ns <= self.base() + REPLY
    }

    fn is_reply(&self, index: usize) -> bool {
        self.follows(index) && (1..=MESSAGE).contains(&self.exchanges[index].request_bytes)
    }

    /// What the client asks of its own accord is answered soon, and what it says at once after the server's messages is not: the
    /// server is not slow, and these are replies. They are shorter than what they reply to, most are as long as each other, and
    /// what follows them comes at any time.
    fn has_replies(&self) -> bool {
        let (replies, own): (Vec<usize>, Vec<usize>) =
            (1..self.exchanges.len()).partition(|&index| self.is_reply(index));
        let own = own.into_iter().filter(|&index| !self.follows(index));
        let mut asked: Vec<Nanos> = own.map(|index| self.exchanges[index].waited_ns).collect();
        let mut told: Vec<Nanos> = replies.iter().map(|&index| self.exchanges[index].waited_ns).collect();
        if told.len() < REPLIES || asked.is_empty() || !(self.began_before || self.tls) {
            return false;
        }
        asked.sort_unstable();
        told.sort_unstable();
        let (soon, late) = (asked[asked.len() / 2], told[told.len() / 2]);
        let by_chance = told.partition_point(|waited| *waited <= self.base() + AT_ONCE);
        let slow = soon > self.base() + SOON || late < soon.times(APART).max(self.base() + REPLY);
        let any_time = told[told.len() - 1] >= told[0].times(APART);
        !slow && any_time && by_chance * BY_CHANCE <= told.len() && self.acknowledge(&replies)
    }

    /// Most of the replies have one length, and are shorter than what the server tells.
    fn acknowledge(&self, replies: &[usize]) -> bool {
        let shorter = |&&index: &&usize| self.exchanges[index - 1].response_bytes > self.exchanges[index].request_bytes;
        2 * replies.iter().filter(shorter).count() > replies.len() && self.are_alike(replies)
    }

    /// At least half of these messages have one length.
    fn are_alike(&self, messages: &[usize]) -> bool {
        let mut lengths: Vec<u64> = messages.iter().map(|&index| self.exchanges[index].request_bytes).collect();
        lengths.sort_unstable();
        let alike = lengths.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap_or_default();
        alike >= 2 && 2 * alike >= messages.len()
    }

    /// Half of the client's messages are as short as acknowledgements, and few are longer than two of them. Of a connection whose
    /// beginning is captured, the first messages set it up.
    fn acknowledges(&self) -> bool {
        let of = &self.exchanges[if self.began_before { 0 } else { SET_UP.min(self.exchanges.len()) }..];
        let short = of.iter().filter(|exchange| exchange.acknowledges()).count();
        let long = of.iter().filter(|exchange| exchange.request_bytes > 2 * ACKNOWLEDGEMENT).count();
        let least = if self.began_before { 1 } else { REPLIES };
        self.tls && short >= least && 2 * short >= of.len() && long * BY_CHANCE <= of.len()
    }

    fn only_replies(&self) -> bool {
        let all: Vec<usize> = (0..self.exchanges.len()).collect();
        let small = |&index: &usize| self.is_reply(index) || index == 0 && self.exchanges[0].request_bytes <= MESSAGE;
        self.began_before && all.iter().all(small) && self.are_alike(&all)
    }

    /// The silence before the server's message, where that was an event, or may have been.
    fn told(&self, index: usize) -> Option<Told> {
        let is = |kind: FindingKind, sure: bool| Some(Told { kind, sure });
        if self.replies && self.is_reply(index) {
            return is(FindingKind::Messages, true);
        }
        let (unanswered, soon) = self.unanswered_alike(index);
        if unanswered >= SURE && !soon {
            return is(FindingKind::Messages, true);
        }
        let wants_none = unanswered > 0 && !soon || unanswered >= SURE && self.began_before;
        if wants_none || self.only_tells(index) || self.is_long_poll(index) {
            return is(FindingKind::ServerSilent, true);
        }
        let news = self.news == Some(self.exchanges[index].request_bytes) || self.may_poll(index);
        if news || self.is_perhaps_an_event(index) { is(FindingKind::ServerSilent, false) } else { None }
    }

    /// Number of the client's messages as long as this that were not answered, although the client had time to wait; and whether
    /// messages of this length are mostly answered soon, so that they want answers.
    fn unanswered_alike(&self, index: usize) -> (usize, bool) {
        if self.unanswered.is_empty() {
            return (0, true);
        }
        let exchange = &self.exchanges[index];
        // The client waited after its last words.
        let last_words = between(&self.awaiting, |one| one.0, exchange.start_ns, exchange.end_ns);
        let mut lengths: Vec<u64> = last_words.iter().map(|one| one.1).chain([exchange.request_bytes]).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let unanswered = lengths.iter().map(|length| count(&self.unanswered, length)).sum();
        let (soon, late) =
            (count(&self.soon, &(exchange.request_bytes, true)), count(&self.soon, &(exchange.request_bytes, false)));
        (unanswered, soon >= late)
    }

    /// The client only acknowledged what it had been told.
    fn only_tells(&self, index: usize) -> bool {
        let exchange = &self.exchanges[index];
        let acknowledged =
            self.acknowledges && (self.began_before || index >= SET_UP) && exchange.request_bytes <= MESSAGE;
        acknowledged || self.only_replies && exchange.waited_ns >= LATE
    }

    fn is_perhaps_an_event(&self, index: usize) -> bool {
        let exchange = &self.exchanges[index];
        if exchange.waited_ns < UNPROMPTED_AFTER {
            return false;
        }
        let small = (1..=MESSAGE).contains(&exchange.request_bytes);
        let unanswered = self.row.connection.unanswered;
        let mostly = unanswered >= UNANSWERED && unanswered >= self.exchanges.len() as u64;
        let acknowledges = self.tls && exchange.acknowledges() && index >= SET_UP;
        let told = small && self.was_told(index) || self.comes_in_messages(index);
        acknowledges || self.began_before && (small || mostly) || told
    }

    /// After its first words the server said more, a few bytes at a time, seconds apart and unasked, as a person does: those may
    /// have answered nothing either.
    fn comes_in_messages(&self, index: usize) -> bool {
        let exchange = &self.exchanges[index];
        let inside = between(&self.paused, |paused| paused.0, exchange.start_ns, exchange.end_ns);
        let apart =
            inside.iter().all(|(_, _, silence, said)| *silence >= LATE.0 && said.is_some_and(|bytes| bytes <= MESSAGE));
        let little = exchange.response_bytes <= MESSAGE * (inside.len() as u64 + 1);
        inside.len() >= SURE && apart && little && !self.row.connection.http
    }

    /// The client's message follows at once on one that the server had sent of its own accord.
    fn was_told(&self, index: usize) -> bool {
        let asked = self.exchanges[index].start_ns;
        let unasked = |&&(_, end, length, _): &&(Nanos, Nanos, i64, Option<u64>)| {
            end <= asked && asked - end <= self.base() + REPLY && length >= UNPROMPTED_AFTER.0
        };
        let until = self.paused.partition_point(|paused| paused.0 < asked);
        self.paused[..until].last().filter(unasked).is_some()
    }

    /// The client asked the same at once before and after: it waits for news. Or it asked at once after the answer with which the
    /// capture begins, and had another answer of that length.
    fn is_long_poll(&self, index: usize) -> bool {
        let alike = count(&self.polls, &self.exchanges[index].request_bytes);
        self.polls(index) && (alike >= 2 || self.repeats_answer(index))
    }

    /// It would be a long poll if it were asked twice, and TLS hides what was asked in a connection from before the capture. It is
    /// as short as a request without content, and few of that length were answered soon.
    fn may_poll(&self, index: usize) -> bool {
        let bytes = self.exchanges[index].request_bytes;
        let rarely_soon = || count(&self.soon, &(bytes, true)) < REPLIES;
        self.began_before && self.tls && bytes <= HEAD && self.polls(index) && rarely_soon()
    }

    /// It was asked at once, answered late, and asked at once again.
    fn polls(&self, index: usize) -> bool {
        let before = self.follows(index) || index == 0 && self.began_before;
        let again = index + 1 == self.exchanges.len() || self.follows(index + 1);
        before && again && self.exchanges[index].waited_ns >= LONG
    }

    /// The capture begins with data of the server as long as this first answer, and the client asked at once after it.
    fn repeats_answer(&self, index: usize) -> bool {
        let exchange = &self.exchanges[index];
        let again = |stall: &StallRow| {
            let before = stall.sender == End::Server && stall.start_ns <= exchange.end_ns;
            before && stall.evidence.burst_bytes == Some(exchange.response_bytes)
        };
        let soon = exchange.start_ns - self.row.start_ns <= self.base() + REPLY;
        index == 0 && self.began_before && soon && self.row.stalls.iter().any(again)
    }

    /// More came after the whole answer: another request of this length had an answer of what came first, and no more; or the client
    /// wants no answer at all.
    fn goes_on(&self, index: usize) -> bool {
        if self.told(index).is_some_and(|told| told.kind == FindingKind::Messages) {
            return true;
        }
        let exchange = &self.exchanges[index];
        let inside = between(&self.paused, |paused| paused.0, exchange.start_ns, exchange.end_ns);
        let Some((.., Some(bytes))) = inside.first() else { return false };
        let own = usize::from(exchange.response_bytes == *bytes);
        count(&self.pairs, &(exchange.request_bytes, *bytes)) > own
    }
}

fn in_order<T: Ord>(of: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = of.collect();
    all.sort_unstable();
    all
}

/// Number of equal ones.
fn count<T: Ord>(of: &[T], one: &T) -> usize {
    of.partition_point(|other| other <= one) - of.partition_point(|other| other < one)
}

/// Those whose time is in the span, of all in order.
fn between<T>(of: &[T], time: impl Fn(&T) -> Nanos, from: Nanos, to: Nanos) -> &[T] {
    let first = of.partition_point(|one| time(one) < from);
    &of[first..of.partition_point(|one| time(one) < to).max(first)]
}
