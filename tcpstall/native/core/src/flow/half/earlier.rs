//! Data that left before the capture began.

use super::Half;
use crate::wire::Segment;

impl Half {
    /// The capture lacks this sender's SYN, and no data of either end has passed so far: what comes now does not answer the `peer`.
    pub(super) fn begins_in_mid_life(&self, peer: &Half) -> bool {
        self.bytes == 0 && !self.syn_seen && peer.frames == 0
    }

    /// Puts everything up to `start`, where the `first` data in the capture begins, in flight: it is no hole, for it left
    /// before. What was acknowledged by then is not missing either.
    #[cold]
    pub(super) fn left_earlier(&mut self, first: &Segment, start: i64) {
        self.never_seen = 0;
        if start > self.snd_nxt {
            let segments = ((start - self.snd_nxt) as u64).div_ceil(u64::from(self.mss()));
            self.outstanding.begins_with(start, segments as u32, first.time);
            self.snd_nxt = start;
        }
    }
}
