//! Measures the distance of the tap from one end: the round trip from the tap to that end and back.

mod ahead;
mod at_most;
mod echo;
mod held_up;

use std::collections::VecDeque;

use self::echo::{Stamp, is_newer};
use self::held_up::HeldUp;

use super::min_rtt::{Answer, MinRtt};
use super::shortest::Shortest;
use super::tsval_clock::TsvalClock;
use crate::time::Nanos;
use crate::vec_growth;
use crate::wire::{Flags, Segment};

/// TSvals kept while their echo is awaited; an end that never echoes must not grow the queue.
const PENDING_LIMIT: usize = 128;

/// Factor of the silence before an answer: an answer later by less than that may owe its delay to the silence, because
/// the end had nothing to send. A later answer was on its way before the packet ahead of it arrived.
pub const OUTLASTS_SILENCE: f64 = 1.5;

/// Factor of a segment's time in a queue that a silence before it must outlast, so that the queue was not of its own flow: a
/// slow line takes as long for the segment itself.
const OUTLASTS_QUEUE: f64 = 1.25;

/// Longest time to an end and back, twice the first retransmission timeout (RFC 6298 §2.1): over a longer path every SYN would
/// be retransmitted. Data later than that waited for its application.
pub const LONGEST_PATH: Nanos = Nanos::from_millis(2_000);

/// Longest time for which a receiver may delay an ACK (RFC 9293 §3.8.6.3). Without a handshake, an ACK with payload that
/// comes later measures nothing: the bare ACK before it is missing, and the payload waited for its application.
pub const LONGEST_DELAYED_ACK: Nanos = Nanos::from_millis(500);

/// What shows that the estimate cannot consist of the end's own pauses alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Proof {
    #[default]
    Nothing,
    /// Answers of its application, which may have thought before each.
    Application,
    /// Some answer was due at once.
    Host,
}

/// The smallest time in which an end answered: its acknowledgement of data or SYN, or the first segment that echoes a
/// TSval (RFC 7323 §4.1). Every sample is at least the true distance, so the minimum is the estimate.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Vantage {
    shortest: Shortest,
    proof: Proof,
    /// The estimate was inferred from rounds of burst and silence.
    clocked: bool,
    /// An ACK without payload took no longer than the estimate, or hardly.
    confirmed: bool,
    /// Excess of the usual answer over the least.
    spread: Nanos,
    /// Difference between consecutive answers.
    scatter: Nanos,
    last_answer: Option<Nanos>,
    pending: VecDeque<Stamp>,
    /// A TSval that may have passed before the capture began: its first echo is no evidence.
    ambiguous: Option<u32>,
    looking: bool,
    /// The newest TSval seen towards this end.
    newest: Option<u32>,
    /// A TSval that this end has echoed before the capture shows it, and the time of the echo.
    unseen: Option<(u32, Nanos)>,
    last_echo: Option<u32>,
    /// That is a TSval that the tap has seen: nothing on the way changes the stamps.
    echo_known: bool,
    /// TSvals of ACKs without payload that this end echoed.
    echoed_bare: u8,
    /// The smallest time over the life of the flow.
    pub min_rtt: MinRtt,
    /// Departure times of this end's segments.
    pub tsval_clock: TsvalClock,
    last_seen: Nanos,
    last_payload: Nanos,
    last_span: Option<Nanos>,
    queue: Nanos,
    held_up: HeldUp,
    /// Waits whose data bore stamps from before them, and left at once as the peer's segment came, less those without.
    ahead: i8,
}

impl Vantage {
    /// Gives its memory away, emptied, if it has room for `most` stamps at most.
    pub(in crate::flow) fn renewed(&mut self, most: usize) -> VecDeque<Stamp> {
        vec_growth::emptied_queue(&mut self.pending, most)
    }

    /// Takes over such memory, before the first segment.
    pub(in crate::flow) fn takes_over(&mut self, pending: VecDeque<Stamp>) {
        self.pending = pending;
    }

