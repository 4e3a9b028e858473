//! Capture time in nanoseconds.

use std::ops::{Add, AddAssign, Sub};

/// A moment (nanoseconds since the epoch in the capture's own clock) or a span between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub i64);

impl Nanos {
    /// A zero span, and the earliest time that a segment may have: 1970-01-01.
    pub const ZERO: Nanos = Nanos(0);

    /// The latest time that a segment may have: 2^62 ns, in February 2116. Timestamps of pcap files end in 2106. Two
    /// times are less than 2^62 ns apart, and the sum of such a span and a round trip still fits into 64 bits.
    pub const LATEST: Nanos = Nanos((1 << 62) - 1);

    /// A span of whole microseconds.
    pub const fn from_micros(us: i64) -> Nanos {
        Nanos(us * 1_000)
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(ms: i64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    /// This span times a ratio, rounded towards zero.
    pub fn scaled(self, ratio: f64) -> Nanos {
        Nanos((self.0 as f64 * ratio) as i64)
    }

    /// This span divided by a whole number, rounded towards zero: as [`Nanos::scaled`], without its way through
    /// floating point.
    #[inline]
    pub const fn part(self, divisor: i64) -> Nanos {
        Nanos(self.0 / divisor)
    }

    /// This time or span and a span, of which the sum is known to fit.
    #[inline]
    pub const fn plus(self, span: Nanos) -> Nanos {
        Nanos(self.0.wrapping_add(span.0))
    }

    /// This span multiplied by `count`.
    pub fn times(self, count: i64) -> Nanos {
        Nanos(self.0.saturating_mul(count))
    }

    /// This time, clamped to the range that a segment may have.
    #[inline]
    pub fn in_range(self) -> Nanos {
        self.clamp(Nanos::ZERO, Nanos::LATEST)
    }

    /// The later of two times, or the longer of two spans, as `max` of both: in a third of its steps.
    #[inline]
    pub fn later(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
        match (one, other) {
            (Some(one), Some(other)) => Some(Nanos(one.0.max(other.0))),
            (one, other) => one.or(other),
        }
    }

    /// This span, or zero where it is negative.
    pub fn or_zero(self) -> Nanos {
        Nanos(self.0.max(0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

/// Segments' times are in range and never 2^62 ns apart, so their differences fit; this runs dozens of times a packet.
impl Sub for Nanos {
    type Output = Nanos;
    #[inline]
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.wrapping_sub(other.0))
    }
}

/// The largest number that divides both; the other one where one is 0.
#[cold]
pub(crate) fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_of_two_times_is_the_larger_value() {
        let times = [None, Some(Nanos(i64::MIN)), Some(Nanos(-1)), Some(Nanos::ZERO), Some(Nanos::LATEST)];
        for (one, other) in times.into_iter().flat_map(|one| times.map(|other| (one, other))) {
            assert_eq!(Nanos::later(one, other), one.max(other));
        }
    }

    #[test]
    fn spans_between_moments_in_range_and_round_trips_add_up_exactly() {
        for time in [i64::MIN, -1, 0, 1_700_000_000_000_000_000, i64::MAX] {
            assert!((Nanos::ZERO..=Nanos::LATEST).contains(&Nanos(time).in_range()));
        }
        let longest = Nanos::LATEST - Nanos::ZERO;
        let (span, exact) = (longest + longest, 2 * i128::from(longest.0));
        assert_eq!(i128::from(span.0), exact, "what the tap saw, and the way to it and back");
        assert_eq!(Nanos(i64::from(u32::MAX) * 1_000_001_000).in_range().0, i64::from(u32::MAX) * 1_000_001_000);
    }
}
