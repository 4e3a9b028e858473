//! Estimates when a segment left its sender, by the sender's own clock in the timestamps option.

use crate::time::Nanos;
use crate::wire::Segment;

/// Ticks of real timestamp clocks, nanoseconds (RFC 7323 §5.4 allows 1 ms to 1 s).
const TICKS: [i64; 6] = [1_000_000, 2_000_000, 4_000_000, 10_000_000, 100_000_000, 500_000_000];
/// Advance of the clock, in ticks, before its tick can be distinguished from twice or half of it.
const LOOK: u32 = 50;
/// Divisor of the largest drift of two crystals: one part in 4096 (244 in a million).
const DRIFT: i64 = 4096;

/// Compares each segment's TSval with its time at the tap.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TsvalClock {
    first: Option<(u32, Nanos)>,
    tick: i64,
    /// Ticks by which the clock advances at a time: all stamps are that far apart, or several times that far (some hosts
    /// update a clock of 1 ms every 50 ms).
    step: u32,
    /// Advances that agree on it, and the newest stamp.
    advances: u32,
    newest: u32,
    /// The smallest difference of the two clocks, and its time.
    least: Option<(i64, Nanos)>,
    late: Option<Nanos>,
    /// Start of the present second, smallest difference in it and in the one before, and consecutive seconds of growth.
    second: Nanos,
    least_now: i64,
    least_before: i64,
    growing: u32,
}

/// Growth in one second that contradicts the assumed clock, nanoseconds: every segment was later than all of the second
/// before by this much. After three such seconds the tick is wrong (some clocks tick 1024 times a second), and
/// estimates end.
const GROWTH: i64 = 5_000_000;
/// Consecutive seconds of growth that show a wrong tick: a route change makes one.
const GROWING: u32 = 3;
/// Advances from which a clock is believed to advance several ticks at a time: fewer may be far apart by chance.
const AGREEING: u32 = 32;

impl TsvalClock {
    /// Excess of the last segment's time from its sender to the tap over the quickest segment's, within a tick; `None`
    /// where the clock is unknown.
    #[inline]
    pub fn late(&self) -> Option<Nanos> {
        self.late
    }

    /// That excess where it is more than the clock's grain: something held the segment.
    pub fn held(&self) -> Option<Nanos> {
        self.late.filter(|late| *late > self.grain())
    }

    /// Something may have held the last segment for half of `span`, but the clock advances too rarely to show it.
    pub fn may_hide(&self, span: Nanos) -> bool {
        self.is_coarse() && self.late.is_some_and(|late| late <= self.grain() && late + late >= span)
    }

    /// Smallest delay that the sender's clock shows: two advances.
    #[inline]
    pub fn grain(&self) -> Nanos {
        let step = if self.is_coarse() { i64::from(self.step) } else { 1 };
        Nanos(self.tick.saturating_mul(2 * step))
    }

    fn is_coarse(&self) -> bool {
        self.step > 1 && self.advances >= AGREEING
    }

    /// Forgets the quickest segment, because the route changed.
    pub fn forget(&mut self) {
        self.least = None;
    }

    fn is_steady(&mut self, now: Nanos, difference: i64) -> bool {
        if now - self.second < Nanos::from_millis(1_000) {
            self.least_now = self.least_now.min(difference);
            return self.growing < GROWING;
        }
        if self.growing < GROWING {
            let grew = self.second > Nanos::ZERO && self.least_now.saturating_sub(self.least_before) > GROWTH;
            self.growing = if grew { self.growing + 1 } else { 0 };
        }
        (self.second, self.least_before, self.least_now) = (now, self.least_now, difference);
        self.growing < GROWING
    }

