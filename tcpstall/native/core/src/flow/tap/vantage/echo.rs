//! Tells by the TSvals towards an end which of them passed first, and by those that it echoes what had reached it when it sent.

use super::Vantage;
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// ACKs without payload that an end has echoed, from which it takes stamps from each segment (RFC 7323 §4.3). By RFC 1323 §3.4 a
/// stack takes them from data alone.
const SHOWN: u8 = 2;

/// A TSval that passed the tap towards an end, which may echo it.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(in crate::flow) struct Stamp {
    pub(super) value: u32,
    /// Its first segment was an ACK and nothing else.
    pub(super) is_bare: bool,
    /// Time when its first segment passed.
    pub(super) passed: Nanos,
}

/// The stamp `value` is newer than `other`: the clock wraps (RFC 7323 §5.2).
#[inline(always)]
pub(super) const fn is_newer(value: u32, other: u32) -> bool {
    value.wrapping_sub(other) as i32 > 0
}

impl Stamp {
    /// The stamp of this `value` that the segment brings.
    #[inline(always)]
    pub(super) fn of(segment: &Segment, value: u32) -> Stamp {
        let is_bare = segment.payload == 0 && segment.flags == Flags::ACK;
        Stamp { value, is_bare, passed: segment.time }
    }
}

impl Vantage {
    /// True if a segment with a newer TSval has passed the tap towards this end.
    pub fn has_newer(&self, segment: &Segment) -> bool {
        let stamps = segment.timestamps.zip(self.newest);
        stamps.is_some_and(|(timestamps, newest)| is_newer(newest, timestamps.value))
    }

    /// True if this end never sent the stamp `echo`: it is older than the end's first.
    pub fn precedes(&self, echo: u32) -> bool {
        self.tsval_clock.began_after(echo)
    }

    /// Time when the oldest segment passed that this end had not received when it sent a segment with the TSecr `echo`: the
    /// first with a newer TSval (RFC 7323 §4.3). `None` where all had reached it, or this end does not echo each segment.
    #[inline]
    pub fn unheard_since(&self, echo: u32) -> Option<Nanos> {
        // Nearly always the newest had reached it.
        if self.pending.is_empty() || !self.echo_known || self.echoed_bare < SHOWN {
            return None;
        }
        self.pending.iter().find(|stamp| is_newer(stamp.value, echo)).map(|stamp| stamp.passed)
    }

    /// Takes in data that passes the tap towards this end with the timestamps of its segment before: no other echo may be
    /// awaited by now.
    #[inline]
    pub fn towards_again(&mut self, segment: &Segment) {
        if self.pending.is_empty()
            && !self.is_stamped_ahead()
            && let Some(timestamps) = segment.timestamps
        {
            self.pending.push_back(Stamp::of(segment, timestamps.value));
        }
    }
}
