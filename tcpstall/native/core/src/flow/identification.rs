//! A sender's IP-ID field as a counter of its packets: what was sent and did not pass, and in which order.

use crate::wire::Segment;

/// A counter that ran further ahead than this was not counting for this connection alone.
const FAR_AHEAD: u32 = 4096;

/// Follows the field; trusted once it has counted packets one by one, as Linux's does for a connected socket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identification {
    last: Option<(u16, u32)>,
    expected: u32,
    unexpected: u32,
    /// Jumps that no loss explains.
    foreign: u32,
}

impl Identification {
    fn counts(&self) -> bool {
        self.expected >= 4 && self.expected >= 9 * self.unexpected && self.foreign * 100 <= self.expected
    }

    /// The counter jumped between two packets of one burst with no data missing between them: it counts other
    /// connections' packets too (one counter a host or a destination).
    pub fn jumped(&mut self) {
        self.foreign += 1;
    }

    /// Whether the packet was sent after the newest one seen; `None` where the field does not tell.
    pub fn is_newer(&self, segment: &Segment) -> Option<bool> {
        match (segment.ip_id, self.last) {
            (Some(id), Some((last, _))) if self.counts() => Some((id.wrapping_sub(last) as i16) > 0),
            _ => None,
        }
    }

    /// Packets sent since the last one seen that did not pass; 0 where the field does not tell.
    pub fn missing_before(&self, segment: &Segment) -> u32 {
        match (segment.ip_id, self.last) {
            (Some(id), Some((last, step))) if self.counts() => {
                let ahead = u32::from(id.wrapping_sub(last));
                if ahead > step && ahead < step + FAR_AHEAD { ahead - step } else { 0 }
            }
            _ => 0,
        }
    }

    /// A packet passes; a TSO frame uses one number a segment of `mss` bytes.
    #[inline]
    pub fn follow(&mut self, segment: &Segment, mss: u32) {
        let Some(id) = segment.ip_id else { return };
        let step = segment.payload.div_ceil(mss).max(1);
        if let Some((last, expected)) = self.last {
            if u32::from(id.wrapping_sub(last)) == expected {
                self.expected += 1;
            } else {
                self.unexpected += 1;
            }
            if (id.wrapping_sub(last) as i16) <= 0 {
                return;
            }
        }
        self.last = Some((id, step));
    }
}
