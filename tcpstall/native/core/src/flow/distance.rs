//! How far the tap is from one end of a connection, as a round trip from the tap to that end and back.

use std::collections::VecDeque;

use super::departure::Departure;
use super::disorder::IN_DISORDER;
use super::level::{Answer, Level};
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// TSvals kept while their echo is awaited; an end that never echoes must not grow the queue.
const PENDING_LIMIT: usize = 128;

/// An answer that is late by less than this many times the silence before it may owe that to the silence: the end had nothing
/// to send. One that is later was on its way before the packet ahead of it arrived.
pub const OUTLASTS_SILENCE: f64 = 1.5;

/// An answer sooner than the handshake's by so much of it, and by more than hosts need more or less, either shows a way that has
/// become shorter, as the next ones will, or is measured from a packet that the capture holds too late: one answer of so many.
const SOONER: f64 = 0.02;
const HOST: Nanos = Nanos::from_micros(100);
const LONE: u32 = 8;

/// Echoes in a row that must contradict the level: one may be an ACK that was lost between the tap and the end.
const CONTRADICTIONS: u32 = 2;

/// Echoes that came too late for the level.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct HeldUp {
    echoes: u32,
    least: Nanos,
}

/// The smallest of some answers' times, and how many there were.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Shortest {
    least: Option<Nanos>,
    samples: u32,
    /// How far above the smallest the usual one lies, of those that a capture in disorder may have made the smallest.
    above: Nanos,
    /// What the handshake took, in which a kernel answers at once.
    handshake: Option<Nanos>,
    /// The smallest of the answers that were not much sooner than that, and how many were.
    plain: Option<Nanos>,
    sooner: u32,
}

impl Shortest {
    /// The smallest, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.least
    }

    /// The smallest, or before the first answer that of the handshake.
    #[inline]
    pub fn or_handshake(&self) -> Option<Nanos> {
        self.least.or(self.handshake)
    }

    /// The usual one, where packets pass so `late` at times that the smallest may be too small by as much, and the other leg
    /// of the handshake was longer than it has to be by `other`.
    pub fn usual(&self, late: Nanos, other: Nanos) -> Option<Nanos> {
        let least = self.least?;
        let usual = least + self.above.min(late);
        let Some((handshake, plain)) = self.handshake.zip(self.plain) else { return Some(usual) };
        // The packet between both legs was late: one is too long by what the other is too short.
        let shared = other > HOST && plain - handshake >= other.scaled(0.5) && plain - handshake <= other + HOST;
        let lone = least < handshake - slack(handshake) && plain - least <= IN_DISORDER;
        let believed = self.sooner <= self.samples / LONE && (shared || lone);
        Some(if believed { plain.max(usual) } else { usual })
    }

    /// How much longer than the smallest the handshake's was.
    pub fn opening_excess(&self) -> Nanos {
        self.handshake.zip(self.least).map_or(Nanos::ZERO, |(handshake, least)| (handshake - least).or_zero())
    }

    /// The handshake took `span`.
    pub fn opened(&mut self, span: Nanos) {
        self.handshake = self.handshake.or(Some(span));
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
        let least = self.least.unwrap_or(span);
        if let Some(handshake) = self.handshake {
            if span < handshake - slack(handshake) {
                self.sooner += 1;
            } else {
                self.plain = Some(self.plain.map_or(span, |plain| plain.min(span)));
            }
        }
        if span <= least {
            self.above += least - span;
            self.least = Some(span);
        } else if span - least < IN_DISORDER {
            // RFC 6298's gain.
            self.above += Nanos((span - least - self.above).0 / 8);
        }
    }
}

fn slack(handshake: Nanos) -> Nanos {
    handshake.scaled(SOONER).max(HOST)
}

/// The smallest time in which an end was seen to answer: its acknowledgement of data or SYN, or the first segment that
/// echoes a TSval (RFC 7323 §4.1). Every sample is at least the true distance, so the minimum is the estimate.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
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
    /// A TSval that this end has echoed and that has not passed yet, and when it was echoed.
    unseen: Option<(u32, Nanos)>,
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

    /// As it was at `time`, by the level.
    pub fn at(&self, time: Nanos) -> Option<Nanos> {
        self.level.at(time).max(self.shortest.least)
    }

    /// The answers themselves.
    pub fn shortest(&self) -> &Shortest {
        &self.shortest
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

    /// This end answered in the handshake after `span`.
    pub fn opens(&mut self, now: Nanos, span: Nanos) {
        self.sample(now, span);
        self.shortest.opened(span);
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
    pub fn has_unseen(&mut self, segment: &Segment) -> bool {
        let (Some(timestamps), Some(newest)) = (segment.timestamps, self.newest) else { return false };
        let unseen = (timestamps.echo.wrapping_sub(newest) as i32) > 0;
        if unseen && self.unseen.is_none_or(|(value, _)| value != timestamps.echo) {
            self.unseen = Some((timestamps.echo, segment.time));
        }
        unseen
    }

    /// When this end had heard what the `segment` towards it says only now.
    #[inline]
    pub fn heard(&mut self, segment: &Segment) -> Option<Nanos> {
        let (value, heard) = self.unseen?;
        let timestamps = segment.timestamps?;
        if (timestamps.value.wrapping_sub(value) as i32) < 0 {
            return None;
        }
        self.unseen = None;
        (timestamps.value == value).then_some(heard)
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