    /// A segment of this sender passes the tap.
    #[inline(always)]
    pub fn follow(&mut self, segment: &Segment) {
        let Some(stamps) = segment.timestamps else { return };
        let (first, start) = *self.first.get_or_insert((stamps.value, segment.time));
        let ticks = stamps.value.wrapping_sub(first) as i32;
        if self.step != 1 {
            self.step = common_divisor(self.step, ticks.unsigned_abs());
            self.advances = self.advances.saturating_add(u32::from(self.newest != stamps.value));
            self.newest = stamps.value;
        }
        if self.tick == 0 {
            if ticks < LOOK as i32 {
                return;
            }
            let seen = (segment.time - start).0 / i64::from(ticks);
            let nearest = TICKS
                .into_iter()
                .min_by_key(|tick| tick.max(&seen).saturating_mul(100) / tick.min(&seen.max(1)).max(&1));
            self.tick = nearest.unwrap_or(TICKS[0]);
        }
        let difference = (segment.time - start).0.saturating_sub(i64::from(ticks) * self.tick);
        if !self.is_steady(segment.time, difference) {
            self.late = None;
            return;
        }
        let least = self.least.map(|(least, then)| least.saturating_add((segment.time - then).0 / DRIFT));
        self.late = least.map(|least| Nanos(difference.saturating_sub(least).max(0)));
        self.least = Some((least.map_or(difference, |least| least.min(difference)), segment.time));
    }
}

#[cold]
fn common_divisor(mut one: u32, mut other: u32) -> u32 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
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
        let mut clock = TsvalClock::default();
        (0..200).for_each(|i| clock.follow(&segment(i * 10, 500 + i as u32 * 10)));
        assert_eq!(clock.late(), Some(Nanos::ZERO));
        clock.follow(&segment(2_100, 2_500));
        assert!(clock.late().is_some_and(|late| late > Nanos::from_millis(98)));
    }

    #[test]
    fn a_clock_that_advances_fifty_ticks_at_a_time_shows_no_delay_below_a_hundred() {
        let every_50 = |i: i64| 500 + i as u32 / 5 * 50;
        let mut clock = TsvalClock::default();
        (0..200).for_each(|i| clock.follow(&segment(i * 10, every_50(i))));
        assert_eq!((clock.grain(), clock.held()), (Nanos::from_millis(100), None));
        assert!(clock.may_hide(Nanos::from_millis(70)) && !clock.may_hide(Nanos::from_millis(90)));
        clock.follow(&segment(2_150, every_50(199)));
        assert!(clock.held().is_some());
    }

    #[test]
    fn a_clock_of_another_tick_says_nothing_in_the_end() {
        let mut clock = TsvalClock::default();
        (0..800).for_each(|i| clock.follow(&segment(i * 10 + i / 4, 500 + i as u32 * 10)));
        assert_eq!(clock.late(), None);
    }

    #[test]
    fn no_clock_and_no_time_runs_over() {
        let values = [0, 1, 49, 50, i32::MAX as u32, 1 << 31, u32::MAX];
        let times = [i64::MIN, -1, 0, 1, Nanos::LATEST.0, i64::MAX - 5_000, i64::MAX];
        let any: Vec<(i64, u32)> = times.into_iter().flat_map(|time| values.map(|value| (time, value))).collect();
        let triples = any.iter().flat_map(|a| any.iter().flat_map(|b| any.iter().map(|c| [*a, *b, *c])));
        for (triple, forgets) in triples.flat_map(|triple| [(triple, false), (triple, true)]) {
            let mut clock = TsvalClock::default();
            clock.follow(&Segment { time: Nanos(0), ..segment(0, 0) });
            for (time, value) in triple {
                clock.follow(&Segment { time: Nanos(time), ..segment(0, value) });
                assert!(clock.late().is_none_or(|late| late >= Nanos::ZERO));
                if forgets {
                    clock.forget();
                }
            }
        }
    }

    #[test]
    fn a_pause_of_the_sender_is_not() {
        let mut clock = TsvalClock::default();
        (0..200).for_each(|i| clock.follow(&segment(i * 10, 500 + i as u32)));
        clock.follow(&segment(4_000, 900));
        assert_eq!(clock.late(), Some(Nanos::ZERO), "a clock of 10 ms a tick");
    }
}
