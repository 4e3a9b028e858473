//! Distribution of times: exact while they are few, beyond that in steps of a twelfth of an octave.

use crate::time::Nanos;

/// Times kept exactly.
const EXACT: usize = 512;
/// Steps per octave; a time is off by at most 3 %.
const STEPS: f64 = 12.0;

/// Share of the sum that is most of it.
const MOST: f64 = 0.9;

/// A distribution that grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    exact: Vec<Nanos>,
    /// Number of times in each step, once they are many.
    steps: Vec<u64>,
    count: u64,
    worst: Nanos,
}

impl Spread {
    pub(super) fn add(&mut self, time: Nanos) {
        self.count += 1;
        self.worst = self.worst.max(time);
        if !self.steps.is_empty() {
            self.count_in_step(time);
            return;
        }
        self.exact.push(time);
        if self.exact.len() > EXACT {
            self.counts_in_steps();
        }
    }

    /// Takes in another distribution.
    pub(super) fn join(&mut self, other: &Spread) {
        other.exact.iter().for_each(|time| self.add(*time));
        if !other.steps.is_empty() {
            if self.steps.is_empty() {
                self.counts_in_steps();
            }
            self.steps.iter_mut().zip(&other.steps).for_each(|(own, theirs)| *own += theirs);
            self.count += other.count;
            self.worst = self.worst.max(other.worst);
        }
    }

    fn counts_in_steps(&mut self) {
        self.steps = vec![0; (64.0 * STEPS) as usize];
        for time in std::mem::take(&mut self.exact) {
            self.count_in_step(time);
        }
    }

    fn count_in_step(&mut self, time: Nanos) {
        let step = ((time.0.max(1) as f64).log2() * STEPS + 0.5) as usize;
        self.steps[step] += 1;
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn worst(&self) -> Nanos {
        self.worst
    }

    /// Number of the longest times that make nine tenths of the sum.
    pub(super) fn makes_most(&mut self) -> u64 {
        self.exact.sort_unstable();
        let exact = self.exact.iter().rev().map(|time| (time.0 as f64, 1));
        let steps = self.steps.iter().enumerate().rev();
        let longest_first: Vec<(f64, u64)> =
            exact.chain(steps.map(|(step, count)| ((step as f64 / STEPS).exp2(), *count))).collect();
        let mut rest = MOST * longest_first.iter().map(|(time, count)| time * *count as f64).sum::<f64>();
        let mut most = 0;
        for (time, count) in longest_first {
            if rest <= time * count as f64 {
                return most + (rest / time.max(1.0)).ceil() as u64;
            }
            (rest, most) = (rest - time * count as f64, most + count);
        }
        most
    }

    /// The quantile `part`: 0.5 is the median. `None` without times.
    pub(super) fn within(&mut self, part: f64) -> Option<Nanos> {
        let rank = ((self.count as f64 * part).ceil() as u64).max(1);
        if self.steps.is_empty() {
            self.exact.sort_unstable();
            return self.exact.get(rank as usize - 1).copied();
        }
        let mut passed = 0;
        let step = self.steps.iter().position(|count| {
            passed += count;
            passed >= rank
        })?;
        Some(Nanos((step as f64 / STEPS).exp2().round() as i64).min(self.worst))
    }
}

#[cfg(test)]
mod tests {
    use super::{EXACT, Spread};
    use crate::time::Nanos;

    fn spread(times: impl Iterator<Item = i64>) -> Spread {
        let mut spread = Spread::default();
        times.for_each(|time| spread.add(Nanos(time)));
        spread
    }

    #[test]
    fn few_times_are_exact() {
        let mut few = spread([30, 10, 20].into_iter());
        assert_eq!((few.within(0.5), few.within(0.95), few.worst()), (Some(Nanos(20)), Some(Nanos(30)), Nanos(30)));
        assert_eq!(spread([].into_iter()).within(0.5), None);
    }

    #[test]
    fn many_times_are_off_by_three_per_cent_at_most() {
        let mut many = spread((1..=20 * EXACT as i64).map(|time| time * 1_000));
        for part in [0.05, 0.5, 0.95] {
            let (found, exact) = (many.within(part).unwrap_or_default().0 as f64, 20.0 * EXACT as f64 * 1e3 * part);
            assert!((found / exact - 1.0).abs() < 0.03, "{found} for {exact}");
        }
        assert_eq!(many.count(), 20 * EXACT as u64);
    }

    #[test]
    fn distributions_that_join_are_that_of_all_times() {
        let all = || (1..=4 * EXACT as i64).map(|time| time * 1_000);
        let mut whole = spread(all());
        for cut in [0, 10, EXACT, 2 * EXACT, 4 * EXACT - 10] {
            let mut joined = spread(all().take(cut));
            joined.join(&spread(all().skip(cut)));
            assert_eq!((joined.count(), joined.worst()), (whole.count(), whole.worst()));
            assert_eq!(joined.within(0.5), whole.within(0.5), "cut at {cut}");
        }
    }

    #[test]
    fn few_long_times_make_most_of_the_sum() {
        assert_eq!(spread([].into_iter()).makes_most(), 0);
        assert_eq!(spread([5; 10].into_iter()).makes_most(), 9);
        assert_eq!(spread([1, 900, 2, 3].into_iter()).makes_most(), 1);
        let short = || std::iter::repeat_n(1_000, 2 * EXACT);
        assert_eq!(spread(short().chain([100_000_000; 3])).makes_most(), 3);
    }

    #[test]
    fn the_longest_time_has_a_step() {
        let mut many = spread(std::iter::repeat_n(i64::MAX, EXACT + 2));
        assert_eq!(many.within(0.5), Some(Nanos(i64::MAX)));
    }
}
