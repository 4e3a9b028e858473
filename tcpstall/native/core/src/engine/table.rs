//! A table of flows: they are found by their two ends, and finished when they are over.

mod dealt;
mod flights;
mod marks;
mod open;
mod pauses;
mod shelf;

use std::collections::VecDeque;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use self::flights::Flights;
pub(super) use self::open::Queues;
use self::pauses::Pauses;
use self::shelf::Shelf;
use super::deal::SHARDS;
use super::entry::{Ended, Entry, Flow, Key};
use super::sets::NEVER;
use super::spare::Spare;
use super::waiting::{TablePlace, Turn, Waiting};
use crate::flow::connection::Effect;
use crate::flow::{Sending, State};
use crate::pause::{SeenSegment, Watch};
use crate::time::Nanos;
use crate::wire::{Flags, Segment, tunnel::Tunnel};

/// Capture time for which a finished connection stays: a FIN or data may be retransmitted after as long a pause (Linux
/// TCP_RTO_MAX; RFC 6298 §2.5 allows no lower limit than 60 s; RFC 9293 §3.4.3 asks for 4 minutes).
const LINGER: Nanos = Nanos::from_millis(120_000);
/// Most finished connections that stay.
const LINGERING: usize = 1_024 / SHARDS;

/// Flows followed at once, about 6 KB each; beyond that the flow with the longest silence rests.
const FOLLOWED: usize = (1 << 14) / SHARDS;
/// Silence after which a flow is removed: RFC 5382 §5 lets middleboxes forget a connection after 2 hours and 4 minutes.
const FOLLOWED_IDLE: Nanos = Nanos::from_millis(7_440_000);
/// Most connections kept with only a SYN and an answer, half a kilobyte each: a flood has millions.
const HALF_OPEN: usize = (1 << 16) / SHARDS;
/// Time that an unanswered SYN is kept: RFC 5382 §5 lets middleboxes forget it after 4 minutes; Linux sends the last
/// one again 63 s after the first (tcp_syn_retries 6) and gives up at 127 s.
const HALF_OPEN_IDLE: Nanos = Nanos::from_millis(240_000);

/// Starts of flows held at once, one or two kilobytes each; further flows get no label.
const STARTS_HELD: usize = (1 << 15) / SHARDS;

/// The open flows of one shard of a stream. Limits are those of the shard.
pub(super) struct Table {
    /// The shard's number.
    pub(super) shard: usize,
    /// Number of the present segment in the stream: a flow that opens now gets it as its id.
    pub(super) at: u64,
    /// Numbers of the segments that opened flows, since they were last taken.
    pub(super) opened: Vec<u64>,
    /// The number of the capture that segments come from.
    capture: u32,
    /// The first capture that was not reported before: flows that end earlier are not reported.
    told_from: u32,
    /// Slots of `entries` by the hash of their keys: four bytes per flow, so that a lookup misses the cache once.
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    pub(super) spare: Spare,
    lingering: VecDeque<TablePlace>,
    /// When the first of these is over.
    due: Nanos,
    recent: Option<(Key, u32)>,
    starts_held: usize,
    pauses: Pauses,
    flights: Flights,
    /// Marks of left-out packets so far.
    marks: u64,
    half_open: Waiting,
    followed: Waiting,
    resting: Shelf,
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
            capture,
            told_from,
            index: HashTable::default(),
            hasher: DefaultHashBuilder::default(),
            entries: Vec::new(),
            free: Vec::new(),
            spare: Spare::default(),
            lingering: VecDeque::new(),
            due: NEVER,
            recent: None,
            starts_held: 0,
            pauses: Pauses::default(),
            flights: Flights::default(),
            marks: 0,
            half_open: Waiting::new(HALF_OPEN, HALF_OPEN_IDLE),
            followed: Waiting::new(FOLLOWED, FOLLOWED_IDLE),
            resting: Shelf::default(),
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

