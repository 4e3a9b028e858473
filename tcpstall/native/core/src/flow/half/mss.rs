//! The payload of a full segment: by the SYNs, then by the sizes of new data.

use super::{Half, USUAL_MSS};
use crate::wire::Segment;

/// Largest IP packet on Ethernet, bytes (RFC 894).
const ETHERNET: u32 = 1_500;

/// Payloads of a full segment on Ethernet: IPv4 and IPv6, without and with timestamps. A TSO frame holds several
/// segments.
const ETHERNET_PAYLOADS: [u32; 4] = [1460, 1448, 1440, 1428];

impl Half {
    /// Sets the largest payload of a segment: the MSS by both SYNs less the `options` that every segment carries. The peer
    /// would accept `most`.
    pub fn set_mss(&mut self, mss: u32, most: u32, options: u32) {
        self.mss = mss.saturating_sub(options).max(1);
        self.full_segment.allows(most.saturating_sub(options).max(self.mss), self.mss);
        self.mss_negotiated = true;
        self.mss_options = options;
    }

    /// Takes in that the peer's SYN names no MSS: the sender may know a larger size than the default otherwise.
    pub fn peer_names_no_mss(&mut self, options: u32) {
        self.full_segment.named_none(options);
    }

    /// Payload of a full segment.
    #[inline]
    pub fn mss(&self) -> u32 {
        if self.mss == 0 { USUAL_MSS } else { self.mss }
    }

    /// Bytes of options in each segment that the MSS of the SYNs counts as payload (RFC 6691 §2).
    pub fn mss_options(&self) -> u32 {
        self.mss_options
    }

    /// The MSS where it is known from SYNs or from data.
    pub fn known_mss(&self) -> Option<u32> {
        (self.mss > 0).then_some(self.mss)
    }

    /// True if the MSS is known and not guessed from the application's writes.
    pub fn mss_is_sure(&self) -> bool {
        self.mss_negotiated || self.whole_frame_seen
    }

    /// Full segments were lost whenever they were sent, and shorter ones were acknowledged.
    pub fn loses_full_segments(&self) -> bool {
        self.snd_una > 0 && self.mss_is_sure() && self.outstanding.loses_whole_segments()
    }

    /// Writes of their own among those, each clearly shorter than a full segment.
    pub fn briefs_out(&self) -> u32 {
        self.outstanding.briefs()
    }

    /// Learns from the payload of a frame that has not the size already known.
    pub(super) fn learn_mss(&mut self, segment: &Segment) {
        let payload = segment.payload;
        if self.mss_negotiated {
            // RFC 6691: the MSS option does not count options, but old stacks deduct them before they announce it.
            if payload == self.mss + self.mss_options {
                (self.mss, self.mss_options) = (payload, 0);
            } else if let Some(size) = self.full_segment.sees(payload, self.mss) {
                self.mss = size;
                self.outstanding.are_whole(size, self.snd_una);
            }
        } else if self.whole_frame_seen && payload.is_multiple_of(self.mss) {
            // More segments of the known size.
        } else if payload > ETHERNET_PAYLOADS[0] {
            if let Some(size) = ETHERNET_PAYLOADS.into_iter().find(|size| payload.is_multiple_of(*size)) {
                (self.mss, self.whole_frame_seen) = (size, true);
            } else if let Some(size) = self.full_segment.divides(payload) {
                (self.mss, self.whole_frame_seen) = (size, true);
            }
        } else if payload > self.mss && !self.whole_frame_seen {
            // Without SYNs the largest frame that can be one segment on Ethernet is the best guess.
            (self.mss, self.whole_frame_seen) = (payload, fills_ethernet(segment));
        }
    }
}

/// The packet is as long as Ethernet allows: hardly any application writes just what fills one.
fn fills_ethernet(segment: &Segment) -> bool {
    let ip = if segment.source.address.is_v4() { 20 } else { 40 };
    let options = if segment.timestamps.is_some() { 12 } else { 0 };
    ip + 20 + options + segment.payload == ETHERNET
}
