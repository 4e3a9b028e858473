//! Detects an end that stamps its segments when its application writes, not when they leave.

use super::Vantage;
use super::echo::{Stamp, is_newer};
use super::held_up::HeldUp;
use crate::flow::tap::tsval_clock::TsvalClock;
use crate::time::Nanos;
use crate::wire::Segment;

/// Time within which an end, however busy, answers what it received, with the tick of the peer's clock.
const HOST_SLACK: Nanos = Nanos::from_millis(1);

/// Longest usual tick of a clock, several times: equal stamps so far apart are no clock's whose tick is unknown yet.
const COARSE: Nanos = Nanos::from_millis(50);

/// Waits from which that is no accident, less `MISSED` for each whose data left between two segments of the peer.
const WAITS: i8 = 3;
const MISSED: i8 = 2;

/// Least length of such a wait, in times within which an end answers: data that leaves by chance meets the peer's segment less often.
const LONG: i64 = 4;

impl Vantage {
    /// The stamps of this end's data are of an earlier time than its departure: they measure nothing.
    #[inline]
    pub fn is_stamped_ahead(&self) -> bool {
        self.ahead == WAITS
    }

    /// Takes in data of this end after a `silence`. By RFC 7323 §3.2 TSval is the time when the segment is sent, and TSecr (§4.3) the
    /// newest stamp that had come by then. Data whose stamps are both from before the silence had been sent by then, and a queue held
    /// it, or it got its header when it was written (stacks that queue whole segments). A queue knows of no ACK: data that leaves it
    /// at once when a segment of the peer comes, each time, waited for that segment in TCP itself.
    pub fn resumes(&mut self, segment: &Segment, silence: Nanos) {
        let stamps = segment.timestamps.filter(|_| !self.is_stamped_ahead());
        let (Some(stamps), Some(distance), Some(unheard)) = (stamps, self.get(), self.pending.front()) else { return };
        let slack = HOST_SLACK.max(distance.part(16));
        let old = is_newer(unheard.value, stamps.echo)
            && segment.time - unheard.passed > distance + slack.times(LONG)
            && self.stood_still(silence);
        if !old || silence < slack.times(LONG) {
            return;
        }
        let after = |stamp: &Stamp| segment.time - stamp.passed - distance;
        let (mut prompt, mut busy) = (false, false);
        for after in self.pending.iter().map(after) {
            prompt |= after <= slack && after >= Nanos::ZERO - slack;
            busy |= after > slack && after <= slack.times(LONG);
        }
        if busy {
            return;
        }
        self.ahead = if prompt { self.ahead + 1 } else { self.ahead.saturating_sub(MISSED) };
        if self.is_stamped_ahead() {
            self.pending.clear();
            (self.tsval_clock, self.held_up, self.queue) = (TsvalClock::of_no_use(), HeldUp::default(), Nanos::ZERO);
        }
    }

    /// By the stamps of the last two segments with payload less than half of a `silence` between them passed.
    fn stood_still(&self, silence: Nanos) -> bool {
        let Some(ticks) = self.tsval_clock.apart() else { return false };
        match self.tsval_clock.span(ticks) {
            Some(span) => span + span <= silence,
            None => ticks == 0 && silence >= COARSE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Flags, Timestamps};

    /// Each round `wait_ms` apart: the peer's ACK, and `later_us` after it data with the stamps that `stamps` gives its round.
    fn rounds(wait_ms: i64, later_us: i64, stamps: impl Fn(u32) -> (u32, u32)) -> Vantage {
        rounds_later(wait_ms, |_| later_us, stamps)
    }

    fn rounds_later(wait_ms: i64, later_us: impl Fn(u32) -> i64, stamps: impl Fn(u32) -> (u32, u32)) -> Vantage {
        let mut end = Vantage::default();
        let segment = |time: Nanos, (value, echo): (u32, u32), payload: u32| Segment {
            time,
            timestamps: Some(Timestamps { value, echo }),
            payload,
            flags: Flags::ACK,
            ..Segment::default()
        };
        end.opens(Nanos(0), Nanos::from_micros(100));
        for i in 0..20_u32 {
            let ack = Nanos::from_millis(i64::from(i) * wait_ms);
            end.towards(&segment(ack, (9_000 + i * wait_ms as u32, 0), 0));
            let data = segment(ack.plus(Nanos::from_micros(later_us(i))), stamps(i), 1_460);
            end.from_end(&data);
            end.resumes(&data, Nanos::from_millis(wait_ms));
        }
        end
    }

    #[test]
    fn data_that_leaves_at_each_ack_with_the_stamps_of_its_write_is_stamped_ahead() {
        // A buffer of several windows: all of it was written, and stamped, as the first ACK came.
        assert!(rounds(80, 60, |_| (500, 9_000)).is_stamped_ahead());
    }

    #[test]
    fn data_stamped_as_it_leaves_is_not() {
        assert!(!rounds(80, 60, |i| (500 + i * 80, 9_000 + i * 80)).is_stamped_ahead());
        // A clock of half a second, and a stack that takes no stamps from bare ACKs (RFC 1323 §3.4).
        assert!(!rounds(40, 60, |i| (500 + i * 40 / 500, 9_000)).is_stamped_ahead());
    }

    #[test]
    fn data_that_leaves_a_queue_between_acks_is_not() {
        assert!(!rounds(80, 30_000, |_| (500, 9_000)).is_stamped_ahead());
        // By chance it meets several ACKs in a row, late in the flow.
        assert!(!rounds_later(80, |i| if i < 10 { 30_000 } else { 60 }, |_| (500, 9_000)).is_stamped_ahead());
    }
}
