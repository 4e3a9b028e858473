//! How far the tap is from one end of a connection, as a round trip from the tap to that end and back.

use std::collections::VecDeque;

use super::departure::Departure;
use super::level::{Answer, Level};
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// TSvals kept while their echo is awaited; an end that never echoes must not grow the queue.
const PENDING_LIMIT: usize = 128;

/// An answer that is late by less than this many times the silence before it may owe that to the silence: the end had nothing
/// to send. One that is later was on its way before the packet ahead of it arrived.
pub const OUTLASTS_SILENCE: f64 = 1.5;

/// Echoes in a row that must contradict the level: one may be an ACK that was lost between the tap and the end.
const CONTRADICTIONS: u32 = 2;

/// Echoes that came too late for the level.
#[derive(Clone, Copy, Debug, Default)]
struct HeldUp {
    echoes: u32,
    least: Nanos,
}

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
    /// Some answer was due at once: not all of them ended a pause that may have been the end's own.
    proven: bool,
    /// How much above the least the usual answer lies.
    spread: Nanos,
    /// How far it lies from the one before it.
    scatter: Nanos,
    last_answer: Option<Nanos>,
    pending: VecDeque<(u32, Nanos)>,
    /// A TSval that may have passed before the tap looked: its first echo says nothing.
    ambiguous: Option<u32>,
    looking: bool,
    /// The newest TSval seen towards this end.
    newest: Option<u32>,
    last_echo: Option<u32>,
    /// The smallest such time as it was at each time.
    pub level: Level,
    /// When this end's segments left it.
    pub departure: Departure,
    last_seen: Nanos,
    last_payload: Nanos,
    last_span: Option<Nanos>,
    queue: Nanos,
    held_up: HeldUp,
}

impl Distance {
    /// The estimate, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.shortest.least
    }

    /// As it is now; a route may have grown longer since the smallest answer, or a queue stands.
    #[inline]
    pub fn now(&self) -> Option<Nanos> {
        if self.is_held_up() { Some(self.held_up.least) } else { self.level.get().max(self.shortest.least) }
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

    /// True if the estimate cannot be an end's own pause after each answer that it rests on.
    #[inline]
    pub fn is_proven(&self) -> bool {
        self.proven
    }

    /// How much the answers scatter above the least, at most a quarter of it: a path or a capture whose times jitter. Answers
    /// that are all as late were held by their end, which keeps a pace of its own.
    pub fn jitter(&self) -> Nanos {
        let scatter = self.scatter + self.scatter;
        self.shortest.least.map_or(Nanos::ZERO, |least| self.spread.min(scatter).min(least.scaled(0.25)))
    }

    /// By how much the last answer with data came later than the soonest: the queue between this end and the tap. 0 where
    /// the end may as well have had nothing to send for a while.
    #[inline]
    pub fn queue(&self) -> Nanos {
        self.queue
    }

    /// This end answered after `span` and had no reason to wait: in the handshake, or because it knew of an ACK.
    pub fn sample(&mut self, now: Nanos, span: Nanos) {
        self.proven = true;
        self.answered(span);
        self.level.offer(now, span.or_zero(), Answer::Unsure, 0);
    }

    /// The same path measured by the acknowledgements of what the other end sent.
    #[inline]
    pub fn is_at_most(&mut self, now: Nanos, span: Nanos) {
        self.proven = true;
        if self.shortest.least.is_none_or(|least| span < least) {
            self.sample(now, span);
        }
    }

    #[inline]
    fn answered(&mut self, span: Nanos) {
        let least = self.shortest.least.unwrap_or(span);
        if span < least {
            self.spread += least - span;
        } else if span - least < least.scaled(0.5) {
            // Later answers tell of the end's own pauses, not of the path; RFC 6298's gain of 1/8 for the others.
            self.spread += Nanos((span - least - self.spread).0 / 8);
            let last = self.last_answer.replace(span).unwrap_or(span);
            self.scatter += Nanos((Nanos((span - last).0.saturating_abs()) - self.scatter).0 / 8);
        }
        self.shortest.sample(span);
    }

    /// True if this segment of the end echoes a TSval newer than any that passed the tap towards it: something reached the
    /// end that the tap has not seen, or will store too late.
    #[inline]
    pub fn has_unseen(&self, segment: &Segment) -> bool {
        match (segment.timestamps, self.newest) {
            (Some(timestamps), Some(newest)) => (timestamps.echo.wrapping_sub(newest) as i32) > 0,
            _ => false,
        }
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

    /// An end echoes the newest TSval that has reached it (RFC 7323 §4.3). If one newer than the echo passed the tap longer
    /// ago than the level allows, it is still on its way: now the path takes longer, be it a queue or another route.
    /// `span` is this echo's own time.
    fn contradict(&mut self, now: Nanos, span: Nanos) {
        let (Some(level), Some(&(_, newer))) = (self.level.get(), self.pending.front()) else { return };
        let longest = level + level.scaled(0.25).max(Nanos::from_millis(2));
        if span <= longest {
            self.held_up = HeldUp::default();
        } else if now - newer > longest {
            let least = if self.held_up.echoes == 0 { span } else { self.held_up.least.min(span) };
            self.held_up = HeldUp { echoes: self.held_up.echoes + 1, least };
        }
    }

    /// The path takes longer now than its level says.
    #[inline]
    pub fn is_held_up(&self) -> bool {
        self.held_up.echoes >= CONTRADICTIONS
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
        if self.newest.is_none_or(|newest| (timestamps.value.wrapping_sub(newest) as i32) > 0) {
            self.newest = Some(timestamps.value);
        }
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
        let quiet = segment.time - self.last_payload;
        if segment.payload > 0 {
            self.last_payload = segment.time;
        }
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
                self.answered(span);
                // An ACK is due when data comes; data may wait for the application, unless other data went just before.
                self.proven |= segment.payload == 0 || quiet.times(4) <= span;
                if segment.payload > 0 {
                    let late = span - self.shortest.least.unwrap_or_default();
                    self.queue = if late >= quiet.scaled(OUTLASTS_SILENCE) { late } else { Nanos::ZERO };
                }
                self.echoes(segment, span, silence);
                self.contradict(segment.time, span);
                self.last_span = Some(span);
                break;
            }
        }
    }
}
