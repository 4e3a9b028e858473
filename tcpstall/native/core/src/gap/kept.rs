//! The frozen gaps of one sender while its flow is open.

use super::evidence::Gap;
use crate::list;

/// So many of the newest stay as they are: later packets still tell of them, an ACK that was stored late, a retransmission that
/// turns out to have been needless.
const NEWEST: usize = 8;
/// What one takes packed, bytes: a little more than most.
const ROUGHLY: usize = 320;

/// In order of time. Where memory is short the older ones are packed: numbers by their size, what is absent as one byte.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Kept {
    packed: Vec<u8>,
    older: usize,
    newest: Vec<Gap>,
}

impl Kept {
    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.older + self.newest.len()
    }

    /// The memory that they take.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.newest.len() * size_of::<Gap>() + self.packed.len()
    }

    /// One more.
    pub(super) fn push(&mut self, gap: Gap) {
        list::push(&mut self.newest, gap);
    }

    /// The newest.
    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut Gap> {
        self.newest.last_mut()
    }

    /// The one of that number, if it is not packed.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Gap> {
        self.newest.get_mut(number.checked_sub(self.older)?)
    }

    /// Packs all but the newest, once that is worth it.
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

    /// All of them as they were.
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

    /// Exchanges of a few bytes, some of them sent again.
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
