//! Detects ends that send by a timer, or in single messages: nobody waits for their next data.

use super::asking::{asks_on, soon};
use super::events::Events;
use super::idle::carries_tls;
use super::weight::{MESSAGE, weight};
use crate::causes::Cause;
use crate::causes::details;
use crate::exchange::{ACKNOWLEDGEMENT, Exchange};
use crate::flow::End;
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;

/// Divisor of a timer's length within which its silences agree: people and servers vary by more.
const BEAT: i64 = 50;
/// Shortest silence that may be a timer's.
const LEAST_BEAT: Nanos = Nanos::from_millis(1_000);
/// Shortest silence as long as one of them.
const LEAST_ALIKE: i64 = LEAST_BEAT.0 - LEAST_BEAT.0 / BEAT;
/// Silences of one length that make a timer.
const BEATS: usize = 4;
/// Divisor of a timer's time within which data may come by it: the path, and what its end does at each tick, add to it.
const NEAR: i64 = 10;
/// Silences of an end whose timer shows in most of them.
const TICKS: usize = 8;
/// Shortest time after which a timer answers: below it an answer may wait for another host's timeout, as of DNS (5 s).
const LEAST_TIMED: Nanos = Nanos::from_millis(10_000);
/// Share of the time from the first of such answers to the last in which one is due: the client asks again at once.
const ALWAYS_DUE: f64 = 0.9;
/// Least status that tells of an error (RFC 9110 §15.5): answers with it after the same time each are timeouts.
const ERROR: u16 = 400;

/// Smallest record of TLS with content: 5 bytes of header, one of content, 16 of tag (RFC 8446 §5.2). Shorter messages are words,
/// whose lengths are multiples of each other by chance.
const LEAST_RECORD: u64 = 22;
/// Messages without a request that make a habit.
const HABIT: usize = 3;

/// Silences of each end's application.
#[derive(Default)]
pub(super) struct Beats {
    /// Lengths from `LEAST_ALIKE` on of the silences after small messages, in order: an end with a timer repeats its
    /// length.
    small: Vec<Silence>,
    /// Lengths from `LEAST_BEAT` on of the silences that no data of the peer ended, whatever came before them, in
    /// order.
    own: Vec<Silence>,
    /// Ends of whose own silences at least three quarters, and eight, agree within a tenth: a timer lets them send, and further
    /// messages between its ticks are their own as well.
    ticks: [bool; 2],
    /// Length of most of the client's silences between an answer and its next message: it asks by a timer.
    asks_every: Option<i64>,
    /// Numbers, in order, of the waits with little data of the end before and after them: no answer was in progress.
    between: Vec<u64>,
    /// Start and end, in order, of the exchanges after a silence in which a small message was answered by one of the
    /// same length: a heartbeat. Also those in which the server answered nothing.
    echoes: Vec<(Nanos, Nanos)>,
    /// Length that most of the server's long times before its answers have, where these take nearly all of the time between
    /// the first of them and the last.
    timer: Option<i64>,
    /// Start and end, in order, of the exchanges in which a program waited for the answer.
    asked: Vec<(Nanos, Nanos)>,
    /// Messages that the server sent of its own accord.
    pub(super) events: Events,
}

