//! Measures the distance of the tap from one end: the round trip from the tap to that end and back.

use std::collections::VecDeque;

use super::disorder::IN_DISORDER;
use super::min_rtt::{Answer, MinRtt};
use super::tsval_clock::TsvalClock;
use crate::time::Nanos;
use crate::vec_growth;
use crate::wire::{Flags, Segment};

/// TSvals kept while their echo is awaited; an end that never echoes must not grow the queue.
const PENDING_LIMIT: usize = 128;

/// Factor of the silence before an answer: an answer later by less than that may owe its delay to the silence, because
/// the end had nothing to send. A later answer was on its way before the packet ahead of it arrived.
pub const OUTLASTS_SILENCE: f64 = 1.5;

/// Share of the handshake's time by which an answer must be sooner, besides [`HOST`], to be exceptional. Either the
/// path has become shorter, as the next answers will show, or the answer was measured from a packet that the capture
/// holds too late: one in [`LONE`] answers.
const SOONER: f64 = 0.02;
const HOST: Nanos = Nanos::from_micros(100);
const LONE: u32 = 8;

/// Consecutive echoes that must contradict the level: one may be due to an ACK lost between the tap and the end.
const CONTRADICTIONS: u32 = 2;

/// Echoes that were too late for the level.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct HeldUp {
    echoes: u32,
    least: Nanos,
}

/// The smallest of several answers' times, and their number.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Shortest {
    least: Option<Nanos>,
    samples: u32,
    /// Excess of the usual answer over the smallest, among answers that a capture in disorder may have made the
    /// smallest.
    above: Nanos,
    /// Time of the answer in the handshake, where a kernel answers at once.
    handshake: Option<Nanos>,
    /// Smallest of the answers that were not much sooner than the handshake's, and the number of sooner ones.
    plain: Option<Nanos>,
    sooner: u32,
}

impl Shortest {
    /// The smallest time, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.least
    }

    /// The smallest time, or before the first answer the handshake's.
    #[inline]
    pub fn or_handshake(&self) -> Option<Nanos> {
        self.least.or(self.handshake)
    }

    /// The usual time, where packets are at times `late`, so that the smallest may be too small by as much, and where
    /// the other leg of the handshake took `other` too long.
    pub fn usual(&self, late: Nanos, other: Nanos) -> Option<Nanos> {
        let least = self.least?;
        let usual = least + self.above.min(late);
        let Some((handshake, plain)) = self.handshake.zip(self.plain) else { return Some(usual) };
        // The packet between both legs was late: one leg is too long by the amount that the other is too short.
        let shared = other > HOST && plain - handshake >= other.scaled(0.5) && plain - handshake <= other + HOST;
        let lone = least < handshake - slack(handshake) && plain - least <= IN_DISORDER;
        let believed = self.sooner <= self.samples / LONE && (shared || lone);
        Some(if believed { plain.max(usual) } else { usual })
    }

    /// Excess of the handshake's answer over the smallest.
    pub fn opening_excess(&self) -> Nanos {
        self.handshake.zip(self.least).map_or(Nanos::ZERO, |(handshake, least)| (handshake - least).or_zero())
    }

    /// Takes in that the answer in the handshake took `span`.
    pub fn opened(&mut self, span: Nanos) {
        self.handshake = self.handshake.or(Some(span));
    }

    /// Number of answers.
    #[inline]
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Takes in an answer after `span`.
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
            // Gain of 1/8, as in RFC 6298.
            self.above += Nanos((span - least - self.above).0 / 8);
        }
    }
}

fn slack(handshake: Nanos) -> Nanos {
    handshake.scaled(SOONER).max(HOST)
}

