//! Learns the payload of a full segment from the sizes of new data.

use super::Half;

/// Payloads of a full segment on Ethernet: IPv4 and IPv6, without and with timestamps. A TSO frame holds several
/// segments.
const ETHERNET_PAYLOADS: [u32; 4] = [1460, 1448, 1440, 1428];

impl Half {
    /// Learns from the payload of a frame; nearly always it is the size already known.
    #[inline(always)]
    pub(super) fn learn_mss(&mut self, payload: u32) {
        if payload != self.mss {
            self.learn_from(payload);
        }
    }

    fn learn_from(&mut self, payload: u32) {
        if self.mss_negotiated {
            // RFC 6691: the MSS option does not count options, but old stacks deduct them before they announce it.
            if payload == self.mss + self.mss_options {
                self.mss = payload;
            } else if let Some(size) = self.full_segment.sees(payload, self.mss) {
                self.mss = size;
                self.outstanding.are_whole(size, self.snd_una);
            }
        } else if payload > ETHERNET_PAYLOADS[0] {
            if let Some(size) = ETHERNET_PAYLOADS.into_iter().find(|size| payload.is_multiple_of(*size)) {
                (self.mss, self.whole_frame_seen) = (size, true);
            }
        } else if payload > self.mss && !self.whole_frame_seen {
            // Without SYNs the largest frame that can be one segment on Ethernet is the best guess.
            self.mss = payload;
        }
    }
}