type Silence = (End, &'static str, i64);

impl Beats {
    pub(super) fn of(row: &FlowRow) -> Beats {
        let waits = || row.stalls.iter().filter(|stall| stall.cause == Cause::AppLimited);
        let small = lengths(waits().filter(|stall| said_little(stall) && weight(stall) >= LEAST_ALIKE));
        let own = lengths(waits().filter(|stall| stall.detail == details::IDLE && weight(stall) >= LEAST_BEAT.0));
        let (mut between, mut before) = (Vec::new(), [None; 2]);
        for stall in &row.stalls {
            let little = said_little(stall).then_some(stall.number);
            let before = std::mem::replace(&mut before[stall.sender], little);
            between.extend(before.filter(|_| little.is_some()));
        }
        between.sort_unstable();
        let echoes = echoes(row.exchanges.as_deref().unwrap_or_default(), carries_tls(row));
        let (timer, asked, events) = (timer(row), asked(row), Events::of(row));
        let asking = lengths(waits().filter(|stall| {
            stall.sender == End::Client && stall.detail == details::THINK_TIME && weight(stall) >= LEAST_BEAT.0
        }));
        let (asks_every, ticks) = (tick(&asking, End::Client), End::BOTH.map(|end| tick(&own, end).is_some()));
        Beats { small, own, ticks, asks_every, between, echoes, timer, asked, events }
    }

    /// True for an answer whose time a timer set: several of the flow took as long, and hardly another as much. What came within a
    /// tenth of that time came by the same timer, sooner or later by what the path and the client added.
    pub(super) fn times(&self, stall: &StallRow) -> bool {
        let near = |timer: i64| (weight(stall) - timer).abs() <= timer / NEAR;
        weight(stall) >= LEAST_TIMED.0 && self.timer.is_some_and(near)
    }

    /// True if a program waited for the answer that ended this wait, and asked on at once.
    pub(super) fn is_asked_for(&self, stall: &StallRow) -> bool {
        is_inside(&self.asked, stall)
    }

    /// True if the end sent little data before that wait and after it.
    pub(super) fn is_between(&self, stall: &StallRow) -> bool {
        self.between.binary_search(&stall.number).is_ok()
    }

    /// True for a timer's silence or an echo: messages came after silences of that length; or most of the end's
    /// unprompted data did, whatever its size; or the answer is an echo.
    pub(super) fn has(&self, stall: &StallRow) -> bool {
        if stall.detail == details::IDLE && self.ticks[stall.sender] {
            return true;
        }
        let near = |every: i64| (weight(stall) - every).abs() <= every / NEAR;
        if stall.detail == details::IDLE && stall.sender == End::Client && self.asks_every.is_some_and(near) {
            return true;
        }
        if stall.detail == details::THINK_TIME && is_inside(&self.echoes, stall) {
            return true;
        }
        let length = weight(stall);
        let alike = |of: &[Silence]| within(of, stall, length - length / BEAT, length + length / BEAT);
        let mostly = |alike: usize| alike >= BEATS && 2 * alike >= within(&self.own, stall, 0, i64::MAX);
        length >= LEAST_BEAT.0 && (alike(&self.small) >= BEATS || mostly(alike(&self.own)))
    }
}

/// Middle length of the end's silences, where at least three quarters of them, and eight, agree with it within a tenth.
fn tick(own: &[Silence], end: End) -> Option<i64> {
    let of_end = own.iter().filter(|(sender, ..)| *sender == end).map(|&(_, _, length)| length);
    let lengths: Vec<i64> = of_end.collect();
    let middle = *lengths.get(lengths.len() / 2)?;
    let alike = lengths.iter().filter(|length| (**length - middle).abs() <= middle / NEAR).count();
    (alike >= TICKS && 4 * alike >= 3 * lengths.len()).then_some(middle)
}

/// The wait ended in one of those exchanges.
fn is_inside(exchanges: &[(Nanos, Nanos)], stall: &StallRow) -> bool {
    let begun = exchanges.partition_point(|(start, _)| *start < stall.end_ns);
    begun > 0 && stall.end_ns <= exchanges[begun - 1].1
}

/// Start and end of the exchanges in which a program waited for the answer: it asked at once after the answer before, and asks
/// on at once, here and mostly. Messages of the commonest length may acknowledge events, several together several; over TLS any may.
fn asked(row: &FlowRow) -> Vec<(Nanos, Nanos)> {
    let exchanges = row.exchanges.as_deref().unwrap_or_default();
    if carries_tls(row) || !asks_on(row) {
        return Vec::new();
    }
    let shortest = exchanges.iter().map(|exchange| exchange.request_bytes).min().unwrap_or_default();
    let sealed = (LEAST_RECORD..=ACKNOWLEDGEMENT).contains(&shortest);
    let several = |bytes: u64| sealed && bytes <= MESSAGE && bytes.is_multiple_of(shortest);
    let length = |exchange: &Exchange| match exchange.request_bytes {
        bytes if several(bytes) => shortest,
        bytes => bytes,
    };
    let mut lengths: Vec<u64> = exchanges.iter().map(length).collect();
    lengths.sort_unstable();
    let commonest = lengths.chunk_by(|one, other| one == other).max_by_key(|alike| alike.len());
    let habit = commonest.filter(|alike| alike.len() >= HABIT).map(|alike| alike[0]);
    let asks = exchanges.windows(3).filter(|three| soon(row, &three[0], &three[1]) && soon(row, &three[1], &three[2]));
    let asks = asks.map(|three| &three[1]).filter(|exchange| Some(length(exchange)) != habit);
    asks.map(|exchange| (exchange.start_ns, exchange.end_ns)).collect()
}

fn echoes(exchanges: &[Exchange], tls: bool) -> Vec<(Nanos, Nanos)> {
    let alone = |index: usize| index > 0 && exchanges[index].start_ns - exchanges[index - 1].end_ns >= LEAST_BEAT;
    let alike =
        |exchange: &Exchange| exchange.request_bytes == exchange.response_bytes && exchange.request_bytes <= MESSAGE;
    let habit = tls && exchanges.iter().filter(|exchange| exchange.may_acknowledge()).count() >= HABIT;
    let one = |(index, exchange): &(usize, &Exchange)| {
        alone(*index) && alike(exchange) || tls && exchange.answers_nothing(habit)
    };
    exchanges.iter().enumerate().filter(one).map(|(_, exchange)| (exchange.start_ns, exchange.end_ns)).collect()
}

fn timer(row: &FlowRow) -> Option<i64> {
    let long = |stall: &&StallRow| {
        let answer = stall.sender == End::Server && stall.detail == details::THINK_TIME && stall.ended;
        answer && stall.cause == Cause::AppLimited && weight(stall) >= LEAST_TIMED.0
    };
    let long: Vec<&StallRow> = row.stalls.iter().filter(long).collect();
    let (first, last) = (long.first()?, long.last()?);
    let due: i64 = long.iter().map(|stall| weight(stall)).sum();
    let always = Nanos(due) >= (last.end_ns - first.start_ns).scaled(ALWAYS_DUE);
    let fails = row.names.as_ref().and_then(|names| names.http_status).is_some_and(|status| status >= ERROR);
    let lengths = lengths(long.iter().copied());
    let alike = |&&(_, _, length): &&Silence| {
        let alike = within(&lengths, first, length - length / BEAT, length + length / BEAT);
        alike >= BEATS && 2 * alike >= lengths.len()
    };
    lengths.iter().find(alike).map(|&(_, _, length)| length).filter(|_| always && !fails)
}

fn lengths<'a>(stalls: impl Iterator<Item = &'a StallRow>) -> Vec<Silence> {
    let mut lengths: Vec<_> = stalls.map(|stall| (stall.sender, stall.detail, weight(stall))).collect();
    lengths.sort_unstable();
    lengths
}

/// Number of silences of the same end and kind with lengths from `least` to `most`.
fn within(of: &[Silence], stall: &StallRow, least: i64, most: i64) -> usize {
    let before = of.partition_point(|silence| *silence < (stall.sender, stall.detail, least));
    of.partition_point(|silence| *silence <= (stall.sender, stall.detail, most)) - before
}

/// The last burst before the wait was a message.
fn said_little(stall: &StallRow) -> bool {
    stall.evidence.burst_bytes.is_some_and(|bytes| bytes <= MESSAGE)
}