/// The smallest time in which an end answered: its acknowledgement of data or SYN, or the first segment that echoes a
/// TSval (RFC 7323 §4.1). Every sample is at least the true distance, so the minimum is the estimate.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Vantage {
    shortest: Shortest,
    /// Some answer was due at once: not every answer ended a pause that may have been the end's own.
    proven: bool,
    /// The estimate was inferred from rounds of burst and silence.
    clocked: bool,
    /// Excess of the usual answer over the least.
    spread: Nanos,
    /// Difference between consecutive answers.
    scatter: Nanos,
    last_answer: Option<Nanos>,
    pending: VecDeque<(u32, Nanos)>,
    /// A TSval that may have passed before the capture began: its first echo is no evidence.
    ambiguous: Option<u32>,
    looking: bool,
    /// The newest TSval seen towards this end.
    newest: Option<u32>,
    /// A TSval that this end has echoed before the capture shows it, and the time of the echo.
    unseen: Option<(u32, Nanos)>,
    last_echo: Option<u32>,
    /// The smallest time over the life of the flow.
    pub min_rtt: MinRtt,
    /// Departure times of this end's segments.
    pub tsval_clock: TsvalClock,
    last_seen: Nanos,
    last_payload: Nanos,
    last_span: Option<Nanos>,
    queue: Nanos,
    held_up: HeldUp,
}

impl Vantage {
    /// Gives its memory away, emptied, if it has room for `most` stamps at most.
    pub(super) fn renewed(&mut self, most: usize) -> VecDeque<(u32, Nanos)> {
        vec_growth::emptied_queue(&mut self.pending, most)
    }

    /// Takes over such memory, before the first segment.
    pub(super) fn takes_over(&mut self, pending: VecDeque<(u32, Nanos)>) {
        self.pending = pending;
    }

