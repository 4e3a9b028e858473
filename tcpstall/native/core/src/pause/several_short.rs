//! Detects a sender that does not hold short writes back.

use super::evidence::Facts;
use crate::time::Nanos;

/// Writes in flight at once that no variant of Nagle's algorithm allows (RFC 896, Minshall's).
const SEVERAL: u32 = 2;

impl Facts {
    /// More than one short write was in flight, and neither the order of the capture nor missing ACKs make it seem so.
    pub fn has_several_short(&self) -> bool {
        let known = self.mss_known && !self.flight_unknown && self.disorder == Nanos::ZERO && !self.unseen.acks;
        self.briefs_out >= SEVERAL && known && self.unseen.is_nothing()
    }
}
