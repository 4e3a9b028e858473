//! Capture time in nanoseconds.

use std::ops::{Add, AddAssign, Sub};

/// A moment (nanoseconds since the epoch in the capture's own clock) or a span between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub i64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);

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

    /// This span so many times.
    pub fn times(self, count: i64) -> Nanos {
        Nanos(self.0.saturating_mul(count))
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

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}
