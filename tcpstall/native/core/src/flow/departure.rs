//! When a segment left its sender, by the sender's own clock in the timestamps option.

use crate::time::Nanos;
use crate::wire::Segment;

/// Ticks of real timestamp clocks, nanoseconds (RFC 7323 §5.4 allows 1 ms to 1 s).
const TICKS: [i64; 6] = [1_000_000, 2_000_000, 4_000_000, 10_000_000, 100_000_000, 500_000_000];
/// The clock must have advanced so far before its tick is told apart from twice or half of it.
const LOOK: u32 = 50;
/// Two crystals differ by no more than one part in so many (244 in a million).
const DRIFT: i64 = 4096;

/// Compares each segment's TSval with its time at the tap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Departure {
    first: Option<(u32, Nanos)>,
    tick: i64,
    /// The smallest difference of the two clocks, and when it was seen.
    least: Option<(i64, Nanos)>,
    late: Option<Nanos>,
}

impl Departure {
    /// How much longer than the quickest segment the last one took from its sender to the tap, give or take a tick; `None`
    /// where the clock is not known.
    #[inline]
    pub fn late(&self) -> Option<Nanos> {
        self.late
    }

    /// The route changed: what was quick before is no measure any more.
    pub fn forget(&mut self) {
        self.least = None;
    }

    /// A segment of this sender passes the tap.
    #[inline]
    pub fn follow(&mut self, segment: &Segment) {
        let Some(stamps) = segment.timestamps else { return };
        let (first, start) = *self.first.get_or_insert((stamps.value, segment.time));
        let ticks = stamps.value.wrapping_sub(first) as i32;
        if self.tick == 0 {
            if ticks < LOOK as i32 {
                return;
            }
            let seen = (segment.time - start).0 / i64::from(ticks);
            let nearest = TICKS.into_iter().min_by_key(|tick| (tick.max(&seen) * 100) / tick.min(&seen.max(1)).max(&1));
            self.tick = nearest.unwrap_or(TICKS[0]);
        }
        let difference = (segment.time - start).0 - i64::from(ticks) * self.tick;
        let least = self.least.map(|(least, then)| least + (segment.time - then).0 / DRIFT);
        self.late = least.map(|least| Nanos((difference - least).max(0)));
        self.least = Some((least.map_or(difference, |least| least.min(difference)), segment.time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Timestamps;

    fn segment(time_ms: i64, value: u32) -> Segment {
        let timestamps = Some(Timestamps { value, echo: 0 });
        Segment { time: Nanos::from_millis(time_ms), timestamps, ..Segment::default() }
    }

    #[test]
    fn a_segment_that_sat_in_a_queue_is_late_by_as_much() {
        let mut departure = Departure::default();
        (0..200).for_each(|i| departure.follow(&segment(i * 10, 500 + i as u32 * 10)));
        assert_eq!(departure.late(), Some(Nanos::ZERO));
        departure.follow(&segment(2_100, 2_500));
        assert!(departure.late().is_some_and(|late| late > Nanos::from_millis(98)));
    }

    #[test]
    fn a_pause_of_the_sender_is_not() {
        let mut departure = Departure::default();
        (0..200).for_each(|i| departure.follow(&segment(i * 10, 500 + i as u32)));
        departure.follow(&segment(4_000, 900));
        assert_eq!(departure.late(), Some(Nanos::ZERO), "a clock of 10 ms a tick");
    }
}
