//! Serialises all flows of a stream, and restores them into empty shards.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::super::deal::SHARDS;
use super::super::table::{Queues, Table};
use super::{Numbers, Shards};
use crate::engine::table::entry::{Ended, Entry};
use crate::time::Nanos;

/// The flows of a stream at the end of its files, including finished flows that linger.
#[derive(Serialize, Deserialize)]
pub(in super::super) struct KeptFlows<E> {
    next_id: u64,
    marks: u64,
    latest: Nanos,
    entries: Vec<E>,
    queues: Queues,
}

impl<E: Borrow<Entry>> KeptFlows<E> {
    /// The numbers of the captures in which the flows began.
    pub(in super::super) fn captures(&self) -> BTreeSet<u32> {
        self.entries.iter().map(|entry| entry.borrow().capture).collect()
    }
}

/// Smallest past of a flow that is parted: however many flows there are, a part is no single wait.
const LEAST_SHARE: usize = 8;

impl Shards {
    /// Serialises the flows, because the stream may continue later. Parts of flows that are over go to `done`.
    pub(in super::super) fn puts_down(&mut self, done: &mut Vec<Ended>) {
        self.numbers_itself();
        self.parts_long_flows(done);
        let kept = self.kept();
        // Writing to memory cannot fail.
        self.put_down = Some((postcard::to_stdvec(&kept).unwrap_or_default(), kept.captures()));
    }

    /// Begins the next part of each flow whose past exceeds its share, where the past of all flows is too long.
    fn parts_long_flows(&mut self, done: &mut Vec<Ended>) {
        let past = || self.tables.iter().flat_map(Table::entries).map(Entry::past);
        let (flows, all) = (past().count(), past().sum::<usize>());
        let Some(most) = self.most_past.filter(|most| all > *most) else { return };
        // Half of the room stays free: a flow is not parted each time.
        let share = (most / 2 / flows).max(LEAST_SHARE);
        let numbers = &mut self.numbers;
        let mut next_id = || {
            numbers.skip(1);
            numbers.next() - 1
        };
        done.extend(self.tables.iter_mut().flat_map(|table| table.parts_long_flows(share, &mut next_id)));
    }

    /// The serialised flows, and the numbers of the captures in which they began.
    pub(in super::super) fn take_kept(&mut self) -> Option<(Vec<u8>, BTreeSet<u32>)> {
        self.put_down.take()
    }

    /// The flows as they are now.
    fn kept(&self) -> KeptFlows<&Entry> {
        let mut queues = Queues::default();
        self.tables.iter().for_each(|table| queues.extend(table.queues()));
        let mut entries: Vec<&Entry> = self.tables.iter().flat_map(Table::entries).collect();
        entries.sort_unstable_by_key(|entry| entry.id);
        let marks = self.tables.iter().map(Table::marks).max().unwrap_or_default();
        KeptFlows { next_id: self.numbers.next(), marks, latest: self.dealer.latest(), entries, queues }
    }

    /// Puts these flows into empty shards; `number` maps the captures' former numbers.
    pub(in super::super) fn with(mut self, kept: KeptFlows<Entry>, number: impl Fn(u32) -> u32) -> Shards {
        let mut entries: [Vec<Entry>; SHARDS] = Default::default();
        for entry in kept.entries {
            entries[entry.key.shard()].push(Entry { capture: number(entry.capture), ..entry });
        }
        for (table, entries) in self.tables.iter_mut().zip(entries) {
            table.fill(entries, &kept.queues, kept.marks, kept.latest);
        }
        self.numbers = Numbers::new(kept.next_id);
        self.dealer.goes_on(kept.next_id, kept.latest, self.load());
        self
    }
}
