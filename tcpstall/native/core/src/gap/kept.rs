//! The frozen gaps of one sender while its flow is open.

use super::evidence::Gap;
use crate::list;

/// Newest gaps that are never packed: later packets still change them, such as an ACK stored late or a proof that a
/// retransmission was needless.
const NEWEST: usize = 8;
/// Bytes reserved per packed gap; most need fewer.
const ROUGHLY: usize = 320;

/// Gaps in order of time. Where memory is short the older ones are packed: numbers in as many bytes as they need,
/// absent values in one.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Kept {
    packed: Vec<u8>,
    older: usize,
    newest: Vec<Gap>,
}

impl Kept {
    /// Number of gaps.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.older + self.newest.len()
    }

    /// Memory of the gaps, bytes.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.newest.len() * size_of::<Gap>() + self.packed.len()
    }

    /// Adds a gap.
    pub(super) fn push(&mut self, gap: Gap) {
        list::push(&mut self.newest, gap);
    }

    /// The newest gap.
    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut Gap> {
        self.newest.last_mut()
    }

    /// The gap with that number, if it is not packed.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Gap> {
        self.newest.get_mut(number.checked_sub(self.older)?)
    }

    /// Packs all but the newest gaps, once enough have accumulated.
    #[inline]
    pub(super) fn pack(&mut self) {
        if self.newest.len() >= 2 * NEWEST {
            self.pack_older();
        }
    }

    #[cold]
    fn pack_older(&mut self) {
        let older = self.newest.len() - NEWEST;
        list::reserve(&mut self.packed, older * ROUGHLY);
        for gap in self.newest.drain(..older) {
            // Writing to memory cannot fail.
            if let Ok(bytes) = postcard::to_extend(&gap, std::mem::take(&mut self.packed)) {
                self.packed = bytes;
                self.older += 1;
            }
        }
        self.newest.shrink_to(2 * NEWEST);
    }

    /// Returns all gaps, unpacked.
    pub(super) fn unpacked(self) -> Vec<Gap> {
        if self.older == 0 {
            return self.newest;
        }
        let mut gaps = Vec::with_capacity(self.len());
        let mut rest = self.packed.as_slice();
        while let Ok((gap, after)) = postcard::take_from_bytes(rest) {
            gaps.push(gap);
            rest = after;
        }
        gaps.extend(self.newest);
        gaps
    }
}

#[cfg(test)]
mod tests {
    use crate::gap::Watch;
    use crate::seq::SeqNo;
    use crate::time::Nanos;
    use crate::wire::{Address, Endpoint, Flags, Segment};

    fn segment(ms: i64, from: u8, seq: u32, ack: u32, payload: u32) -> Segment {
        let end = |host: u8| Endpoint { address: Address::v4([10, 0, 0, host]), port: u16::from(host) };
        let time = Nanos(1_700_000_000_000_000_000 + ms * 1_000_000);
        let (source, destination) = (end(from), end(1 - from));
        let (seq, ack, flags, window) = (SeqNo(seq), SeqNo(ack), Flags::ACK, 500);
        Segment { time, source, destination, seq, ack, flags, window, payload, ..Segment::default() }
    }

    /// Plays exchanges of a few bytes, some of them retransmitted.
    fn followed(packed: bool) -> Box<Watch> {
        let mut watch = Box::new(Watch::new(&segment(0, 0, 1, 1, 100)));
        for turn in 0..100 {
            let (at, said) = (i64::from(turn) * 50, 1 + 100 * turn);
            watch.sees(&segment(at, 0, said, said, 100));
            if turn % 7 == 0 {
                watch.sees(&segment(at + 20, 0, said, said, 100));
            }
            watch.sees(&segment(at + 31, 1, said, said + 100, 100));
            if packed {
                watch.packs_gaps();
            }
        }
        watch
    }

    #[test]
    fn packed_gaps_come_back_as_they_were_and_take_less() {
        let (mut plain, mut packed) = (followed(false), followed(true));
        let (less, more) = (packed.holds().1, plain.holds().1);
        assert!(less * 2 < more, "{less} of {more}");

        let (plain, packed) = (plain.finish().gaps, packed.finish().gaps);
        assert!(plain[0].len() > 50 && plain[1].len() > 50);
        assert!(plain.iter().flatten().any(|gap| gap.repair.is_some()));
        assert_eq!(format!("{packed:?}"), format!("{plain:?}"));
    }
}
