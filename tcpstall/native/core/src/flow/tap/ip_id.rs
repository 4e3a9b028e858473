//! Uses a sender's IP-ID field as a counter of its packets: which were sent and did not pass, and in which order.

use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::Segment;

/// Largest jump of a counter that counts for this connection alone.
const FAR_AHEAD: u32 = 4096;
/// Longest time after which a packet with the same IP-ID is a copy that a bridge or `-i any` made.
const COPY_AGE: Nanos = Nanos::from_millis(1);

/// Largest distance, in packets, by which a network reorders.
const REORDERED: i16 = 64;

/// Follows the IP-ID field; trusted while it counts packets one by one, as Linux's does for a connected socket. Where
/// several connections share a counter (Windows keeps one per pair of addresses) it jumps whenever another connection
/// sends.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct IpId {
    last: Option<(u16, u32)>,
    time: Nanos,
    ack: SeqNo,
    ttl: Option<u8>,
    /// One bit for each of the last 32 packets, the newest lowest: 1 where the IP-ID was the expected one.
    history: u32,
    /// Number of valid bits.
    length: u8,
    /// The last skipped IP-IDs: from the first, below the second.
    skipped: (u16, u16),
    /// The last packet had been overtaken by one before it.
    overtaken: bool,
    expected: u32,
    /// Jumps that no loss explains.
    foreign: u32,
}

/// A packet that followed the one before.
#[derive(Clone, Copy, Debug)]
pub struct Followed {
    pub(in crate::flow) id: u16,
    pub(in crate::flow) time: Nanos,
    pub(in crate::flow) ack: SeqNo,
    pub(in crate::flow) ttl: Option<u8>,
}

impl IpId {
    /// At least nine of ten recent packets had the expected IP-ID.
    pub fn counts(&self) -> bool {
        let expected = self.history.count_ones();
        expected >= 4 && 10 * expected >= 9 * u32::from(self.length) && !self.is_shared()
    }

    /// The counter counts packets of other connections too: for each hundred packets it jumps more than once without a loss.
    pub fn is_shared(&self) -> bool {
        u64::from(self.foreign) * 100 > u64::from(self.expected)
    }

    /// True if a packet that brings nothing new is a copy: its IP-ID is no newer than the last by a trusted counter, or
    /// it took another path to the tap (RFC 791: a router lowers the TTL and keeps the IP-ID).
    #[inline(always)]
    pub fn is_repeated_by(&self, segment: &Segment) -> bool {
        let (Some(id), Some((last, _))) = (segment.ip_id, self.last) else { return false };
        let back = i32::from(last.wrapping_sub(id) as i16);
        // Nearly always the IP-ID is a newer one.
        id != 0 && (0..FAR_AHEAD as i32).contains(&back) && self.is_copied_by(segment, id, back)
    }

    /// Classifies a packet whose IP-ID is no newer than the last, and `back` below it.
    #[inline(never)]
    fn is_copied_by(&self, segment: &Segment, id: u16, back: i32) -> bool {
        if id.wrapping_sub(self.skipped.0) < self.skipped.1.wrapping_sub(self.skipped.0) {
            // The packet did not pass before: it was overtaken.
            return false;
        }
        let elsewhere = self.comes_elsewhere(segment);
        let at_once = back == 0 && segment.ack == self.ack && segment.time - self.time < COPY_AGE;
        self.counts() || elsewhere || at_once
    }

    /// The packet took another path to the tap than the last one.
    pub fn comes_elsewhere(&self, segment: &Segment) -> bool {
        self.ttl.is_some() && segment.ttl != self.ttl
    }

    /// True if a later packet had another IP-ID, not the field's default of 0, or earlier packets had: a sender gives a
    /// retransmission a new IP-ID.
    pub fn moved_on(&self, segment: &Segment) -> bool {
        let moves = self.expected > 0 || self.skipped.0 != self.skipped.1;
        segment.ip_id.is_some_and(|id| id != 0 && self.last.is_some_and(|(last, _)| last != id || moves))
    }

    /// Takes in a jump of the counter between two packets that no loss explains, with no data missing between them: the
    /// counter counts other connections' packets too (one counter per host or destination).
    pub fn jumped(&mut self) {
        self.foreign += 1;
    }

    /// Time since the newest packet seen.
    pub fn silence(&self, segment: &Segment) -> Nanos {
        (segment.time - self.time).or_zero()
    }

    /// True if the packet was sent after the newest one seen; `None` where the counter is unreliable.
    pub fn is_newer(&self, segment: &Segment) -> Option<bool> {
        match (segment.ip_id, self.last) {
            (Some(id), Some((last, _))) if self.counts() => Some((id.wrapping_sub(last) as i16) > 0),
            _ => None,
        }
    }

