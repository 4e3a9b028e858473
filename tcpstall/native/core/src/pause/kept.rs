//! The frozen pauses of one sender while its flow is open, and later facts about them. No pause is changed: the list gives
//! out shared references alone.

use super::evidence::Facts;
use super::later::Later;
use super::packed::{Packer, Unpacker};
use crate::vec_chunks::Chunks;
use crate::vec_growth;

/// Newest pauses that are never packed: later packets still tell of them, such as an ACK stored late or a proof that a
/// retransmission was needless.
const NEWEST: usize = 8;
/// Bytes reserved per packed pause; most need fewer.
const ROUGHLY: usize = 320;
/// Most places that another flow takes over.
const SMALL: usize = 8;

/// Pauses in order of time. Where memory is short the older ones are packed: numbers in as many bytes as they need, absent
/// values and zeros in a bit.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct KeptPauses {
    packed: Vec<u8>,
    older: usize,
    newest: Chunks<Facts>,
    /// Facts that came after a pause's end, in the order of the pauses' numbers.
    later: Vec<Later>,
}

impl KeptPauses {
    /// No pauses, in the memory of those of a flow that is over, where that is small.
    pub(super) fn renewed(mut past: Vec<Facts>) -> KeptPauses {
        KeptPauses { newest: Chunks::renewed(vec_growth::emptied(&mut past, SMALL)), ..KeptPauses::default() }
    }

    /// Number of pauses.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.older + self.newest.count()
    }

    /// Memory of the pauses, bytes.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.newest.count() * size_of::<Facts>() + self.packed.len() + self.later.len() * size_of::<Later>()
    }

    /// Adds a pause.
    #[inline]
    pub(super) fn push(&mut self, pause: Facts) {
        self.newest.push(pause);
    }

    /// The newest pause, as it was frozen.
    #[inline]
    pub(super) fn newest(&self) -> Option<&Facts> {
        self.newest.last()
    }

    /// Later facts about the newest pause, if there are any.
    pub(super) fn later(&self) -> Option<&Later> {
        self.later.last().filter(|later| later.pause + 1 == self.len())
    }

    /// The pause with that number, as it was frozen, if it is not packed.
    pub(super) fn get(&self, number: usize) -> Option<&Facts> {
        self.newest.get(number.checked_sub(self.older)?)
    }

    /// Later facts about the newest pause, to add one.
    #[cold]
    pub(super) fn learns_of_newest(&mut self) -> Option<&mut Later> {
        self.len().checked_sub(1).map(|newest| self.learns_of(newest))
    }

    /// Later facts about the pause with that number, to add one.
    #[cold]
    pub(super) fn learns_of(&mut self, number: usize) -> &mut Later {
        let at = self.later.partition_point(|later| later.pause < number);
        if self.later.get(at).is_none_or(|later| later.pause != number) {
            self.later.insert(at, Later::about(number));
        }
        &mut self.later[at]
    }

    /// Packs the pauses of full chunks, once enough newer ones have accumulated.
    #[inline]
    pub(super) fn pack(&mut self) {
        if self.newest.loose() >= NEWEST && self.newest.loose() < self.newest.count() {
            self.pack_older();
        }
    }

    #[cold]
    fn pack_older(&mut self) {
        let older = self.newest.count() - self.newest.loose();
        vec_growth::reserve(&mut self.packed, older * ROUGHLY);
        self.older += older;
        let mut packer = Packer::behind(std::mem::take(&mut self.packed));
        self.newest.take_full().iter().flatten().for_each(|pause| packer.add(pause));
        self.packed = packer.bytes();
    }

    /// Returns all pauses, unpacked, and later facts about them.
    pub(super) fn unpacked(self) -> (Vec<Facts>, Vec<Later>) {
        let joins = self.len() > self.newest.loose();
        let mut pauses = Vec::with_capacity(if joins { self.len() } else { 0 });
        let mut packed = Unpacker::of(&self.packed);
        while let Some(pause) = packed.next() {
            pauses.push(pause);
        }
        (self.newest.joined_to(pauses), self.later)
    }
}

#[cfg(test)]
mod tests {
    use super::KeptPauses;
    use crate::pause::{Pauses, Watch};
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
                watch.packs_pauses();
            }
        }
        watch
    }

    #[test]
    fn packed_pauses_come_back_as_they_were_and_take_less() {
        let (mut plain, mut packed) = (followed(false), followed(true));
        let (less, more) = (packed.holds().1, plain.holds().1);
        assert!(less * 2 < more, "{less} of {more}");

        let (plain, packed) = (plain.finish().pauses, packed.finish().pauses);
        assert!(plain[0].len() > 50 && plain[1].len() > 50);
        assert!(plain.iter().flat_map(Pauses::iter).any(|pause| pause.repair.is_some()));
        assert_eq!(format!("{packed:?}"), format!("{plain:?}"));
    }

    #[test]
    fn later_facts_are_kept_beside_the_pauses_in_their_order() {
        let mut kept = KeptPauses::default();
        assert!(kept.learns_of_newest().is_none() && kept.later().is_none());
        for number in [3, 1, 3, 2] {
            kept.learns_of(number).not_lost += 1;
        }
        let facts: Vec<_> = kept.later.iter().map(|later| (later.pause, later.not_lost)).collect();
        assert_eq!(facts, [(1, 1), (2, 1), (3, 2)]);
    }
}
