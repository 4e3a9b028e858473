//! How far the tap is from one end of a connection, as a round trip from the tap to that end and back.

use std::collections::VecDeque;

use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// TSvals kept while their echo is awaited; an end that never echoes must not grow the queue.
const PENDING_LIMIT: usize = 128;

/// An answer that is late by less than this many times the silence before it may owe that to the silence: the end had nothing
/// to send. One that is later was on its way before the packet ahead of it arrived.
pub const OUTLASTS_SILENCE: f64 = 1.5;

/// Echoes in a row that must contradict the estimate before the path is taken to have become longer: one may be an ACK
/// that was lost between the tap and the end.
const CONTRADICTIONS: u32 = 2;

/// Echoes that came too late for the estimate.
#[derive(Clone, Copy, Debug)]
struct Longer {
    count: u32,
    least: Nanos,
}

/// The smallest time in which an end was seen to answer: its acknowledgement of data or SYN, or the first segment that
/// echoes a TSval (RFC 7323 §4.1). Every sample is at least the true distance, so the minimum is the estimate.
#[derive(Clone, Debug, Default)]
pub struct Distance {
    least: Option<Nanos>,
    /// The least of the flow's whole life.
    soonest: Option<Nanos>,
    samples: u32,
    /// Some answer was due at once: not all of them ended a pause that may have been the end's own.
    proven: bool,
    /// How much above the least the usual answer lies.
    spread: Nanos,
    pending: VecDeque<(u32, Nanos)>,
    /// A TSval that may have passed before the tap looked: its first echo says nothing.
    ambiguous: Option<u32>,
    looking: bool,
    /// The newest TSval seen towards this end.
    newest: Option<u32>,
    last_echo: Option<u32>,
    longer: Option<Longer>,
    /// The path was seen to become longer: what was measured before does not hold after.
    moved: bool,
    last_payload: Nanos,
    queue: Nanos,
}

impl Distance {
    /// The estimate, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.least
    }

    /// The smallest answer of the flow's whole life: what is later is a queue, or a path that has become longer.
    #[inline]
    pub fn soonest(&self) -> Option<Nanos> {
        self.soonest
    }

    /// True if the estimate cannot be an end's own pause after each answer that it rests on.
    #[inline]
    pub fn is_proven(&self) -> bool {
        self.proven
    }

    /// The same path measured by the acknowledgements of what the other end sent.
    #[inline]
    pub fn is_at_most(&mut self, span: Nanos) {
        self.proven = true;
        if self.least.is_none_or(|least| span < least) && !self.moved {
            self.sample(span);
        }
    }

    /// How many answers it rests on.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// How much the answers scatter above the least, at most a quarter of it: a path or a capture whose times jitter.
    pub fn jitter(&self) -> Nanos {
        self.least.map_or(Nanos::ZERO, |least| self.spread.min(least.scaled(0.25)))
    }

    /// By how much the last answer with data came later than the soonest: the queue between this end and the tap. 0 where
    /// the end may as well have had nothing to send for a while.
    #[inline]
    pub fn queue(&self) -> Nanos {
        self.queue
    }

    /// An answer after `span`.
    #[inline]
    pub fn sample(&mut self, span: Nanos) {
        self.proven = true;
        self.answered(span);
    }

    fn answered(&mut self, span: Nanos) {
        if span < Nanos::ZERO {
            return;
        }
        self.samples = self.samples.saturating_add(1);
        let least = self.least.unwrap_or(span);
        if span < least {
            self.spread += least - span;
        } else if span - least < least.scaled(0.5) {
            // Later answers tell of the end's own pauses, not of the path; RFC 6298's gain of 1/8 for the others.
            self.spread += Nanos((span - least - self.spread).0 / 8);
        }
        self.least = Some(least.min(span));
        self.soonest = Some(self.soonest.map_or(span, |soonest| soonest.min(span)));
    }

    /// True if the path became longer while the flow lasted.
    pub fn has_moved(&self) -> bool {
        self.moved
    }

    /// An end echoes the newest TSval that has reached it (RFC 7323 §4.3). If one newer than the echo passed the tap longer
    /// ago than the estimate allows, it is still on its way: the path has become longer. `span` is this echo's own time.
    fn contradict(&mut self, now: Nanos, span: Nanos) {
        let (Some(least), Some(&(_, newer))) = (self.least, self.pending.front()) else { return };
        let margin = least.scaled(0.25).max(Nanos::from_millis(2));
        if span <= least + margin {
            self.longer = None;
        } else if now - newer > least + margin {
            let longer = self.longer.get_or_insert(Longer { count: 0, least: span });
            longer.count += 1;
            longer.least = longer.least.min(span);
            if longer.count >= CONTRADICTIONS {
                self.least = Some(longer.least);
                self.spread = Nanos::ZERO;
                self.longer = None;
                self.moved = true;
            }
        }
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

    /// True if this segment of the end echoes a TSval newer than any that passed the tap towards it: something reached the
    /// end that the tap has not seen, or will store too late.
    #[inline]
    pub fn has_unseen(&self, segment: &Segment) -> bool {
        match (segment.timestamps, self.newest) {
            (Some(timestamps), Some(newest)) => (timestamps.echo.wrapping_sub(newest) as i32) > 0,
            _ => false,
        }
    }

    /// A segment of this end passes the tap; its echo may be an answer.
    #[inline]
    pub fn from_end(&mut self, segment: &Segment) {
        let Some(timestamps) = segment.timestamps else { return };
        let silence = segment.time - self.last_payload;
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
                self.answered(segment.time - seen);
                // An ACK is due when data comes; data may wait for the application, unless other data went just before.
                self.proven |= segment.payload == 0 || silence.times(4) <= segment.time - seen;
                self.contradict(segment.time, segment.time - seen);
                if segment.payload > 0 {
                    let late = segment.time - seen - self.soonest.unwrap_or_default();
                    self.queue = if late >= silence.scaled(OUTLASTS_SILENCE) { late } else { Nanos::ZERO };
                }
                break;
            }
        }
    }
}
