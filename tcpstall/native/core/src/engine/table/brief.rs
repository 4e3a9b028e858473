//! A segment as a flow's beginning keeps it.

use super::key::Key;
use crate::packet_no::PacketNo;
use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::{Flags, Segment, Timestamps, VlanId};

/// A segment without SACK blocks, of a known flow: one line of the processor's cache.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(in crate::engine) struct Brief {
    packet: PacketNo,
    time: Nanos,
    seq: SeqNo,
    ack: SeqNo,
    payload: u32,
    timestamps: Option<Timestamps>,
    ip_id: Option<u16>,
    mss: Option<u16>,
    window: u16,
    ttl: Option<u8>,
    vlan: Option<VlanId>,
    window_scale: Option<u8>,
    flags: Flags,
    sack_permitted: bool,
    multipath: bool,
    fragmented: bool,
    goes_on: bool,
    options_cut: bool,
    /// Sender: the first or the second end of the flow's key.
    from_second: bool,
}

impl Brief {
    /// True if the segment has no more than this.
    #[inline]
    pub(in crate::engine) fn holds(segment: &Segment) -> bool {
        segment.sack_count == 0 && !segment.tunnelled
    }

    /// The segment in brief.
    #[inline]
    pub(in crate::engine) fn of(segment: &Segment, key: &Key) -> Brief {
        Brief {
            packet: segment.packet,
            time: segment.time,
            seq: segment.seq,
            ack: segment.ack,
            payload: segment.payload,
            timestamps: segment.timestamps,
            ip_id: segment.ip_id,
            mss: segment.mss,
            window: segment.window,
            ttl: segment.ttl,
            vlan: segment.vlan,
            window_scale: segment.window_scale,
            flags: segment.flags,
            sack_permitted: segment.sack_permitted,
            multipath: segment.multipath,
            fragmented: segment.fragmented,
            goes_on: segment.goes_on,
            options_cut: segment.options_cut,
            from_second: segment.source != key.0,
        }
    }

    /// Time at the tap.
    pub(in crate::engine) fn time(&self) -> Nanos {
        self.time
    }

    /// Control bits.
    pub(in crate::engine) fn flags(&self) -> Flags {
        self.flags
    }

    /// True if the RST acknowledges this SYN, or follows it.
    pub(in crate::engine) fn is_reset_by(&self, reset: &Segment, key: &Key) -> bool {
        let (next, from_second) = (self.seq.plus(1), reset.source != key.0);
        let answers = reset.flags.has(Flags::ACK) && reset.ack == next;
        if from_second == self.from_second { reset.seq == next } else { answers }
    }

    /// The segment, of the flow with that key.
    pub(in crate::engine) fn segment(&self, key: &Key) -> Segment {
        let mut segment = Segment::default();
        self.replaces(&mut segment, key);
        segment
    }

    /// Puts the segment, of the flow with that key, in the place of another one in brief.
    #[inline]
    pub(in crate::engine) fn replaces(&self, last: &mut Segment, key: &Key) {
        let (source, destination) = if self.from_second { (key.1, key.0) } else { (key.0, key.1) };
        *last = Segment {
            packet: self.packet,
            time: self.time,
            source,
            destination,
            seq: self.seq,
            ack: self.ack,
            flags: self.flags,
            window: self.window,
            payload: self.payload,
            ip_id: self.ip_id,
            ttl: self.ttl,
            vlan: self.vlan,
            timestamps: self.timestamps,
            mss: self.mss,
            window_scale: self.window_scale,
            sack_permitted: self.sack_permitted,
            multipath: self.multipath,
            tunnelled: false,
            fragmented: self.fragmented,
            goes_on: self.goes_on,
            options_cut: self.options_cut,
            sack_count: 0,
            // No block counts.
            sack: last.sack,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::Brief;

    #[test]
    fn a_segment_in_brief_is_one_line_of_the_processors_cache() {
        assert_eq!(size_of::<Brief>(), 64);
    }
}
