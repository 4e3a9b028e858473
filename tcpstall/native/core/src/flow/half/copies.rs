//! Distinguishes copies of packets, made by a capture or a network, from retransmissions.

use super::Half;
use crate::wire::Segment;

impl Half {
    /// True if the segment, of bytes `[start, end)` that passed before, is a copy of a packet that the tap has seen.
    pub(super) fn is_copy(&mut self, segment: &Segment, start: i64, end: i64) -> bool {
        let to_peer = self.peer_distance.or_handshake().unwrap_or_default();
        let rtt = self.vantage.get().unwrap_or_default() + to_peer;
        let moved_on = self.ip_id.moved_on(segment);
        self.ip_id.is_repeated_by(segment) || self.outstanding.again(segment, start, end, rtt, moved_on)
    }
}
