//! Detects packets that the capture holds later than other packets that they must have preceded.

use crate::flow::half::ranges::Ranges;
use crate::time::Nanos;

/// Largest disorder by receive queues, processors and interfaces; packets later than that were delayed by the network.
pub const IN_DISORDER: Nanos = Nanos::from_millis(5);

/// Divisor of the segments: with fewer packets in disorder hardly a wait is affected.
const ONE_IN: u64 = 200;

/// Number of a direction's packets, or of their answers, in disorder, and the largest disorder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Disorder {
    packets: u32,
    extent: Nanos,
}

impl Disorder {
    /// Takes in a packet that passed `late` at least, by the packets before it; true if the capture may be the reason.
    #[cold]
    pub fn record(&mut self, late: Nanos) -> bool {
        if late > IN_DISORDER {
            return false;
        }
        self.packets = self.packets.saturating_add(1);
        self.extent = self.extent.max(late);
        true
    }

    /// Sum of both directions.
    pub fn and(self, other: Disorder) -> Disorder {
        Disorder { packets: self.packets.saturating_add(other.packets), extent: self.extent.max(other.extent) }
    }

    /// Largest disorder to expect, or zero where too few of `segments` show any. The largest of n observed delays falls
    /// short of the largest possible by one part in n.
    pub fn extent(&self, segments: u64) -> Nanos {
        let packets = u64::from(self.packets);
        if packets * ONE_IN < segments.max(1) {
            return Nanos::ZERO;
        }
        self.extent + Nanos(self.extent.0 / packets as i64)
    }
}

/// Bytes whose ACK the capture holds before the bytes themselves, or without them.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Ahead {
    ranges: Ranges,
    passed: Nanos,
}

impl Ahead {
    /// Takes in an ACK of the unseen bytes `[left, right)`.
    pub fn insert(&mut self, left: i64, right: i64, passed: Nanos) {
        if passed - self.passed > IN_DISORDER {
            self.ranges = Ranges::default();
        }
        self.ranges.insert(left, right);
        self.passed = passed;
    }

    /// Time of the ACK of this data, if that was so recent that the capture holds the data too late.
    pub fn passed(&self, (left, right): (i64, i64), now: Nanos) -> Option<Nanos> {
        (now - self.passed <= IN_DISORDER && self.ranges.touches(left, right)).then_some(self.passed)
    }

    /// True if some of the bytes are at `offset` or above.
    pub fn reaches_beyond(&self, offset: i64) -> bool {
        self.ranges.touches(offset, i64::MAX)
    }

    /// Memory, bytes.
    pub fn memory(&self) -> usize {
        size_of::<Ahead>() + self.ranges.memory()
    }

    /// Takes in bytes that passed after all; returns how many of them were awaited.
    pub fn take(&mut self, left: i64, right: i64) -> i64 {
        self.ranges.remove(left, right)
    }
}
