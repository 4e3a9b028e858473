//! How far the tap is from one end of a connection, as a round trip from the tap to that end and back.

use std::collections::VecDeque;

use super::departure::Departure;
use super::level::{Answer, Level};
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// TSvals kept while their echo is awaited; an end that never echoes must not grow the queue.
const PENDING_LIMIT: usize = 128;

/// The smallest of some answers' times, and how many there were.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shortest {
    least: Option<Nanos>,
    samples: u32,
}

impl Shortest {
    /// The smallest, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.least
    }

    /// How many it is the smallest of.
    #[inline]
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// An answer after `span`.
    #[inline]
    pub fn sample(&mut self, span: Nanos) {
        if span < Nanos::ZERO {
            return;
        }
        self.samples = self.samples.saturating_add(1);
        if self.least.is_none_or(|least| span < least) {
            self.least = Some(span);
        }
    }
}

/// The smallest time in which an end was seen to answer: its acknowledgement of data or SYN, or the first segment that
/// echoes a TSval (RFC 7323 §4.1). Every sample is at least the true distance, so the minimum is the estimate.
#[derive(Clone, Debug, Default)]
pub struct Distance {
    shortest: Shortest,
    pending: VecDeque<(u32, Nanos)>,
    /// A TSval that may have passed before the tap looked: its first echo says nothing.
    ambiguous: Option<u32>,
    looking: bool,
    last_echo: Option<u32>,
    /// The smallest such time as it was at each time.
    pub level: Level,
    /// When this end's segments left it.
    pub departure: Departure,
    last_seen: Nanos,
    last_span: Option<Nanos>,
}

impl Distance {
    /// The estimate, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.shortest.least
    }

    /// As it is now; a route may have grown longer since the smallest answer.
    #[inline]
    pub fn now(&self) -> Option<Nanos> {
        self.level.get().max(self.shortest.least)
    }

    /// As it was at `time`.
    pub fn at(&self, time: Nanos) -> Option<Nanos> {
        self.level.at(time).max(self.shortest.least)
    }

    /// How many answers it rests on.
    pub fn samples(&self) -> u32 {
        self.shortest.samples
    }

    /// What the last segment of this end answered, if it was the first echo of a TSval: how long after that.
    #[inline]
    pub fn last_span(&self) -> Option<Nanos> {
        self.last_span
    }

    /// This end answered in the handshake after `span`.
    pub fn shakes_hands(&mut self, now: Nanos, span: Nanos) {
        self.shortest.sample(span);
        self.level.offer(now, span.or_zero(), Answer::Unsure, 0);
    }

    /// This end acknowledged data after `span`; `answer` says whether a long one can be believed, `answers` came before it.
    #[inline]
    pub fn acknowledges(&mut self, now: Nanos, span: Nanos, answer: Answer, answers: u32) {
        if self.level.offer(now, span, answer, answers) {
            self.departure.forget();
        }
    }

    /// The segment's echo came after `span`. An end may think before it answers; its own clock tells whether the path took
    /// longer: by a quarter of what the answer was late at least, because the other way may have grown longer too.
    fn echoes(&mut self, segment: &Segment, span: Nanos, silence: Nanos) {
        let excess = span - self.level.get().unwrap_or(span);
        let late = self.departure.late().is_some_and(|late| late > self.departure.grain() && late.0 >= excess.0 / 4);
        let answer = match (late, silence.0 >= excess.0 / 2) {
            (false, _) => Answer::Unsure,
            (true, true) => Answer::Bare,
            (true, false) => Answer::Queued,
        };
        self.acknowledges(segment.time, span, answer, self.shortest.samples);
    }

    /// Packets are missing here: echoes of what passed meanwhile say nothing.
    pub fn left_out(&mut self) {
        self.pending.clear();
        self.looking = false;
    }

    /// A segment passes the tap towards this end.
    #[inline]
    pub fn towards(&mut self, segment: &Segment) {
        let Some(timestamps) = segment.timestamps else { return };
        let newer = self.pending.back().is_none_or(|back| (timestamps.value.wrapping_sub(back.0) as i32) > 0);
        if !self.looking {
            self.looking = true;
            self.ambiguous = (!segment.flags.has(Flags::SYN)).then_some(timestamps.value);
        }
        if newer {
            if self.pending.len() == PENDING_LIMIT {
                self.pending.pop_front();
            }
            self.pending.push_back((timestamps.value, segment.time));
        }
    }

    /// A segment of this end passes the tap; its echo may be an answer.
    #[inline]
    pub fn from_end(&mut self, segment: &Segment) {
        let silence = segment.time - self.last_seen;
        self.last_seen = segment.time;
        self.last_span = None;
        let Some(timestamps) = segment.timestamps else { return };
        self.departure.follow(segment);
        if self.last_echo == Some(timestamps.echo) {
            return;
        }
        self.last_echo = Some(timestamps.echo);
        while let Some(&(value, seen)) = self.pending.front() {
            let age = timestamps.echo.wrapping_sub(value) as i32;
            if age < 0 {
                break;
            }
            self.pending.pop_front();
            if age == 0 && self.ambiguous != Some(value) {
                let span = segment.time - seen;
                self.shortest.sample(span);
                self.echoes(segment, span, silence);
                self.last_span = Some(span);
                break;
            }
        }
    }
}
