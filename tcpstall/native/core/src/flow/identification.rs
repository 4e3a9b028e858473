//! A sender's IP-ID field as a counter of its packets: what was sent and did not pass, and in which order.

use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::Segment;

/// A counter that ran further ahead than this was not counting for this connection alone.
const FAR_AHEAD: u32 = 4096;
/// A packet with the number of the last one so soon after it is a copy that a bridge or `-i any` made.
const COPY_AGE: Nanos = Nanos::from_millis(1);

/// A network reorders packets that are no further apart than this.
const REORDERED: i16 = 64;

/// Follows the field; trusted while it counts packets one by one, as Linux's does for a connected socket. Where several
/// connections share a counter (Windows keeps one a pair of addresses) it jumps whenever another one speaks.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Identification {
    last: Option<(u16, u32)>,
    time: Nanos,
    ack: SeqNo,
    ttl: Option<u8>,
    /// The last 32 packets, the newest lowest: 1 where the number was the expected one.
    history: u32,
    /// How many of them there are.
    length: u8,
    /// The numbers skipped last: from the first on, below the second.
    skipped: (u16, u16),
    /// The last packet had been overtaken by one before it.
    overtaken: bool,
    expected: u32,
    /// Jumps that no loss explains.
    foreign: u32,
}

impl Identification {
    /// Nine packets of ten among the last ones had the number that was due.
    pub fn counts(&self) -> bool {
        let expected = self.history.count_ones();
        let single = u64::from(self.foreign) * 100 <= u64::from(self.expected);
        expected >= 4 && 10 * expected >= 9 * u32::from(self.length) && single
    }

    /// Whether a packet that brings nothing new is a copy: it is no newer than the last one seen, by a counter that is
    /// trusted, or because it took another path to the tap (RFC 791: a router lowers the TTL and keeps the number).
    pub fn is_repeated_by(&self, segment: &Segment) -> bool {
        let (Some(id), Some((last, _))) = (segment.ip_id, self.last) else { return false };
        let back = i32::from(last.wrapping_sub(id) as i16);
        if id.wrapping_sub(self.skipped.0) < self.skipped.1.wrapping_sub(self.skipped.0) {
            // It did not pass before: it was overtaken.
            return false;
        }
        let elsewhere = self.comes_elsewhere(segment);
        let at_once = back == 0 && segment.ack == self.ack && segment.time - self.time < COPY_AGE;
        id != 0 && (0..FAR_AHEAD as i32).contains(&back) && (self.counts() || elsewhere || at_once)
    }

    /// Another path than the last packet's led to the tap.
    pub fn comes_elsewhere(&self, segment: &Segment) -> bool {
        self.ttl.is_some() && segment.ttl != self.ttl
    }

    /// True if a later packet had another number than this one, not the field's default of 0, or earlier ones had: a sender
    /// gives a packet that it sends again a new number.
    pub fn moved_on(&self, segment: &Segment) -> bool {
        let moves = self.expected > 0 || self.skipped.0 != self.skipped.1;
        segment.ip_id.is_some_and(|id| id != 0 && self.last.is_some_and(|(last, _)| last != id || moves))
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

    /// True if the packet followed last was sent before one that had passed already, by a counter that is trusted.
    pub fn was_overtaken(&self) -> bool {
        self.overtaken && self.counts()
    }

    /// A packet passes; a TSO frame uses one number a segment of `mss` bytes.
    #[inline]
    pub fn follow(&mut self, segment: &Segment, mss: u32) {
        let Some(id) = segment.ip_id else { return };
        let step = if segment.payload <= mss { 1 } else { segment.payload.div_ceil(mss) };
        if let Some((last, expected)) = self.last {
            let back = last.wrapping_sub(id) as i16;
            self.overtaken = back >= 0;
            // The same number again is no counter's: many stacks leave the field 0 where a packet must not be split (RFC 6864 §4.1).
            if (1..REORDERED).contains(&back) {
                // The jump over it was no fault of the counter.
                self.history |= self.history.wrapping_add(1);
                return;
            }
            let due = u32::from(id.wrapping_sub(last)) == expected;
            if !due && back < 0 {
                self.skipped = (last.wrapping_add(expected as u16), id);
            }
            self.history = self.history << 1 | u32::from(due);
            self.length = (self.length + 1).min(32);
            self.expected += u32::from(due);
            if self.overtaken {
                return;
            }
        }
        (self.last, self.time) = (Some((id, step)), segment.time);
        (self.ack, self.ttl) = (segment.ack, segment.ttl);
    }
}