    /// Takes in a segment. Finished flows go to `done`. Returns the flow, unless only its SYN and the answer have come.
    #[inline(always)]
    pub(super) fn sees(&mut self, segment: &Segment, done: &mut Vec<Ended>) -> Option<(u64, SeenSegment, &Watch)> {
        if segment.time >= self.due || self.lingering.len() > LINGERING {
            self.release(segment.time, done);
        }
        self.latest = self.latest.max(segment.time);
        let found = self.find(segment);
        if self.marks > 0
            && let Some(slot) = found
        {
            self.learns(slot);
        }
        // Nearly every segment is one of a followed flow, and only a SYN can open another on its ports.
        let slot = match found {
            Some(slot) if !segment.flags.has(Flags::SYN) && self.is_followed(slot) => slot,
            _ => self.begins(found, segment, done)?,
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
            self.lingering.push_back(TablePlace { since: segment.time, slot, id: entry.id });
            self.due = self.due.min(segment.time + LINGER);
        }
        Some((entry.id, seen, watch))
    }

    #[inline]
    fn is_followed(&self, slot: u32) -> bool {
        matches!(self.entries.get(slot as usize), Some(Some(Entry { flow: Flow::Followed(_), .. })))
    }

    /// The slot of the flow that the segment opens or wakes, or of which it may open a successor; `None` while only its
    /// SYN and the answer have come.
    #[inline(never)]
    fn begins(&mut self, found: Option<u32>, segment: &Segment, done: &mut Vec<Ended>) -> Option<u32> {
        match found {
            Some(slot) if self.entries[slot as usize].as_mut().is_some_and(|entry| entry.is_answered_by(segment)) => {
                None
            }
            Some(slot) if !self.is_reused_by(slot, segment, done) => Some(slot),
            _ => self.open(segment, done),
        }
    }

    /// True if the segment opens another connection on the ports of this flow, which ends this flow.
    fn is_reused_by(&mut self, slot: u32, segment: &Segment, done: &mut Vec<Ended>) -> bool {
        if self.entries[slot as usize].as_ref().is_some_and(|entry| entry.watch().is_none()) {
            self.follow(slot);
            self.tidy(slot, segment.time, done);
        }
        let Some(watch) = self.entries[slot as usize].as_ref().and_then(Entry::watch) else { return true };
        let reused = watch.connection.is_reused_by(segment);
        if reused {
            self.finish(slot, done);
        }
        reused
    }

    /// Restores a flow that rested, or of which only the first segments were kept.
    #[cold]
    fn follow(&mut self, slot: u32) {
        let Some(entry) = &mut self.entries[slot as usize] else { return };
        match &entry.flow {
            Flow::Followed(_) => return,
            Flow::HalfOpen(_) => self.half_open.leaves(),
            Flow::Resting(resting) => self.resting.leaves(resting),
        }
        self.followed.enters(TablePlace { since: entry.last(), slot, id: entry.id });
        entry.is_followed(&mut self.spare);
        self.flights.returns(entry.watch());
    }

