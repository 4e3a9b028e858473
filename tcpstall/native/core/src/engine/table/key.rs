//! Key of a flow in the table: its two ends.

use std::hash::{Hash, Hasher};

use crate::engine::deal::shard_between;
use crate::wire::{Endpoint, Segment};

/// Both ends, the smaller first, so that both directions find the same flow.
#[derive(Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(in crate::engine) struct Key(pub(in crate::engine) Endpoint, pub(in crate::engine) Endpoint);

impl Key {
    #[inline]
    pub(in crate::engine) fn of(segment: &Segment) -> Key {
        let (a, b) = (segment.source, segment.destination);
        if a <= b { Key(a, b) } else { Key(b, a) }
    }

    /// True if the segment is one of its flow's, in either direction.
    #[inline(always)]
    pub(in crate::engine) fn is_of(&self, segment: &Segment) -> bool {
        let (source, destination) = (&segment.source, &segment.destination);
        if source.port == self.0.port && source.address == self.0.address {
            return *destination == self.1;
        }
        *source == self.1 && *destination == self.0
    }

    /// The shard of its flows.
    pub(in crate::engine) fn shard(self) -> usize {
        shard_between(self.0, self.1)
    }
}

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.0.address.0);
        state.write_u128(self.1.address.0);
        state.write_u32(u32::from(self.0.port) << 16 | u32::from(self.1.port));
    }
}
