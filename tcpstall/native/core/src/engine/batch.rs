//! Batches of segments, in the order of their times, on the way from the reader to the flows.

use super::deal::{Dealer, Dealt};
use crate::flow::tap::clock_steps::SHORTEST_STEP;
use crate::packet_no::PacketNo;
use crate::time::Nanos;
use crate::wire::{Segment, tunnel::Tunnel};

/// Segments of one batch: small enough to stay in the cache between the reader and the flows, large enough that the
/// hand-over is cheap compared with the work on it.
pub(super) const CAPACITY: usize = 2048;
/// Packets by which a later packet may precede an earlier one: receive queues and processors are emptied in turn. Where
/// time goes back by [`SHORTEST_STEP`] the clock was set, and the order in the file is the only one.
const HELD: usize = 128;

/// Notes that a few segments have, by packet number, in order.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Notes<T>(Vec<(PacketNo, T)>);

impl<T> Notes<T> {
    /// The note of a segment.
    #[inline]
    pub(super) fn of(&self, segment: &Segment) -> Option<&T> {
        if self.0.is_empty() {
            return None;
        }
        let at = self.0.binary_search_by_key(&segment.packet, |note| note.0).ok()?;
        Some(&self.0[at].1)
    }

    /// Moves the notes of those segments.
    fn follow(&mut self, segments: &[Segment], to: &mut Notes<T>) {
        let Some(first) = segments.iter().map(|segment| segment.packet).min() else { return };
        let from = self.0.partition_point(|note| note.0 < first);
        let is_theirs = |note: &mut (PacketNo, T)| segments.iter().any(|segment| segment.packet == note.0);
        to.0.extend(self.0.extract_if(from.., is_theirs));
    }
}

/// Number of what segments come from, from a packet on: of their capture in a set, or of their interface.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Runs(Vec<(PacketNo, u32)>);

impl Runs {
    /// The number of the segment; `None` where none was noted.
    #[inline]
    pub(super) fn of(&self, segment: &Segment) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        let after = self.0.partition_point(|(from, _)| *from <= segment.packet);
        Some(self.0[after.saturating_sub(1)].1)
    }

    /// The number of the first segments; `None` where none was noted.
    pub(super) fn first(&self) -> Option<u32> {
        self.0.first().map(|(_, capture)| *capture)
    }

    /// True if the segments come from several.
    pub(super) fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// Assigns packets from `from` on to that number.
    pub(super) fn change(&mut self, from: PacketNo, number: u32) {
        if self.0.last().is_none_or(|last| last.1 != number) {
            self.0.push((from, number));
        }
    }

    /// Replaces the numbers.
    pub(super) fn renumber(&mut self, new: impl Fn(u32) -> u32) {
        self.0.iter_mut().for_each(|(_, number)| *number = new(*number));
    }

    /// The numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|(_, number)| *number)
    }

    /// Copies the runs that hold packets from `first` on.
    fn follow(&self, first: PacketNo, to: &mut Runs) {
        let after = self.0.partition_point(|(from, _)| *from <= first);
        to.0.extend_from_slice(&self.0[after.saturating_sub(1)..]);
    }
}

/// Segments in order of time.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// Always of full length, so that a segment is decoded into its final place.
    segments: Vec<Segment>,
    length: usize,
    /// Start of the part that is sorted by itself: the clock was set before it.
    sorted_from: usize,
    newest: Nanos,
    disordered: bool,
    /// First bytes of payloads that begin a known protocol element.
    pub(super) starts: Notes<Vec<u8>>,
    /// Outer tunnel paths of segments that came through tunnels.
    pub(super) tunnels: Notes<Tunnel>,
    /// The captures of the segments, where the stream has several.
    pub(super) files: Runs,
    /// The interfaces of the segments, where any has one: see [`super::reader::interfaces::Interfaces`].
    pub(super) interfaces: Runs,
    /// Packets were left out after these segments.
    pub(super) left_out: bool,
    /// The stream may continue later after these segments: serialise the flows.
    pub(super) put_down: bool,
    /// Nothing comes after these segments.
    pub(super) last: bool,
    /// Places of the segments by shard.
    pub(super) dealt: Dealt,
}

/// End of a batch that was dealt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchEnd {
    /// Number of the next segment in the stream.
    next: u64,
    last: bool,
}

/// The last segments of a serialised stream: later ones may belong before them.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Held {
    segments: Vec<Segment>,
    newest: Nanos,
    starts: Notes<Vec<u8>>,
    tunnels: Notes<Tunnel>,
    pub(super) files: Runs,
    interfaces: Runs,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch {
            segments: vec![Segment::default(); CAPACITY],
            length: 0,
            sorted_from: 0,
            newest: Nanos(i64::MIN),
            disordered: false,
            starts: Notes(Vec::new()),
            tunnels: Notes(Vec::new()),
            files: Runs::default(),
            interfaces: Runs::default(),
            left_out: false,
            put_down: false,
            last: false,
            dealt: Dealt::default(),
        }
    }
}

