//! Detects a sender that does not hold short writes back.

use super::Facts;
use crate::time::Nanos;

/// Writes in flight at once that no variant of Nagle's algorithm allows (RFC 896, Minshall's).
const SEVERAL: u32 = 2;

/// Segment size that every host accepts (RFC 9293 §3.7.1): several writes that are shorter even together are short, whatever
/// the MSS.
const LEAST_MSS: i64 = 536;

impl Facts {
    /// More short writes than whole segments were in flight: one left directly behind another. Darwin lets a short one go
    /// behind a whole one, whatever else is out (XNU `tcp_output`, TF_MAXSEGSNT).
    pub fn has_short_behind_short(&self) -> bool {
        let whole = self.segments_at_start.saturating_sub(self.briefs_out);
        self.has_several_short() && (!self.mss_known || self.briefs_out > whole + 1)
    }

    /// More than one short write was in flight, and neither the order of the capture nor missing ACKs make it seem so.
    pub fn has_several_short(&self) -> bool {
        // Before a larger segment shows the size of full ones, the largest short one seems to be full.
        let all_short = !self.mss_known && (1..LEAST_MSS).contains(&self.flight_at_start);
        let briefs = if all_short { self.segments_at_start } else { self.briefs_out };
        let others = i64::from(self.segments_at_start) - i64::from(briefs);
        let writes = self.flight_at_start - others * i64::from(self.mss);
        let short = self.mss_known || (1..LEAST_MSS).contains(&writes);
        let known = short && !self.flight_unknown && self.disorder == Nanos::ZERO && !self.unseen.acks;
        briefs >= SEVERAL && known && self.unseen.is_nothing()
    }
}
