//! New data that directly follows the newest data.

use super::Half;
use crate::flow::events::Sending;
use crate::wire::Segment;

impl Half {
    /// True if the segment, of two bytes or more or of none, directly follows the newest data, is no copy, and its IP-ID
    /// shows no missing packet. A single byte may be a probe.
    #[inline(always)]
    pub(in crate::flow) fn is_followed_by(&self, segment: &Segment) -> bool {
        self.is_joined_by(segment)
            && match segment.payload {
                0 => !self.ip_id.is_repeated_by(segment),
                payload => payload > 1 && self.ip_id.missing_before(segment) == 0,
            }
    }

    /// True if the segment begins where the newest data ends.
    #[inline(always)]
    pub(in crate::flow) fn is_joined_by(&self, segment: &Segment) -> bool {
        let Some(base) = self.base else { return false };
        segment.seq == base.plus(self.snd_nxt as u32) && self.snd_una <= self.snd_nxt
    }

    /// Takes in data that follows in this way.
    #[inline(always)]
    pub(in crate::flow) fn append(&mut self, segment: &Segment) -> Sending {
        self.settled = false;
        self.count(segment);
        let (end, mss) = (self.snd_nxt + i64::from(segment.payload), self.mss());
        let sending = self.push(segment, end, segment.payload, mss, (0, 0));
        self.ip_id.follow(segment, mss);
        sending
    }

    /// Counts a frame with payload and learns from its size.
    #[inline(always)]
    pub(super) fn count(&mut self, segment: &Segment) {
        self.frames += 1;
        // Nearly always it is the size already known.
        if segment.payload != self.mss {
            self.learn_mss(segment);
            self.offloaded += u64::from(segment.payload > self.mss && self.mss_is_sure());
        }
    }

    /// Puts `bytes` new bytes up to `end` in flight. `hole` bytes before them were not seen; `lost` packets are missing.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        segment: &Segment,
        end: i64,
        bytes: u32,
        mss: u32,
        (hole, lost): (i64, u32),
    ) -> Sending {
        self.snd_nxt = end;
        self.bytes += u64::from(bytes);
        let flight = self.flight();
        // Skipped bytes are in flight too, wherever they are.
        let skipped = if hole > 0 { (hole as u64).div_ceil(u64::from(mss)) as u32 } else { 0 };
        self.outstanding.push(segment, end, bytes, skipped, mss, flight);
        self.max_flight = self.max_flight.max(flight);
        Sending::New { bytes, hole, lost }
    }
}
