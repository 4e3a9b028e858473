//! Infers the tap's distance from a sender in a flow whose handshake is not in the capture, from rounds of burst and
//! silence.
//!
//! At the receiver an ACK leaves at once, and the data that it releases comes a round trip later, round after round. An
//! application that writes at the tick of a timer beside the receiver looks alike, except that its writes end: bursts that
//! grow by whole segments, or that end with a whole segment without PSH (RFC 9293 §3.9.1.2), were released by ACKs.

use super::vantage::LONGEST_PATH;
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// Rounds of one length, one after the other, that are no accident.
const ROUNDS: usize = 3;
/// Largest difference between the rounds' times, as a share, and at least.
const EVEN: f64 = 0.03;
const HOST: Nanos = Nanos::from_micros(300);
/// Shortest round: below this hosts' own times count as much.
const SHORTEST: Nanos = Nanos::from_millis(1);
/// Divisor of the round within which the receiver's first ACK must leave.
const PROMPT: i64 = 8;

/// One burst and the silence after it.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct ClockRound {
    /// Time from the burst's first ACK to the next data.
    span: Nanos,
    bytes: u64,
    /// The burst consists of whole segments, and its last one has no PSH.
    cut: bool,
    whole: bool,
}

/// Rounds that took from `least` to `most` took as long.
pub(super) fn are_even(least: Nanos, most: Nanos) -> bool {
    most - least <= least.scaled(EVEN).max(HOST)
}

/// Rounds of one sender, seen at the tap.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(in crate::flow) struct AckClock {
    start: Nanos,
    /// Offset of the burst's first byte.
    from: i64,
    last: Nanos,
    bytes: u64,
    first_ack: Option<Nanos>,
    /// Highest offset acknowledged.
    acked: i64,
    /// The receiver sent payload: the silence may be the sender's time to think.
    answered: bool,
    last_payload: u32,
    pushed: bool,
    rounds: [ClockRound; ROUNDS],
    seen: usize,
    /// The distance, from the segment after which it counts.
    found: Option<Nanos>,
}

impl AckClock {
    /// Takes in an ACK of new data up to the offset `ack` that passes the tap.
    pub(in crate::flow) fn hears(&mut self, now: Nanos, ack: i64) {
        if ack > self.from {
            self.first_ack.get_or_insert(now);
        }
        self.acked = self.acked.max(ack);
    }

    /// Takes in payload of the receiver.
    pub(in crate::flow) fn is_answered(&mut self) {
        self.answered = true;
    }

    /// Takes in new data of the sender from the offset `from` on. Returns the tap's distance from the sender once the
    /// rounds show it: with the segment after the one that ended the last round, whose ACKs have counted already.
    pub(in crate::flow) fn follows(&mut self, segment: &Segment, from: i64, mss: u32) -> Option<Nanos> {
        let now = segment.time;
        let silence = now - self.last;
        let begins = self.bytes == 0 || silence > HOST && silence >= now - self.last.min(self.start) - silence;
        if begins {
            self.end_round(now, mss);
            (self.start, self.from, self.bytes, self.first_ack, self.answered) = (now, from, 0, None, false);
        }
        self.last = now;
        self.bytes += u64::from(segment.payload);
        (self.last_payload, self.pushed) = (segment.payload, segment.flags.has(Flags::PSH));
        let found = self.found;
        self.found = self.distance().filter(|_| begins);
        found
    }

    fn end_round(&mut self, now: Nanos, mss: u32) {
        let prompt = self.first_ack.filter(|first| (*first - self.start).times(PROMPT) <= now - *first);
        // The ACK of a last odd segment may be delayed until the next data comes (RFC 5681 §4.2).
        let emptied = self.from + self.bytes as i64 - self.acked <= i64::from(mss);
        let Some(first) = prompt.filter(|_| emptied && !self.answered && self.bytes > 0) else {
            self.seen = 0;
            return;
        };
        let whole = self.bytes.is_multiple_of(u64::from(mss.max(1)));
        let ends = self.last_payload.is_multiple_of(mss.max(1)) && !self.pushed;
        self.rounds.rotate_left(1);
        self.rounds[ROUNDS - 1] = ClockRound { span: now - first, bytes: self.bytes, cut: ends, whole };
        self.seen += 1;
    }

    fn distance(&self) -> Option<Nanos> {
        let rounds = &self.rounds;
        let least = rounds.iter().map(|round| round.span).min()?;
        let most = rounds.iter().map(|round| round.span).max()?;
        let path = (SHORTEST..=LONGEST_PATH).contains(&least);
        let even = self.seen >= ROUNDS && path && are_even(least, most);
        let grows = rounds.windows(2).all(|pair| pair[1].whole && pair[1].bytes > pair[0].bytes) && rounds[0].whole;
        let cut = rounds.iter().all(|round| round.cut);
        (even && (grows || cut)).then_some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays rounds of 20 ms, of so many whole segments each; the receiver acknowledges at once the segments that it
    /// `answers`, by their number in the round and the round's length.
    fn distance(rounds: &[i64], answers: impl Fn(i64, i64) -> bool) -> Option<Nanos> {
        every(20, rounds, answers)
    }

    /// The same with rounds of so many milliseconds.
    fn every(span_ms: i64, rounds: &[i64], answers: impl Fn(i64, i64) -> bool) -> Option<Nanos> {
        let (mut clock, mut sent, mut found) = (AckClock::default(), 1, None);
        for (round, segments) in rounds.iter().enumerate() {
            for segment in 1..=*segments {
                let time = Nanos::from_millis(span_ms * round as i64) + Nanos::from_micros(12 * segment);
                let data = Segment { time, payload: 1_448, ..Segment::default() };
                found = clock.follows(&data, sent, 1_448).or(found);
                sent += 1_448;
                if answers(segment, *segments) {
                    clock.hears(time, sent);
                }
            }
        }
        found
    }

    #[test]
    fn a_last_odd_segment_whose_ack_is_delayed_is_no_obstacle() {
        let rounds = [10, 11, 11, 11, 12, 12];
        let prompt = distance(&rounds, |segment, last| segment % 2 == 0 || segment == last);
        assert!(prompt.is_some());
        assert_eq!(distance(&rounds, |segment, _| segment % 2 == 0), prompt);
    }

    #[test]
    fn a_beat_that_no_path_is_as_long_as_shows_no_distance() {
        let rounds = [10, 11, 11, 11, 12, 12];
        assert!(every(1_900, &rounds, |_, _| true).is_some());
        assert_eq!(every(10_000, &rounds, |_, _| true), None);
    }

    #[test]
    fn where_more_is_under_way_the_rounds_show_nothing() {
        assert_eq!(distance(&[10; 6], |segment, _| segment <= 8), None);
    }
}
