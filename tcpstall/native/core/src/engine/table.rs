//! A table of flows: they are found by their two ends, and finished when they are over.

pub(super) mod beginning;
mod begun;
pub(super) mod brief;
mod dealt;
pub(super) mod entry;
mod flights;
pub(super) mod key;
mod lingering;
mod marks;
mod open;
mod pauses;
pub(super) mod spare;
mod tidy;
pub(super) mod waiting;

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use self::beginning::Beginning;
use self::entry::{Ended, Entry, Flow};
use self::flights::Flights;
use self::key::Key;
use self::lingering::Lingering;
pub(super) use self::open::Queues;
use self::pauses::Pauses;
use self::spare::Spare;
use self::waiting::{TablePlace, Waiting};
use super::deal::SHARDS;
use crate::flow::State;
use crate::pause::{SeenSegment, SegmentKind, Watch};
use crate::time::Nanos;
use crate::wire::{Flags, Segment, tunnel::Tunnel};

/// Flows followed at once, about 6 KB each; beyond that the flow with the longest silence rests: its segments are kept then,
/// and followed in a row.
const FOLLOWED: usize = (1 << 14) / SHARDS;
/// Silence after which a flow is removed: RFC 5382 §5 lets middleboxes forget a connection after 2 hours and 4 minutes.
const FOLLOWED_IDLE: Nanos = Nanos::from_millis(7_440_000);
/// Most flows that rest, and the largest memory of their states and of their segments since, bytes.
const RESTING: usize = (1 << 20) / SHARDS;
const RESTING_BYTES: usize = (768 << 20) / SHARDS;
/// Largest memory of the first segments of flows of which no more is kept, bytes: a flow takes 2 KB at most, and most take
/// half a kilobyte.
const BEGUN_BYTES: usize = (768 << 20) / SHARDS;
/// Most connections kept with only a SYN and an answer, half a kilobyte each: a flood has millions.
const HALF_OPEN: usize = (1 << 16) / SHARDS;
/// Half-open connections that may have room for more segments than their two, two kilobytes each.
const FEW: usize = 2_048 / SHARDS;
/// Time that an unanswered SYN is kept: RFC 5382 §5 lets middleboxes forget it after 4 minutes; Linux sends the last
/// one again 63 s after the first (tcp_syn_retries 6) and gives up at 127 s.
const HALF_OPEN_IDLE: Nanos = Nanos::from_millis(240_000);

/// Starts of flows held at once, one or two kilobytes each; further flows get no label.
const STARTS_HELD: usize = (1 << 15) / SHARDS;

/// The open flows of one shard of a stream. Limits are those of the shard. Neighbours in a list may belong to two threads:
/// they share no line of the processor's cache.
#[repr(align(128))]
pub(super) struct Table {
    /// The shard's number.
    pub(super) shard: usize,
    /// Number of the present segment in the stream: a flow that opens now gets it as its id.
    pub(super) at: u64,
    /// Numbers of the segments that opened flows, since they were last taken.
    pub(super) opened: Vec<u64>,
    /// Flows that are over, since they were last taken.
    pub(super) ended: Vec<Ended>,
    /// The number of the capture that segments come from.
    capture: u32,
    /// The number of the interface that segments come from, 0 for none.
    interface: u16,
    /// The first capture that was not reported before: flows that end earlier are not reported.
    told_from: u32,
    /// Slots of `entries` by the hash of their keys: four bytes per flow, so that a lookup misses the cache once.
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    pub(super) spare: Spare,
    lingering: Lingering,
    recent: Option<(Key, u32)>,
    starts_held: usize,
    pauses: Pauses,
    flights: Flights,
    /// Marks of left-out packets so far.
    marks: u64,
    half_open: Waiting,
    begun: Waiting,
    followed: Waiting,
    resting: Waiting,
    /// Number of rests so far.
    rests: u64,
    /// Number of flows removed while they were open.
    let_go: u64,
    /// The latest segment of any flow.
    latest: Nanos,
}

impl Table {
    /// The table without flows of a shard. Flows that are over before the capture `told_from` were reported already.
    pub(super) fn new(shard: usize, capture: u32, told_from: u32) -> Table {
        Table {
            shard,
            at: 0,
            opened: Vec::new(),
            ended: Vec::new(),
            capture,
            interface: 0,
            told_from,
            index: HashTable::default(),
            hasher: DefaultHashBuilder::default(),
            entries: Vec::new(),
            free: Vec::new(),
            spare: Spare::default(),
            lingering: Lingering::default(),
            recent: None,
            starts_held: 0,
            pauses: Pauses::default(),
            flights: Flights::default(),
            marks: 0,
            half_open: Waiting::new(HALF_OPEN, HALF_OPEN_IDLE),
            begun: Waiting::of_bytes(BEGUN_BYTES, FOLLOWED_IDLE),
            followed: Waiting::new(FOLLOWED, FOLLOWED_IDLE),
            resting: Waiting::new(RESTING, FOLLOWED_IDLE).with_bytes(RESTING_BYTES),
            rests: 0,
            let_go: 0,
            latest: Nanos(i64::MIN),
        }
    }