impl Batch {
    /// True if the batch is full.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.length == CAPACITY
    }

    /// The place of the next segment, which counts only once [`Batch::keep`] is called. The batch must not be full.
    #[inline]
    pub(super) fn place(&mut self) -> &mut Segment {
        let last = CAPACITY - 1;
        &mut self.segments[self.length.min(last)]
    }

    /// The places of all segments that fit, and the earliest time at which they need no sorting.
    #[inline]
    pub(super) fn room(&mut self) -> (&mut [Segment], Nanos) {
        (&mut self.segments[self.length..], self.newest)
    }

    /// Adds `count` segments written into the room, each no earlier than the one before.
    #[inline]
    pub(super) fn keep_all(&mut self, count: usize) -> &mut [Segment] {
        let kept = &mut self.segments[self.length..self.length + count];
        self.newest = kept.last().map_or(self.newest, |last| last.time);
        self.length += count;
        kept
    }

    /// Adds the segment written into the place.
    #[inline]
    pub(super) fn keep(&mut self) {
        let time = self.place().time;
        if time < self.newest {
            self.goes_back(time);
        } else {
            self.newest = time;
        }
        self.length += 1;
    }

    #[cold]
    fn goes_back(&mut self, time: Nanos) {
        if self.newest - time < SHORTEST_STEP {
            self.disordered = true;
        } else {
            self.sort();
            (self.sorted_from, self.newest) = (self.length, time);
        }
    }

    /// Its end, once it was dealt.
    pub(super) fn end(&self) -> BatchEnd {
        BatchEnd { next: self.dealt.first + self.length as u64, last: self.last }
    }

    /// Deals the segments to shards.
    pub(super) fn deal(&mut self, dealer: &mut Dealer) {
        dealer.deal(&self.segments[..self.length], self.latest(), &mut self.dealt);
    }

    /// The latest time of a segment, once the batch is sorted.
    fn latest(&self) -> Nanos {
        // Where the clock was set back, earlier parts may end later.
        let from = if self.sorted_from == 0 { self.length.saturating_sub(1) } else { 0 };
        self.segments()[from..].iter().map(|segment| segment.time).max().unwrap_or(Nanos(i64::MIN))
    }

    /// Notes that the payload of the last segment begins a known protocol element.
    #[cold]
    pub(super) fn starts_with(&mut self, payload: &[u8]) {
        if let Some(last) = self.segments().last() {
            self.starts.0.push((last.packet, payload.to_vec()));
        }
    }

    /// Notes that the last segment came through a tunnel.
    #[cold]
    pub(super) fn came_through(&mut self, tunnel: Tunnel) {
        if let Some(last) = self.segments().last() {
            self.tunnels.0.push((last.packet, tunnel));
        }
    }

    /// Notes the interface of the last segment, 0 for none.
    #[inline]
    pub(super) fn came_in_at(&mut self, interface: u16) {
        if !self.is_at(interface) {
            self.changes_interface(interface);
        }
    }

    /// A further segment of that interface needs no note.
    #[inline]
    pub(super) fn is_at(&self, interface: u16) -> bool {
        self.interfaces.0.last().map_or(0, |last| last.1) == u32::from(interface)
    }

    /// A segment that was complete only later, of an earlier packet, begins no run.
    #[cold]
    fn changes_interface(&mut self, interface: u16) {
        let [earlier @ .., last] = self.segments() else { return };
        let (packet, begins) = (last.packet, earlier.is_empty());
        if self.interfaces.0.is_empty() && !begins {
            self.interfaces.0.push((PacketNo(0), 0));
        }
        if self.interfaces.0.last().is_none_or(|last| last.0 < packet) {
            self.interfaces.0.push((packet, u32::from(interface)));
        }
    }

    /// The batch notes more of its segments than they hold themselves.
    pub(super) fn has_notes(&self) -> bool {
        let notes = !(self.starts.0.is_empty() && self.tunnels.0.is_empty() && self.files.0.is_empty());
        notes || self.interfaces.are_several()
    }

    /// Sorts the batch. Its last segments move to `held`, because later ones may belong before them.
    pub(super) fn settle(&mut self, held: &mut Batch) {
        self.sort();
        let from = self.sorted_from.max(self.length.saturating_sub(HELD));
        let newest = self.newest;
        let tail = &self.segments[from..self.length];
        let kept = tail.partition_point(|segment| newest - segment.time >= SHORTEST_STEP);
        held.take_over(&tail[kept..], newest);
        self.starts.follow(&tail[kept..], &mut held.starts);
        self.tunnels.follow(&tail[kept..], &mut held.tunnels);
        if let Some(first) = tail[kept..].iter().map(|segment| segment.packet).min() {
            self.files.follow(first, &mut held.files);
            self.interfaces.follow(first, &mut held.interfaces);
        }
        self.length = from + kept;
    }

    fn take_over(&mut self, segments: &[Segment], newest: Nanos) {
        self.segments[..segments.len()].copy_from_slice(segments);
        (self.length, self.newest) = (segments.len(), newest);
    }

    /// Sorts the whole batch: no later segment belongs before its last.
    pub(super) fn sort(&mut self) {
        if std::mem::take(&mut self.disordered) {
            self.segments[self.sorted_from..self.length].sort_by_key(|segment| segment.time);
        }
    }

    /// Empties the batch for other segments.
    pub(super) fn clear(&mut self) {
        (self.length, self.sorted_from, self.newest) = (0, 0, Nanos(i64::MIN));
        (self.disordered, self.left_out, self.put_down, self.last) = (false, false, false, false);
        self.starts.0.clear();
        self.tunnels.0.clear();
        self.files.0.clear();
        self.interfaces.0.clear();
    }

    /// The content of the batch, for serialising.
    pub(super) fn held(&self) -> Held {
        Held {
            segments: self.segments().to_vec(),
            newest: self.newest,
            starts: self.starts.clone(),
            tunnels: self.tunnels.clone(),
            files: self.files.clone(),
            interfaces: self.interfaces.clone(),
        }
    }

    /// A batch with the segments that were held when the stream was serialised.
    pub(super) fn holding(held: Held) -> Batch {
        let Held { mut segments, newest, starts, tunnels, files, interfaces } = held;
        let length = segments.len().min(CAPACITY);
        segments.resize(CAPACITY, Segment::default());
        Batch { segments, length, newest, starts, tunnels, files, interfaces, ..Batch::default() }
    }

    /// The segments of the batch.
    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(batch: &mut Batch, packet: u64, ms: f64) {
        *batch.place() = Segment { packet: PacketNo(packet), time: Nanos((ms * 1e6) as i64), ..Segment::default() };
        batch.keep();
    }

    fn packets(batch: &Batch) -> Vec<u64> {
        batch.segments().iter().map(|segment| segment.packet.0).collect()
    }

    #[test]
    fn neighbours_in_the_wrong_order_change_places() {
        let mut batch = Batch::default();
        [(1, 0.0), (2, 0.9), (3, 0.1), (4, 0.4)].into_iter().for_each(|(packet, ms)| put(&mut batch, packet, ms));
        batch.sort();
        assert_eq!(packets(&batch), [1, 3, 4, 2]);
    }

    #[test]
    fn the_same_time_keeps_the_order_of_the_file() {
        let mut batch = Batch::default();
        [(1, 1.0), (2, 1.0), (3, 0.5), (4, 1.0)].into_iter().for_each(|(packet, ms)| put(&mut batch, packet, ms));
        batch.sort();
        assert_eq!(packets(&batch), [3, 1, 2, 4]);
    }

    #[test]
    fn what_a_clock_set_back_stamped_stays_where_it_is() {
        let mut batch = Batch::default();
        let stamps = [(1, 100.0), (2, 99.1), (3, 50.0), (4, 49.5), (5, 60.0)];
        stamps.into_iter().for_each(|(packet, ms)| put(&mut batch, packet, ms));
        batch.sort();
        assert_eq!(packets(&batch), [2, 1, 4, 3, 5]);
    }

    #[test]
    fn what_comes_in_the_next_batch_may_belong_into_this_one() {
        let (mut batch, mut next) = (Batch::default(), Batch::default());
        [(1, 0.0), (2, 20.0), (3, 20.5)].into_iter().for_each(|(packet, ms)| put(&mut batch, packet, ms));
        batch.starts_with(b"GET /");
        batch.settle(&mut next);
        put(&mut next, 4, 20.3);
        next.sort();
        assert_eq!((packets(&batch), packets(&next)), (vec![1], vec![2, 4, 3]));
        let starts: Vec<_> = next.segments().iter().map(|segment| next.starts.of(segment)).collect();
        assert_eq!(starts, [None, None, Some(&b"GET /".to_vec())]);
    }

    #[test]
    fn a_full_batch_holds_only_so_many_back() {
        let (mut batch, mut next) = (Batch::default(), Batch::default());
        (0..CAPACITY as u64).for_each(|packet| put(&mut batch, packet, 0.0));
        assert!(batch.is_full());
        batch.settle(&mut next);
        assert_eq!((batch.length, next.length), (CAPACITY - HELD, HELD));
    }
}
