//! Time stamps that run backwards: a clock was set back, or packets of several queues were stored out of order.

use crate::time::Nanos;

/// Smallest step of a clock that was set back (ntpd steps from 128 ms on, a virtual machine's clock by whole ticks).
/// Several receive queues or processors store packets out of order by less than this.
pub const SHORTEST_STEP: Nanos = Nanos::from_millis(1);

/// Steps of one flow that are kept apart.
const PEAKS: usize = 8;

/// Steps from which, and packets for each of them up to which, two clocks stamped the flow: one clock that is set back rests until
/// it is set back again.
const CLOCKS: (u64, u64) = (5, 10);

/// Statistics of a series of time stamps, from the first that was earlier than the one before.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ClockSteps {
    /// Number of times that the clock was set back.
    pub steps: u64,
    /// The largest step backwards.
    pub farthest: Nanos,
    /// The latest stamp before the clock was last set back: time must catch up with it.
    high: Nanos,
    /// The last stamp that was earlier.
    low: Nanos,
    /// The latest stamps before those steps, and the size of each step.
    peaks: [(Nanos, Nanos); PEAKS],
}

impl ClockSteps {
    /// Takes in a stamp of `time` after the later one of `high`.
    #[cold]
    pub fn goes_back(&mut self, time: Nanos, high: Nanos) {
        // While time has not caught up, rising stamps belong to the same step.
        let before = if high == self.high { self.low } else { high };
        if before - time >= SHORTEST_STEP {
            self.peaks[self.steps as usize % PEAKS] = (high, high - time);
            self.steps += 1;
        }
        self.farthest = self.farthest.max(before - time);
        (self.high, self.low) = (high, time);
    }

    /// True if the time from `start` to `end`, in a flow of `segments` packets without copies, is mostly one between stamps that do
    /// not belong together: a leap of the clock that was later set back, or the difference between two clocks.
    pub fn misdates(&self, segments: u64, start: Nanos, end: Nanos) -> bool {
        self.leaps(start, end) || self.mixes_clocks(segments, start, end)
    }

    /// True if most of the time from `start` to `end` is a leap of the clock that was later set back.
    fn leaps(&self, start: Nanos, end: Nanos) -> bool {
        let leaps = |&(high, back): &(Nanos, Nanos)| start < high && high <= end && back + back >= end - start;
        self.steps > 0 && self.peaks.iter().any(leaps)
    }

    /// True if packets of the flow, of which there are `segments`, were stamped by two clocks in turn that differ by half of the
    /// time from `start` to `end` or more.
    fn mixes_clocks(&self, segments: u64, start: Nanos, end: Nanos) -> bool {
        let (steps, packets) = CLOCKS;
        let in_turn = self.steps >= steps && packets.saturating_mul(self.steps) >= segments;
        in_turn && self.farthest + self.farthest >= end - start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of steps, and the largest in ms.
    fn seen(stamps: &[i64]) -> (u64, i64) {
        let (mut high, mut seen) = (Nanos::ZERO, ClockSteps::default());
        for time in stamps.iter().map(|ms| Nanos::from_millis(*ms)) {
            if time < high {
                seen.goes_back(time, high);
            }
            high = high.max(time);
        }
        (seen.steps, seen.farthest.0 / 1_000_000)
    }

    #[test]
    fn one_step_counts_once_however_long_time_takes_to_catch_up() {
        assert_eq!(seen(&[10, 20, 5, 6, 7, 19, 21]), (1, 15));
    }

    #[test]
    fn a_step_within_a_step_and_one_after_it_count() {
        assert_eq!(seen(&[20, 10, 12, 4, 6, 30, 29]), (3, 10));
    }

    #[test]
    fn steps_at_every_other_packet_are_those_of_two_clocks() {
        let mut stamps = ClockSteps::default();
        (1..=6).for_each(|at| stamps.goes_back(Nanos::from_millis(20 * at), Nanos::from_millis(20 * at + 500)));
        let mixes = |segments, ms| stamps.mixes_clocks(segments, Nanos::ZERO, Nanos::from_millis(ms));
        assert!(mixes(12, 900) && !mixes(12, 1_100), "what lasts twice as long as the clocks differ happened");
        assert!(!mixes(200, 900), "a clock that was set back now and then is one clock");
    }

    #[test]
    fn neighbours_in_the_wrong_order_are_no_step() {
        let mut stamps = ClockSteps::default();
        stamps.goes_back(Nanos(1_000_000), Nanos(1_030_000));
        assert_eq!((stamps.steps, stamps.farthest), (0, Nanos(30_000)));
    }
}