    /// Number of flows removed while they were open, because there were too many or they were silent for too long.
    pub(super) fn let_go(&self) -> u64 {
        self.let_go
    }

    /// Marks of left-out packets so far.
    pub(super) fn marks(&self) -> u64 {
        self.marks
    }

    /// Frames in flight that were forgotten because memory was short, of flows that are over.
    pub(super) fn forgotten(&self) -> u64 {
        self.flights.forgotten()
    }

    /// Takes in a segment. Finished flows go to `done`. Returns the flow, unless only its first segments are kept: its
    /// SYN and the answer, or more of them where it `KEEPS` them.
    #[inline(always)]
    pub(super) fn sees<const KEEPS: bool>(
        &mut self,
        segment: &Segment,
        done: &mut Vec<Ended>,
    ) -> Option<(u64, SeenSegment, &Watch)> {
        if segment.time >= self.lingering.due() || self.lingering.is_crowded() {
            self.release(segment.time, done);
        }
        self.latest = self.latest.max(segment.time);
        let found = self.find(segment);
        if self.marks > 0 {
            self.learns(found);
        }
        // Nearly every segment is one of a followed flow, and only a SYN can open another on its ports.
        let slot = match found {
            Some(slot) if !segment.flags.has(Flags::SYN) && self.is_followed(slot) => slot,
            Some(slot) if KEEPS && self.keeps(slot, segment, done) => return None,
            _ => self.begins::<KEEPS>(found, segment, done)?,
        };
        let entry = self.entries.get_mut(slot as usize)?.as_mut()?;
        let Flow::Followed(watch) = &mut entry.flow else { return None };
        let seen = watch.sees(segment);
        if seen.ended_pause {
            self.pauses.grow(watch, &self.followed);
        }
        self.flights.grow(watch, &self.followed);
        if matches!(watch.connection.state, State::Closed | State::Reset) && !entry.lingers {
            entry.lingers = true;
            self.followed.leaves();
            self.lingering.enters(TablePlace { since: segment.time, slot, id: entry.id });
        }
        Some((entry.id, seen, watch))
    }

    #[inline]
    fn is_followed(&self, slot: u32) -> bool {
        matches!(self.entries.get(slot as usize), Some(Some(Entry { flow: Flow::Followed(_), .. })))
    }

    /// The slot of the flow that the segment opens or wakes, or of which it may open a successor; `None` where the
    /// segment is only kept.
    #[inline(never)]
    fn begins<const KEEPS: bool>(
        &mut self,
        found: Option<u32>,
        segment: &Segment,
        done: &mut Vec<Ended>,
    ) -> Option<u32> {
        match found {
            Some(slot) if self.entries[slot as usize].as_mut().is_some_and(|entry| entry.is_answered_by(segment)) => {
                None
            }
            Some(slot) if !self.is_reused_by(slot, segment, done) => Some(slot),
            _ => self.open::<KEEPS>(segment, done),
        }
    }

    /// True if the segment opens another connection on the ports of this flow, which ends this flow.
    fn is_reused_by(&mut self, slot: u32, segment: &Segment, done: &mut Vec<Ended>) -> bool {
        if self.follow(slot) {
            self.tidy(slot, segment.time, done);
        }
        let Some(watch) = self.entries[slot as usize].as_ref().and_then(Entry::watch) else { return true };
        let reused = watch.connection.is_reused_by(segment);
        if reused {
            self.finish(slot, done);
        }
        reused
    }

    /// Restores the whole state of a flow that rested, or of which only the first segments were kept; true if it joins
    /// those that are followed at once.
    #[cold]
    fn follow(&mut self, slot: u32) -> bool {
        let Some(entry) = &mut self.entries[slot as usize] else { return false };
        let place = TablePlace { since: entry.last(), slot, id: entry.id };
        match &entry.flow {
            Flow::Followed(_) => return false,
            Flow::Begun(beginning) if beginning.is_half_open() => self.half_open.leaves(),
            Flow::Begun(_) if entry.lingers => {}
            Flow::Begun(beginning) => self.begun.leaves_with(beginning.memory()),
            Flow::Resting(resting) => {
                self.resting.leaves_with(resting.bytes());
                self.flights.returns(resting.forgotten());
            }
        }
        let joins = !entry.lingers;
        if joins {
            self.followed.enters(place);
        }
        self.starts_held -= usize::from(entry.has_begun_with());
        entry.is_followed(&mut self.spare);
        self.starts_held += usize::from(entry.has_begun_with());
        if let Flow::Followed(watch) = &mut entry.flow {
            self.pauses.grow(watch, &self.followed);
        }
        joins
    }

    /// The slot of the segment's flow; often it is the flow of the segment before.
    #[inline(always)]
    fn find(&mut self, segment: &Segment) -> Option<u32> {
        match self.recent {
            Some((recent, slot)) if recent.is_of(segment) => Some(slot),
            _ => self.search(Key::of(segment)),
        }
    }

