//! Packets that the capture holds later than others that nothing could have sent before them.

use super::ranges::Ranges;
use crate::time::Nanos;

/// Receive queues, processors and interfaces store packets this much out of order at most; what comes later than that was held
/// by the network.
pub const IN_DISORDER: Nanos = Nanos::from_millis(5);

/// With fewer in disorder hardly a wait is touched: one in so many.
const ONE_IN: u64 = 200;

/// How often a direction's packets, or those that answer them, were in disorder, and how far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Disorder {
    packets: u32,
    extent: Nanos,
}

impl Disorder {
    /// A packet passed at least so `late`, by what passed before it; true if the capture may have done that.
    #[cold]
    pub fn record(&mut self, late: Nanos) -> bool {
        if late > IN_DISORDER {
            return false;
        }
        self.packets = self.packets.saturating_add(1);
        self.extent = self.extent.max(late);
        true
    }

    /// Of both together.
    pub fn and(self, other: Disorder) -> Disorder {
        Disorder { packets: self.packets.saturating_add(other.packets), extent: self.extent.max(other.extent) }
    }

    /// How late a packet may have passed, if one in so many of `segments` shows that some did. The latest seen of a few falls
    /// short of the latest possible by one part in as many.
    pub fn extent(&self, segments: u64) -> Nanos {
        let packets = u64::from(self.packets);
        if packets * ONE_IN < segments.max(1) {
            return Nanos::ZERO;
        }
        self.extent + Nanos(self.extent.0 / packets as i64)
    }
}

/// Bytes whose ACK the capture holds and they themselves do not, or not yet.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Ahead {
    ranges: Ranges,
    passed: Nanos,
}

impl Ahead {
    /// An ACK of the unseen `[left, right)` passed.
    pub fn insert(&mut self, left: i64, right: i64, passed: Nanos) {
        if passed - self.passed > IN_DISORDER {
            self.ranges = Ranges::default();
        }
        self.ranges.insert(left, right);
        self.passed = passed;
    }

    /// When the ACK of this data passed, if that was so lately that the capture holds the data too late.
    pub fn passed(&self, (left, right): (i64, i64), now: Nanos) -> Option<Nanos> {
        (now - self.passed <= IN_DISORDER && self.ranges.touches(left, right)).then_some(self.passed)
    }

    /// Memory that it takes, bytes.
    pub fn memory(&self) -> usize {
        size_of::<Ahead>() + self.ranges.memory()
    }

    /// It passed after all: so many bytes of it were awaited.
    pub fn take(&mut self, left: i64, right: i64) -> i64 {
        self.ranges.remove(left, right)
    }
}