    /// The estimate, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.shortest.get()
    }

    /// The distance now; the route may have become longer since the smallest answer, or a queue has formed.
    #[inline]
    pub fn now(&self) -> Option<Nanos> {
        if self.is_held_up() { Some(self.held_up.least) } else { self.by_level(self.min_rtt.get()) }
    }

    /// The distance at `time`, by the level.
    pub fn at(&self, time: Nanos) -> Option<Nanos> {
        self.by_level(self.min_rtt.at(time))
    }

    /// The distance on that level.
    #[inline]
    fn by_level(&self, level: Option<Nanos>) -> Option<Nanos> {
        Nanos::later(level, self.shortest.get())
    }

    /// The answers themselves.
    pub fn shortest(&self) -> &Shortest {
        &self.shortest
    }

    /// Number of answers behind the estimate.
    pub fn samples(&self) -> u32 {
        self.shortest.samples()
    }

    /// Time between a TSval and the last segment of this end, if that segment was the first to echo the TSval.
    #[inline]
    pub fn last_span(&self) -> Option<Nanos> {
        self.last_span
    }

    /// True if the estimate cannot consist of the end's own pauses alone.
    #[inline]
    pub fn is_proven(&self) -> bool {
        self.proof != Proof::Nothing
    }

    /// True if some answer was due at once, without an application that may have thought.
    #[inline]
    pub fn is_proven_by_host(&self) -> bool {
        self.proof == Proof::Host
    }

    /// Scatter of the answers above the least, at most a quarter of the least: a path or a capture whose times jitter.
    /// Answers that are all equally late were delayed by their end, which keeps a pace of its own.
    pub fn jitter(&self) -> Nanos {
        let scatter = self.scatter + self.scatter;
        self.shortest.get().map_or(Nanos::ZERO, |least| self.spread.min(scatter).min(least.scaled(0.25)))
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
        self.proof = Proof::Host;
        self.offers(now, span);
    }

    fn offers(&mut self, now: Nanos, span: Nanos) {
        self.answered(span);
        self.min_rtt.offer(now, span.or_zero(), Answer::Unsure, Nanos::ZERO, 0);
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

    #[inline]
    fn answered(&mut self, span: Nanos) {
        let least = self.shortest.get().unwrap_or(span);
        if span < least {
            self.spread += least - span;
        } else if span - least < least.part(2) {
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
        let unseen = is_newer(timestamps.echo, newest);
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
        let late = self.tsval_clock.late().unwrap_or_default();
        if let Some(late) = self.min_rtt.offer(now, span, answer, late, answers) {
            self.tsval_clock.takes_as_usual(late);
        }
    }

    /// Takes in an echo after `span`. An end may compute before it answers. Its own clock shows whether the path took
    /// longer: by at least a quarter of the answer's delay, because the other direction may have become longer too. `answers`
    /// of the host itself came before.
    fn echoes(&mut self, segment: &Segment, span: Nanos, silence: Nanos, answers: u32) {
        let excess = span - self.min_rtt.get().unwrap_or(span);
        let answer = match self.tsval_clock.held().filter(|late| late.0 >= excess.0 / 4) {
            None => Answer::Unsure,
            // While a queue of the end's own held the segment, the segments ahead of it passed the tap.
            Some(late) if silence >= late.scaled(OUTLASTS_QUEUE) => Answer::Bare,
            Some(_) => Answer::Queued,
        };
        self.acknowledges(segment.time, span, answer, answers);
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
        if self.pending.back().is_some_and(|back| back.value == timestamps.value) {
            // It is awaited already, and no older than any.
            return;
        }
        if self.newest.is_none_or(|newest| is_newer(timestamps.value, newest)) {
            self.newest = Some(timestamps.value);
        }
        let newer = self.pending.back().is_none_or(|back| is_newer(timestamps.value, back.value));
        if !self.looking {
            self.looking = true;
            self.ambiguous = (!segment.flags.has(Flags::SYN)).then_some(timestamps.value);
        }
        if newer && !self.is_stamped_ahead() {
            if self.pending.len() == PENDING_LIMIT {
                self.pending.pop_front();
            }
            self.pending.push_back(Stamp::of(segment, timestamps.value));
        }
    }

    /// This end has echoed a TSval that the capture has not shown yet.
    #[inline]
    pub(in crate::flow) fn awaits_unseen(&self) -> bool {
        self.unseen.is_some()
    }

    /// Takes in data of this end with the timestamps of its segment before.
    #[inline]
    pub fn from_end_again(&mut self, segment: &Segment) {
        self.last_seen = segment.time;
        self.last_span = None;
        if let Some(timestamps) = segment.timestamps {
            self.tsval_clock.follow_again(segment.time, timestamps.value);
            self.last_payload = segment.time;
        }
    }

    /// Takes in a segment of this end; its echo may be an answer.
    #[inline(always)]
    pub fn from_end(&mut self, segment: &Segment) {
        let silence = segment.time - self.last_seen;
        self.last_seen = segment.time;
        self.last_span = None;
        let Some(timestamps) = segment.timestamps else { return };
        if !segment.flags.has(Flags::SYN) {
            self.tsval_clock.follow(segment.time, timestamps.value, segment.payload > 0);
        }
        let quiet = segment.time - self.last_payload;
        if segment.payload > 0 {
            self.last_payload = segment.time;
        }
        if self.last_echo == Some(timestamps.echo) {
            return;
        }
        self.last_echo = Some(timestamps.echo);
        self.echo_known = false;
        while let Some(&Stamp { value, passed: seen, is_bare }) = self.pending.front() {
            let age = timestamps.echo.wrapping_sub(value) as i32;
            if age < 0 {
                break;
            }
            self.pending.pop_front();
            if age == 0 {
                self.echo_known = true;
                self.echoed_bare = self.echoed_bare.saturating_add(u8::from(is_bare));
            }
            if age == 0 && self.ambiguous != Some(value) {
                let span = segment.time - seen;
                let longest = if self.is_proven() { LONGEST_PATH } else { LONGEST_DELAYED_ACK };
                // An ACK is due when data arrives; after an ACK a timer may have sent it, as a probe. Data and a FIN may wait for
                // the application, unless other data left just before.
                let by_timer = is_bare && span > longest;
                let written = segment.payload > 0 || segment.flags.has(Flags::FIN);
                let due = !written && !by_timer || quiet.times(4) <= span;
                if !due && span > longest {
                    self.tsval_clock.held_at_most(span);
                    break;
                }
                self.tsval_clock.answers(timestamps.value, seen);
                self.answered(span);
                let late = span - self.shortest.get().unwrap_or_default();
                self.tsval_clock.held_at_most(late);
                // What an application took its time for was never the path's: the first answer of the host is no new route.
                let answers = if self.is_proven_by_host() { self.shortest.witnesses() } else { 0 };
                self.proof = if due { Proof::Host } else { self.proof };
                if segment.payload > 0 {
                    self.queue = if late >= quiet.scaled(OUTLASTS_SILENCE) { late } else { Nanos::ZERO };
                }
                self.echoes(segment, span, silence, answers);
                self.contradict(segment.time, span);
                self.last_span = Some(span);
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Timestamps;

    #[test]
    fn a_syn_whose_stamp_is_a_cookie_sets_no_clock() {
        let mut end = Vantage::default();
        let segment = |time_ms: i64, value: u32, flags: u8| Segment {
            time: Nanos::from_millis(time_ms),
            timestamps: Some(Timestamps { value, echo: 0 }),
            flags: Flags(flags),
            ..Segment::default()
        };
        end.from_end(&segment(0, 1 << 30, Flags::SYN.0 | Flags::ACK.0));
        (0..20).for_each(|i| end.from_end(&segment(10 + i * 10, 500 + i as u32 * 10, Flags::ACK.0)));
        assert_eq!(end.tsval_clock.late(), Some(Nanos::ZERO));
    }
}