    #[inline(never)]
    fn search(&mut self, key: Key) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        let is_this = |slot: &u32| self.entries[*slot as usize].as_ref().is_some_and(|entry| entry.key == key);
        let slot = *self.index.find(hash, is_this)?;
        self.recent = Some((key, slot));
        Some(slot)
    }

    /// Opens a flow; returns its slot unless only its first segments are kept.
    fn open<const KEEPS: bool>(&mut self, segment: &Segment, done: &mut Vec<Ended>) -> Option<u32> {
        let key = Key::of(segment);
        let half_open = segment.payload == 0
            && !segment.tunnelled
            && segment.flags.0 & (Flags::SYN.0 | Flags::ACK.0) == Flags::SYN.0;
        // Many half-open connections are a flood: they get no lists with room for more.
        let roomy = !half_open || self.half_open.live() < FEW;
        let spare = roomy.then_some(&mut self.spare);
        let kept = (half_open || KEEPS).then(|| Beginning::of(segment, &key, half_open, spare)).flatten();
        let flow = kept.map_or_else(|| Flow::Followed(self.spare.watch(segment)), Flow::Begun);
        let over = matches!(&flow, Flow::Begun(beginning) if beginning.is_over());
        let entry = Entry {
            id: self.at,
            key,
            lingers: over,
            capture: self.capture,
            interface: self.interface,
            marks: self.marks,
            flow,
        };
        let followed = entry.is_under_way();
        self.opened.push(entry.id);
        let slot = self.free.pop().unwrap_or(self.entries.len() as u32);
        let place = TablePlace { since: segment.time, slot, id: entry.id };
        match &entry.flow {
            _ if over => self.lingering.enters(place),
            Flow::Begun(beginning) if beginning.is_half_open() => self.half_open.enters(place),
            Flow::Begun(beginning) => self.begun.enters_with(place, beginning.memory()),
            Flow::Followed(_) | Flow::Resting(_) => self.followed.enters(place),
        }
        if slot as usize == self.entries.len() {
            self.entries.push(None);
        }
        self.entries[slot as usize] = Some(entry);
        self.insert(key, slot);
        self.recent = Some((key, slot));
        self.tidy(slot, segment.time, done);
        followed.then_some(slot)
    }

    fn insert(&mut self, key: Key, slot: u32) {
        let (hasher, entries) = (&self.hasher, &self.entries);
        let hash_of = |slot: &u32| entries[*slot as usize].as_ref().map_or(0, |entry| hasher.hash_one(entry.key));
        self.index.insert_unique(hasher.hash_one(key), slot, hash_of);
    }

    /// Notes that the payload of the segment just seen begins a known protocol element.
    #[cold]
    pub(super) fn begins_with(&mut self, segment: &Segment, seen: SeenSegment, payload: &[u8]) {
        // Only new data can be the flow's first.
        let Some(slot) = self.find(segment).filter(|_| seen.kind == SegmentKind::New) else { return };
        if let Some(Entry { flow: Flow::Followed(watch), .. }) = &mut self.entries[slot as usize] {
            self.starts_held += usize::from(watch.begins_with(seen.sender, segment, payload));
        }
    }

    /// Notes that the segment just seen came through a tunnel.
    #[cold]
    fn came_through(&mut self, segment: &Segment, tunnel: &Tunnel) {
        if let Some(slot) = self.find(segment)
            && let Some(Entry { flow: Flow::Followed(watch), .. }) = &mut self.entries[slot as usize]
        {
            watch.came_through(tunnel);
        }
    }

    /// Notes the interface of the segment just seen, which opened a flow.
    #[cold]
    fn came_in_at(&mut self, segment: &Segment, interface: u16) {
        if let Some(slot) = self.find(segment)
            && let Some(entry) = &mut self.entries[slot as usize]
        {
            entry.interface = interface;
        }
    }

    fn release(&mut self, now: Nanos, done: &mut Vec<Ended>) {
        while let Some(place) = self.lingering.next(now) {
            let entry = self.entries[place.slot as usize].as_ref().filter(|entry| entry.id == place.id);
            let Some(last) = entry.map(Entry::last) else { continue };
            if !self.lingering.stays(place, last, now) {
                self.finish(place.slot, done);
            }
        }
        self.lingering.is_due();
    }

    fn finish(&mut self, slot: u32, done: &mut Vec<Ended>) {
        if let Some(entry) = self.entries[slot as usize].take() {
            let hash = self.hasher.hash_one(entry.key);
            if let Ok(found) = self.index.find_entry(hash, |other| *other == slot) {
                found.remove();
            }
            self.free.push(slot);
            self.recent = None;
            if entry.is_half_open() {
                self.half_open.leaves();
            } else if entry.is_begun() {
                self.begun.leaves_with(entry.beginning_memory());
            } else if entry.is_under_way() {
                self.followed.leaves();
            }
            self.pauses.leave(entry.watch());
            self.flights.leave(entry.watch());
            self.starts_held -= usize::from(entry.has_begun_with());
            if self.capture >= self.told_from {
                done.push(entry.ends(self.at, self.marks, false, self.latest));
            }
        }
    }
}

#[cfg(test)]
mod tests;