    /// The estimate, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.shortest.least
    }

    /// The distance now; the route may have become longer since the smallest answer, or a queue has formed.
    #[inline]
    pub fn now(&self) -> Option<Nanos> {
        if self.is_held_up() { Some(self.held_up.least) } else { self.min_rtt.get().max(self.shortest.least) }
    }

    /// The distance at `time`, by the level.
    pub fn at(&self, time: Nanos) -> Option<Nanos> {
        self.min_rtt.at(time).max(self.shortest.least)
    }

    /// The answers themselves.
    pub fn shortest(&self) -> &Shortest {
        &self.shortest
    }

    /// Number of answers behind the estimate.
    pub fn samples(&self) -> u32 {
        self.shortest.samples
    }

    /// Time between a TSval and the last segment of this end, if that segment was the first to echo the TSval.
    #[inline]
    pub fn last_span(&self) -> Option<Nanos> {
        self.last_span
    }

    /// True if the estimate cannot consist of the end's own pauses alone.
    #[inline]
    pub fn is_proven(&self) -> bool {
        self.proven
    }

    /// Scatter of the answers above the least, at most a quarter of the least: a path or a capture whose times jitter.
    /// Answers that are all equally late were delayed by their end, which keeps a pace of its own.
    pub fn jitter(&self) -> Nanos {
        let scatter = self.scatter + self.scatter;
        self.shortest.least.map_or(Nanos::ZERO, |least| self.spread.min(scatter).min(least.scaled(0.25)))
    }

    /// Delay of the last answer with data beyond the soonest: the queue between this end and the tap. 0 where the end
    /// may have had nothing to send for a while.
    #[inline]
    pub fn queue(&self) -> Nanos {
        self.queue
    }

    /// Takes in that this end answered in the handshake after `span`.
    pub fn opens(&mut self, now: Nanos, span: Nanos) {
        self.sample(now, span);
        self.shortest.opened(span);
    }

    /// Takes in that this end answered after `span` without a reason to wait: in the handshake, or because it knew of
    /// an ACK.
    pub fn sample(&mut self, now: Nanos, span: Nanos) {
        self.proven = true;
        self.answered(span);
        self.min_rtt.offer(now, span.or_zero(), Answer::Unsure, 0);
    }

    /// Takes in the distance that rounds of burst and silence show.
    pub fn is_clocked(&mut self, now: Nanos, span: Nanos) {
        self.clocked = true;
        self.sample(now, span);
    }

    /// True if the estimate was inferred from rounds of burst and silence, and no packet has measured it.
    pub fn was_inferred(&self) -> bool {
        self.clocked
    }

    /// Takes in a measurement of the same path by acknowledgements of the other end's data.
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
            // Later answers contain the end's own pauses; the others enter with RFC 6298's gain of 1/8.
            self.spread += Nanos((span - least - self.spread).0 / 8);
            let last = self.last_answer.replace(span).unwrap_or(span);
            self.scatter += Nanos((Nanos((span - last).0.saturating_abs()) - self.scatter).0 / 8);
        }
        self.shortest.sample(span);
    }

    /// True if this segment echoes a TSval newer than any that passed the tap towards this end: a packet reached the
    /// end that the tap has not seen, or will store too late.
    #[inline(always)]
    pub fn has_unseen(&mut self, segment: &Segment) -> bool {
        let (Some(timestamps), Some(newest)) = (segment.timestamps, self.newest) else { return false };
        let unseen = (timestamps.echo.wrapping_sub(newest) as i32) > 0;
        if unseen && self.unseen.is_none_or(|(value, _)| value != timestamps.echo) {
            self.unseen = Some((timestamps.echo, segment.time));
        }
        unseen
    }

    /// Time when this end had received the content of `segment`, which the capture holds only now.
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

    /// Takes in that this end acknowledged data after `span`; `answer` classifies a long one, `answers` came before it.
    #[inline]
    pub fn acknowledges(&mut self, now: Nanos, span: Nanos, answer: Answer, answers: u32) {
        if self.min_rtt.offer(now, span, answer, answers) {
            self.tsval_clock.forget();
        }
    }

    /// Takes in an echo after `span`. An end may compute before it answers. Its own clock shows whether the path took
    /// longer: by at least a quarter of the answer's delay, because the other direction may have become longer too.
    fn echoes(&mut self, segment: &Segment, span: Nanos, silence: Nanos) {
        let excess = span - self.min_rtt.get().unwrap_or(span);
        let late = self.tsval_clock.held().is_some_and(|late| late.0 >= excess.0 / 4);
        let answer = match (late, silence.0 >= excess.0 / 2) {
            (false, _) => Answer::Unsure,
            (true, true) => Answer::Bare,
            (true, false) => Answer::Queued,
        };
        self.acknowledges(segment.time, span, answer, self.shortest.samples);
    }

    /// Takes in an echo that may contradict the level; `span` is its own time. An end echoes the newest TSval that has
    /// reached it (RFC 7323 §4.3). If a newer one passed the tap longer ago than the level allows, that one is still on
    /// its way: the path takes longer now, by a queue or by another route.
    fn contradict(&mut self, now: Nanos, span: Nanos) {
        let (Some(level), Some(&(_, newer))) = (self.min_rtt.get(), self.pending.front()) else { return };
        let longest = level + level.scaled(0.25).max(Nanos::from_millis(2));
        if span <= longest {
            self.held_up = HeldUp::default();
        } else if now - newer > longest {
            let least = if self.held_up.echoes == 0 { span } else { self.held_up.least.min(span) };
            self.held_up = HeldUp { echoes: self.held_up.echoes + 1, least };
        }
    }

    /// The path takes longer now than its level.
    #[inline]
    pub fn is_held_up(&self) -> bool {
        self.held_up.echoes >= CONTRADICTIONS
    }

    /// Forgets the awaited echoes, because packets are missing here.
    pub fn left_out(&mut self) {
        self.pending.clear();
        self.looking = false;
    }

    /// Takes in a segment that passes the tap towards this end.
    #[inline(always)]
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

    /// Takes in a segment of this end; its echo may be an answer.
    #[inline(always)]
    pub fn from_end(&mut self, segment: &Segment) {
        let silence = segment.time - self.last_seen;
        self.last_seen = segment.time;
        self.last_span = None;
        let Some(timestamps) = segment.timestamps else { return };
        self.tsval_clock.follow(segment);
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
                // An ACK is due when data arrives. Data may wait for the application, unless other data left just
                // before.
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
