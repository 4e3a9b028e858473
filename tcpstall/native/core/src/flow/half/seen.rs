//! What the tap saw leave of what was in flight: a model of the congestion window counts nothing else after a hole in the capture.

use super::Half;

impl Half {
    /// Segments in flight; where the tap missed most of the bytes, those that it saw. What is missing may have left over many round
    /// trips: no flight shows that the window was as large, and no ACK that it grew.
    #[inline]
    pub fn seen_in_flight(&self) -> u32 {
        if self.unseen.is_empty() {
            return self.flight_segments();
        }
        self.without_unseen(self.flight_segments(), self.unseen.bytes(), self.flight())
    }

    /// `segments` of `bytes`, without the `unseen` ones where these are the larger part.
    #[cold]
    pub(super) fn without_unseen(&self, segments: u32, unseen: i64, bytes: i64) -> u32 {
        if 2 * unseen <= bytes {
            return segments;
        }
        segments.saturating_sub((unseen / i64::from(self.mss())) as u32)
    }
}