    /// Makes a flow rest that was silent for longer than the others.
    #[cold]
    fn rest(&mut self, slot: u32) {
        let watch = self.entries[slot as usize].as_ref().and_then(Entry::watch);
        self.pauses.leave(watch);
        self.flights.leave(watch);
        self.followed.leaves();
        self.resting.enters(slot, &mut self.entries);
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

    /// Opens a flow; returns its slot unless it begins with a SYN, of which nothing is known until more comes.
    fn open(&mut self, segment: &Segment, done: &mut Vec<Ended>) -> Option<u32> {
        let key = Key::of(segment);
        let half_open = segment.payload == 0
            && !segment.tunnelled
            && segment.flags.0 & (Flags::SYN.0 | Flags::ACK.0) == Flags::SYN.0;
        let flow = match half_open {
            true => Flow::HalfOpen(self.spare.first_segments(segment)),
            false => Flow::Followed(self.spare.watch(segment)),
        };
        let id = self.at;
        self.opened.push(id);
        let entry = Some(Entry { id, key, lingers: false, capture: self.capture, marks: self.marks, flow });
        let slot = match self.free.pop() {
            Some(slot) => {
                self.entries[slot as usize] = entry;
                slot
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        self.insert(key, slot);
        self.recent = Some((key, slot));
        let place = TablePlace { since: segment.time, slot, id };
        if half_open {
            self.half_open.enters(place)
        } else {
            self.followed.enters(place)
        }
        self.tidy(slot, segment.time, done);
        (!half_open).then_some(slot)
    }

    fn insert(&mut self, key: Key, slot: u32) {
        let (hasher, entries) = (&self.hasher, &self.entries);
        let hash_of = |slot: &u32| entries[*slot as usize].as_ref().map_or(0, |entry| hasher.hash_one(entry.key));
        self.index.insert_unique(hasher.hash_one(key), slot, hash_of);
    }

    /// Makes flows rest or removes them, for lack of room or after a long silence, except the one that is `speaking`.
    fn tidy(&mut self, speaking: u32, now: Nanos, done: &mut Vec<Ended>) {
        while let Some(place) = self.half_open.next(now) {
            let entry = self.entries[place.slot as usize].as_ref().filter(|entry| entry.id == place.id);
            let last = entry.filter(|entry| matches!(entry.flow, Flow::HalfOpen(_))).map(Entry::last);
            if last.is_some_and(|last| self.half_open.turn(place, last, now) != Turn::Stays) {
                self.let_go += 1;
                self.finish(place.slot, done);
            }
        }
        while let Some(place) = self.followed.next(now) {
            let entry = self.entries[place.slot as usize].as_ref();
            let Some(watch) = entry.filter(|entry| entry.id == place.id && !entry.lingers).and_then(Entry::watch)
            else {
                continue;
            };
            match self.followed.turn(place, watch.connection.end, now) {
                Turn::Stays => {}
                Turn::NoRoom if place.slot == speaking => self.followed.waits(place),
                Turn::NoRoom => self.rest(place.slot),
                Turn::NoPatience => self.lets_go(place.slot, done),
            }
        }
        while let Some(slot) = self.resting.next(now - FOLLOWED_IDLE, &self.entries) {
            self.follow(slot);
            self.lets_go(slot, done);
        }
    }

    /// Removes a flow while it is open.
    fn lets_go(&mut self, slot: u32, done: &mut Vec<Ended>) {
        if let Some(Entry { flow: Flow::Followed(watch), .. }) = &mut self.entries[slot as usize] {
            watch.let_go = true;
            self.let_go += 1;
            self.finish(slot, done);
        }
    }

    /// Notes that the payload of the segment just seen begins a known protocol element.
    #[cold]
    pub(super) fn begins_with(&mut self, segment: &Segment, seen: SeenSegment, payload: &[u8]) {
        let names = matches!(seen.effect, Effect::Data(Sending::New { .. }));
        let Some(slot) = self.find(segment).filter(|_| names && self.starts_held < STARTS_HELD) else {
            return;
        };
        if let Some(Entry { flow: Flow::Followed(watch), .. }) = &mut self.entries[slot as usize] {
            self.starts_held += usize::from(watch.begins_with(seen.sender, payload));
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

    fn release(&mut self, now: Nanos, done: &mut Vec<Ended>) {
        while let Some(&TablePlace { since, slot, id }) = self.lingering.front() {
            if now - since < LINGER && self.lingering.len() <= LINGERING {
                break;
            }
            self.lingering.pop_front();
            let last = self.entries[slot as usize].as_ref().filter(|entry| entry.id == id);
            let last = last.map_or(since, Entry::last);
            if last > since && now - last < LINGER && self.lingering.len() < LINGERING {
                self.lingering.push_back(TablePlace { since: last, slot, id });
                continue;
            }
            if self.entries[slot as usize].as_ref().is_some_and(|entry| entry.id == id) {
                self.finish(slot, done);
            }
        }
        self.is_due();
    }

    /// Notes when the first lingering flow is over.
    fn is_due(&mut self) {
        self.due = self.lingering.front().map_or(NEVER, |first| first.since + LINGER);
    }

    fn finish(&mut self, slot: u32, done: &mut Vec<Ended>) {
        if let Some(entry) = self.entries[slot as usize].take() {
            let hash = self.hasher.hash_one(entry.key);
            if let Ok(found) = self.index.find_entry(hash, |other| *other == slot) {
                found.remove();
            }
            self.free.push(slot);
            self.recent = None;
            match entry.flow {
                Flow::HalfOpen(_) => self.half_open.leaves(),
                Flow::Followed(_) if !entry.lingers => self.followed.leaves(),
                Flow::Followed(_) | Flow::Resting(_) => {}
            }
            self.pauses.leave(entry.watch());
            self.flights.leave(entry.watch());
            self.starts_held -= usize::from(entry.watch().is_some_and(Watch::has_begun_with));
            if self.capture >= self.told_from {
                done.push(entry.ends(self.at, self.marks, false, self.latest));
            }
        }
    }
}

#[cfg(test)]
mod tests;
