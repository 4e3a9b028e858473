//! Distinguishes copies of packets, made by a capture or a network, from retransmissions.

use super::Half;
use crate::time::Nanos;
use crate::wire::Segment;

impl Half {
    /// Shortest round trip between sender and peer by the legs to the tap, or zero where none is known.
    pub fn path(&self) -> Nanos {
        self.vantage.get().unwrap_or_default() + self.peer_distance.or_handshake().unwrap_or_default()
    }

    /// True if the segment, of bytes `[start, end)` that passed before, is a copy of a packet that the tap has seen.
    pub(super) fn is_copy(&mut self, segment: &Segment, start: i64, end: i64) -> bool {
        let rtt = self.path();
        let moved_on = self.ip_id.moved_on(segment);
        self.ip_id.is_repeated_by(segment) || self.outstanding.again(segment, start, end, rtt, moved_on)
    }
}
