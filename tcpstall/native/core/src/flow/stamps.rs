//! Time stamps that run backwards: a clock that was set back, or packets of several queues stored out of order.

use crate::time::Nanos;

/// Several receive queues or processors store packets out of order by less than this; a clock that is set back goes further
/// (ntpd steps from 128 ms on, a virtual machine's by whole ticks).
pub const SHORTEST_STEP: Nanos = Nanos::from_millis(1);

/// Steps of one flow that are kept apart.
const PEAKS: usize = 8;

/// What a series of time stamps showed, once one of them was earlier than the one before.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Stamps {
    /// How often the clock was set back.
    pub steps: u64,
    /// The farthest that it went back.
    pub farthest: Nanos,
    /// The latest stamp before the clock was last set back, which time must catch up with.
    high: Nanos,
    /// The last stamp that was earlier.
    low: Nanos,
    /// The latest stamps before those steps, and how far the clock then went back.
    peaks: [(Nanos, Nanos); PEAKS],
}

impl Stamps {
    /// A stamp of `time` came after the later one of `high`.
    #[cold]
    pub fn goes_back(&mut self, time: Nanos, high: Nanos) {
        // While time has not caught up, stamps that rise again are the same step.
        let before = if high == self.high { self.low } else { high };
        if before - time >= SHORTEST_STEP {
            self.peaks[self.steps as usize % PEAKS] = (high, high - time);
            self.steps += 1;
        }
        self.farthest = self.farthest.max(before - time);
        (self.high, self.low) = (high, time);
    }

    /// True if most of the time from `start` to `end` is a leap of the clock that it took back.
    pub fn misdates(&self, start: Nanos, end: Nanos) -> bool {
        let leaps = |&(high, back): &(Nanos, Nanos)| start < high && high <= end && back + back >= end - start;
        self.steps > 0 && self.peaks.iter().any(leaps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps, and the farthest in ms.
    fn seen(stamps: &[i64]) -> (u64, i64) {
        let (mut high, mut seen) = (Nanos::ZERO, Stamps::default());
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
    fn neighbours_in_the_wrong_order_are_no_step() {
        let mut stamps = Stamps::default();
        stamps.goes_back(Nanos(1_000_000), Nanos(1_030_000));
        assert_eq!((stamps.steps, stamps.farthest), (0, Nanos(30_000)));
    }
}