    /// The IP-ID is one of a few that packets before skipped: whatever the field counts, the packet was sent before them. A
    /// retransmission gets a new one.
    pub fn was_skipped(&self, segment: &Segment) -> bool {
        let (from, to) = self.skipped;
        let few = to.wrapping_sub(from) <= REORDERED as u16;
        few && segment.ip_id.is_some_and(|id| id != 0 && id.wrapping_sub(from) < to.wrapping_sub(from))
    }

    /// The packet has the IP-ID that follows the last one's: it is no copy, and nothing is missing before it.
    #[inline(always)]
    pub fn is_due(&self, segment: &Segment) -> bool {
        let (Some(id), Some((last, expected))) = (segment.ip_id, self.last) else { return false };
        let ahead = id.wrapping_sub(last);
        u32::from(ahead) == expected && ahead.wrapping_sub(1) < 1 << 15
    }

    /// The IP-ID that follows the last one's, `None` in it where packets have none; `None` where that is not known.
    pub fn next(&self) -> Option<Option<u16>> {
        match self.last {
            None => Some(None),
            Some((last, step)) => (1..=1 << 15).contains(&step).then(|| Some(last.wrapping_add(step as u16))),
        }
    }

    /// Takes in a packet that its sender sent again with the IP-ID that it had.
    #[cold]
    pub fn passes_again(&mut self) {
        self.overtaken = false;
    }

    /// The last packet was sent before one that had passed already.
    pub fn was_late(&self) -> bool {
        self.overtaken
    }

    /// Takes in such a packet of one segment, as [`IpId::follow`] does.
    #[inline(always)]
    pub fn goes_on(&mut self, segment: &Segment) {
        self.last = segment.ip_id.map(|id| (id, 1));
        self.overtaken = false;
        self.counted(true);
        (self.time, self.ack, self.ttl) = (segment.time, segment.ack, segment.ttl);
    }

    /// Takes in `count` such packets one after another; the newest was `last`.
    pub fn went_on(&mut self, count: u32, last: Followed) {
        let Followed { id, time, ack, ttl } = last;
        let few = count.min(32);
        self.last = Some((id, 1));
        self.overtaken = false;
        self.history = (u64::from(self.history) << few | ((1 << few) - 1)) as u32;
        self.length = (u32::from(self.length) + few).min(32) as u8;
        self.expected += count;
        (self.time, self.ack, self.ttl) = (time, ack, ttl);
    }

    /// Packets sent since the last one seen that did not pass; 0 where the counter is unreliable.
    #[inline(always)]
    pub fn missing_before(&self, segment: &Segment) -> u32 {
        let (Some(id), Some((last, step))) = (segment.ip_id, self.last) else { return 0 };
        let ahead = u32::from(id.wrapping_sub(last));
        // Nearly always nothing is missing, whatever the counter.
        if ahead > step && ahead < step + FAR_AHEAD && self.counts() { ahead - step } else { 0 }
    }

    /// True if the last packet was sent before one that had passed already, by a trusted counter.
    #[inline]
    pub fn was_overtaken(&self) -> bool {
        self.overtaken && self.counts()
    }

    /// Takes in a packet; a TSO frame uses one IP-ID per segment of `mss` bytes.
    #[inline(always)]
    pub fn follow(&mut self, segment: &Segment, mss: u32) {
        let Some(id) = segment.ip_id else { return };
        let step = if segment.payload <= mss { 1 } else { segment.payload.div_ceil(mss) };
        if let Some((last, expected)) = &mut self.last {
            let ahead = id.wrapping_sub(*last);
            let due = u32::from(ahead) == *expected;
            if due && ahead.wrapping_sub(1) < 1 << 15 {
                (*last, *expected, self.overtaken) = (id, step, false);
                self.counted(true);
            } else if self.strays(id, ahead.wrapping_neg() as i16, due) {
                return;
            } else {
                self.last = Some((id, step));
            }
        } else {
            self.last = Some((id, step));
        }
        (self.time, self.ack, self.ttl) = (segment.time, segment.ack, segment.ttl);
    }

    #[inline(always)]
    fn counted(&mut self, due: bool) {
        self.history = self.history << 1 | u32::from(due);
        if self.length < 32 {
            self.length += 1;
        }
        self.expected += u32::from(due);
    }

    /// Takes in an IP-ID that is not the next one; `back` is its distance below the last. True if the packet was sent
    /// before the last one.
    #[cold]
    fn strays(&mut self, id: u16, back: i16, due: bool) -> bool {
        self.overtaken = back >= 0;
        // A repeated IP-ID is no counter: many stacks leave the field 0 where a packet must not be fragmented (RFC
        // 6864 §4.1).
        if (1..REORDERED).contains(&back) {
            // The counter had not jumped over this packet: the packet was late.
            self.history |= self.history.wrapping_add(1);
            return true;
        }
        if !due
            && back < 0
            && let Some((last, expected)) = self.last
        {
            self.skipped = (last.wrapping_add(expected as u16), id);
        }
        self.counted(due);
        self.overtaken
    }
}
