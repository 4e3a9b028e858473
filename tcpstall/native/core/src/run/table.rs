//! The flows of one capture: found by their two ends, finished when they are over.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::flow::connection::Effect;
use crate::flow::{Sending, State};
use crate::gap::{Finished, Seen, Watch};
use crate::time::Nanos;
use crate::wire::{Endpoint, Segment, tunnel::Tunnel};

/// A connection that is over stays this long after its last segment by the capture's clock: a FIN or data that is still sent
/// again may be so far apart (Linux TCP_RTO_MAX, RFC 6298 §2.5 allows no lower limit than 60 s; RFC 9293 §3.4.3 asks for 4 minutes).
const LINGER: Nanos = Nanos::from_millis(120_000);
/// No more than so many stay.
const LINGERING: usize = 1_024;

/// Starts of flows held at once, a kilobyte or two each; the flows beyond go without a label.
const STARTS_HELD: usize = 1 << 15;

/// Both ends, the lesser first, so that both directions find the same flow.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key(Endpoint, Endpoint);

impl Key {
    #[inline]
    fn of(segment: &Segment) -> Key {
        let (a, b) = (segment.source, segment.destination);
        if a <= b { Key(a, b) } else { Key(b, a) }
    }
}

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.0.address.0);
        state.write_u128(self.1.address.0);
        state.write_u32(u32::from(self.0.port) << 16 | u32::from(self.1.port));
    }
}

struct Entry {
    id: u64,
    key: Key,
    lingers: bool,
    watch: Box<Watch>,
}

/// The open flows of a capture.
#[derive(Default)]
pub(super) struct Table {
    /// Slots of `entries` by the hash of their keys: four bytes a flow, so that looking one up misses the cache once.
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    lingering: VecDeque<(Nanos, u32, u64)>,
    recent: Option<(Key, u32)>,
    starts_held: usize,
}

/// A flow that is over, with its id.
pub(super) type Over = (u64, Finished);

impl Table {
    /// Takes in a segment; `next_id` numbers new flows. Flows that are over by now go to `done`. Gives the segment's flow.
    #[inline]
    pub(super) fn sees(
        &mut self,
        segment: &Segment,
        next_id: &mut u64,
        done: &mut Vec<Over>,
    ) -> Option<(u64, Seen, &Watch)> {
        if !self.lingering.is_empty() {
            self.release(segment.time, done);
        }
        let key = Key::of(segment);
        let mut slot = self.find(key);
        if let Some(at) = slot
            && self.entries[at as usize].as_ref().is_some_and(|entry| entry.watch.connection.is_reused_by(segment))
        {
            self.finish(at, done);
            slot = None;
        }
        let slot = slot.unwrap_or_else(|| self.open(key, segment, next_id));
        let entry = self.entries[slot as usize].as_mut()?;
        let seen = entry.watch.sees(segment);
        let over = matches!(entry.watch.connection.state, State::Closed | State::Reset);
        if over && !entry.lingers {
            entry.lingers = true;
            let id = entry.id;
            self.lingering.push_back((segment.time, slot, id));
        }
        Some((entry.id, seen, &entry.watch))
    }

    #[inline]
    fn find(&mut self, key: Key) -> Option<u32> {
        match self.recent {
            Some((recent, slot)) if recent == key => Some(slot),
            _ => {
                let hash = self.hasher.hash_one(key);
                let is_this = |slot: &u32| self.entries[*slot as usize].as_ref().is_some_and(|entry| entry.key == key);
                let slot = *self.index.find(hash, is_this)?;
                self.recent = Some((key, slot));
                Some(slot)
            }
        }
    }

    fn open(&mut self, key: Key, segment: &Segment, next_id: &mut u64) -> u32 {
        let entry = Some(Entry { id: *next_id, key, lingers: false, watch: Box::new(Watch::new(segment)) });
        *next_id += 1;
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
        let (hasher, entries) = (&self.hasher, &self.entries);
        let hash_of = |slot: &u32| entries[*slot as usize].as_ref().map_or(0, |entry| hasher.hash_one(entry.key));
        self.index.insert_unique(hasher.hash_one(key), slot, hash_of);
        self.recent = Some((key, slot));
        slot
    }

    /// The payload of the segment just seen begins something with a name.
    #[cold]
    pub(super) fn begins_with(&mut self, segment: &Segment, seen: Seen, payload: &[u8]) {
        let names = matches!(seen.effect, Effect::Data(Sending::New { .. }));
        let Some(slot) = self.find(Key::of(segment)).filter(|_| names && self.starts_held < STARTS_HELD) else {
            return;
        };
        if let Some(entry) = &mut self.entries[slot as usize] {
            self.starts_held += usize::from(entry.watch.begins_with(seen.sender, payload));
        }
    }

    /// The segment just seen came through a tunnel.
    #[cold]
    pub(super) fn came_through(&mut self, segment: &Segment, tunnel: Option<&Tunnel>) {
        if let (Some(slot), Some(tunnel)) = (self.find(Key::of(segment)), tunnel)
            && let Some(entry) = &mut self.entries[slot as usize]
        {
            entry.watch.came_through(tunnel);
        }
    }

    fn release(&mut self, now: Nanos, done: &mut Vec<Over>) {
        while let Some(&(since, slot, id)) = self.lingering.front() {
            if now - since < LINGER && self.lingering.len() <= LINGERING {
                break;
            }
            self.lingering.pop_front();
            let last = self.entries[slot as usize].as_ref().filter(|entry| entry.id == id);
            let last = last.map_or(since, |entry| entry.watch.connection.end);
            if last > since && now - last < LINGER && self.lingering.len() < LINGERING {
                self.lingering.push_back((last, slot, id));
                continue;
            }
            if self.entries[slot as usize].as_ref().is_some_and(|entry| entry.id == id) {
                self.finish(slot, done);
            }
        }
    }

    fn finish(&mut self, slot: u32, done: &mut Vec<Over>) {
        if let Some(entry) = self.entries[slot as usize].take() {
            let hash = self.hasher.hash_one(entry.key);
            if let Ok(found) = self.index.find_entry(hash, |other| *other == slot) {
                found.remove();
            }
            self.free.push(slot);
            self.recent = None;
            let finished = entry.watch.finish();
            self.starts_held -= usize::from(finished.starts().is_some());
            done.push((entry.id, finished));
        }
    }

    /// Whoever pasted the capture left packets out here, of whichever flow.
    pub(super) fn left_out(&mut self) {
        self.entries.iter_mut().flatten().for_each(|entry| entry.watch.left_out());
    }

    /// The capture is over: the flows that are still open, in the order of their first segments.
    pub(super) fn drain(self) -> impl Iterator<Item = Over> {
        let mut entries: Vec<Entry> = self.entries.into_iter().flatten().collect();
        entries.sort_by_key(|entry| entry.id);
        entries.into_iter().map(|entry| (entry.id, entry.watch.finish()))
    }
}
