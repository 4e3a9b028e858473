//! How far the tap is from one end of a connection, as a round trip from the tap to that end and back.

use std::collections::VecDeque;

use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// TSvals kept while their echo is awaited; an end that never echoes must not grow the queue.
const PENDING_LIMIT: usize = 128;

/// An answer that is late by less than this many times the silence before it may owe that to the silence: the end had nothing
/// to send. One that is later was on its way before the packet ahead of it arrived.
pub const OUTLASTS_SILENCE: f64 = 1.5;

/// The smallest time in which an end was seen to answer: its acknowledgement of data or SYN, or the first segment that
/// echoes a TSval (RFC 7323 §4.1). Every sample is at least the true distance, so the minimum is the estimate.
#[derive(Clone, Debug, Default)]
pub struct Distance {
    least: Option<Nanos>,
    samples: u32,
    pending: VecDeque<(u32, Nanos)>,
    /// A TSval that may have passed before the tap looked: its first echo says nothing.
    ambiguous: Option<u32>,
    looking: bool,
    last_echo: Option<u32>,
    last_payload: Nanos,
    queue: Nanos,
}

impl Distance {
    /// The estimate, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.least
    }

    /// How many answers it rests on.
    pub fn samples(&self) -> u32 {
        self.samples
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
        if span < Nanos::ZERO {
            return;
        }
        self.samples = self.samples.saturating_add(1);
        if self.least.is_none_or(|least| span < least) {
            self.least = Some(span);
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
                self.sample(segment.time - seen);
                if segment.payload > 0 {
                    let late = segment.time - seen - self.least.unwrap_or_default();
                    self.queue = if late >= silence.scaled(OUTLASTS_SILENCE) { late } else { Nanos::ZERO };
                }
                break;
            }
        }
    }
}
