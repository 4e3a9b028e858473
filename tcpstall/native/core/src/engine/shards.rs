//! The flows of one stream, in shards.

mod kept;
mod numbers;

use std::collections::BTreeSet;
use std::mem;
use std::vec::Drain;

pub(super) use self::kept::KeptFlows;
pub(super) use self::numbers::Numbers;
use super::batch::Batch;
use super::deal::{Dealer, Load, SHARDS, of_shards, shard_of};
use super::table::Table;
use super::table::entry::{Ended, Over};
use super::table::spare::Spare;
use crate::few::Few;
use crate::pause::{SeenSegment, Watch};
use crate::time::Nanos;
use crate::wire::Segment;

/// The open flows of a stream.
pub(super) struct Shards {
    /// The flows of each shard.
    pub(super) tables: Vec<Table>,
    /// Deals batches to the shards.
    pub(super) dealer: Dealer,
    /// The flows' ids.
    pub(super) numbers: Numbers,
    /// Memory for the states of flows.
    pub(super) spare: Spare,
    most_past: Option<usize>,
    /// All serialised flows, and the captures in which they began.
    put_down: Option<(Vec<u8>, BTreeSet<u32>)>,
}

impl Shards {
    /// Shards without flows; the first flow will have this id, and begin in that capture. Flows that are over before
    /// the capture `told_from` are not reported: they were reported already. For `most_past` see
    /// [`super::Sets::most_past`].
    pub(super) fn new(next_id: u64, capture: u32, told_from: u32, most_past: Option<usize>) -> Shards {
        Shards {
            tables: (0..SHARDS).map(|shard| Table::new(shard, capture, told_from)).collect(),
            dealer: Dealer::new(next_id),
            numbers: Numbers::new(next_id),
            spare: Spare::default(),
            most_past,
            put_down: None,
        }
    }

    /// Number of flows removed while they were open, because there were too many or they were silent for too long.
    pub(super) fn let_go(&self) -> u64 {
        self.tables.iter().map(Table::let_go).sum()
    }

    /// Frames in flight that were forgotten because memory was short, of flows that are over.
    pub(super) fn forgotten(&self) -> u64 {
        self.tables.iter().map(Table::forgotten).sum()
    }

    /// Takes in a batch; flows that are over now go to `done`.
    pub(super) fn takes(&mut self, batch: &mut Batch, done: &mut Vec<Ended>) {
        batch.deal(&mut self.dealer);
        let first = done.len();
        let Taken { opened, load } = take(&mut self.tables, batch, &mut self.spare, done);
        self.dealer.learns(of_shards(load));
        self.numbers.opened(opened);
        for ended in &mut done[first..] {
            ended.is_numbered(self.numbers.ended(ended.place().1));
        }
        if batch.put_down {
            self.puts_down(done);
        }
    }

    /// Takes in one segment, of a stream that is not taken in by batches. Finished flows go to `done`. Returns the flow
    /// as [`Table::sees`] does.
    pub(super) fn sees(&mut self, segment: &Segment, done: &mut Vec<Ended>) -> Option<(u64, SeenSegment, &Watch)> {
        let (shard, next) = (shard_of(segment), self.next_id());
        for table in &mut self.tables {
            table.at = next;
            table.hears(segment.time, done);
        }
        self.tables[shard].sees::<false>(segment, done)
    }

    /// The id of the next flow, of a stream that is not taken in by batches.
    pub(super) fn next_id(&mut self) -> u64 {
        let opened: usize = self.tables.iter_mut().map(|table| table.opened.drain(..).count()).sum();
        self.numbers.skip(opened as u64);
        self.numbers.next()
    }

    /// Memory that the flows of each shard use.
    fn load(&self) -> [Load; SHARDS] {
        std::array::from_fn(|shard| self.tables[shard].load())
    }

    /// Packets that all flows may have had were left out here.
    pub(super) fn left_out(&mut self) {
        self.tables.iter_mut().for_each(Table::left_out);
    }

    /// Ends the stream: returns the flows that are still open, in the order of their first segments.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Over> + use<> {
        let open = self.ends();
        let (mut spare, goes_on) = (mem::take(&mut self.spare), self.goes_on());
        open.into_iter().map(move |ended| ended.over(&mut spare, goes_on))
    }

    /// The same; they are still to be finished.
    pub(super) fn ends(&mut self) -> Vec<Ended> {
        self.numbers_itself();
        end(&mut self.tables, self.dealer.latest())
    }

    /// The stream was serialised with the flows that are still open.
    pub(super) fn goes_on(&self) -> bool {
        self.put_down.is_some()
    }

    /// Replaces the numbers of the segments that opened flows by the flows' ids.
    fn numbers_itself(&mut self) {
        let numbers = mem::take(&mut self.numbers);
        self.tables.iter_mut().for_each(|table| table.renumber(|opened| numbers.of(opened)));
        self.numbers = Numbers::new(numbers.next());
    }
}

/// Result of a batch.
pub(super) struct Taken {
    /// Numbers of the segments that opened flows.
    pub(super) opened: Vec<u64>,
    /// Memory that the flows of each table use now.
    pub(super) load: Vec<Load>,
}

/// Place behind all flows that are over.
const NO_PLACE: (u64, u64) = (u64::MAX, u64::MAX);

/// Some tables of a stream take in a batch, one after the other, with the same spare memory. The flows that are over are
/// added to `done`, in the order of their rows.
pub(super) fn take<'t>(
    tables: impl IntoIterator<Item = &'t mut Table>,
    batch: &Batch,
    spare: &mut Spare,
    done: &mut Vec<Ended>,
) -> Taken {
    let (mut opened, mut load) = (Vec::new(), Vec::new());
    let mut parts: Few<Drain<'_, Ended>, SHARDS> = Few::new();
    for table in tables {
        mem::swap(&mut table.spare, spare);
        table.takes(batch);
        mem::swap(&mut table.spare, spare);
        opened.append(&mut table.opened);
        load.push(table.load());
        // Nearly all of them are in order already.
        table.ended.sort_unstable_by_key(Ended::place);
        if !table.ended.is_empty() {
            parts.push(table.ended.drain(..));
        }
    }
    done.reserve(parts.iter().map(ExactSizeIterator::len).sum());
    let place = |part: &Drain<'_, Ended>| part.as_slice().first().map_or(NO_PLACE, Ended::place);
    let mut places: Few<(u64, u64), SHARDS> = parts.iter().map(place).collect();
    while let Some((first, part)) = places.iter_mut().zip(&mut parts).min_by_key(|(first, _)| **first)
        && let Some(ended) = part.next()
    {
        *first = place(part);
        done.push(ended);
    }
    Taken { opened, load }
}

/// Ends some tables of a stream at its latest segment: the flows that are open, in the order of their ids.
pub(super) fn end<'t>(tables: impl IntoIterator<Item = &'t mut Table>, latest: Nanos) -> Vec<Ended> {
    let mut open: Vec<Ended> = tables.into_iter().flat_map(|table| table.ends(latest)).collect();
    open.sort_unstable_by_key(Ended::place);
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Address, Endpoint, Flags};

    #[test]
    fn a_flow_without_an_answer_waited_to_the_stream_s_latest_segment_also_without_batches() {
        let segment = |port: u16, ms: i64, flags: Flags| Segment {
            time: Nanos::from_millis(ms),
            source: Endpoint { address: Address::v4([10, 0, 0, 1]), port },
            destination: Endpoint { address: Address::v4([10, 0, 0, 2]), port: 80 },
            flags,
            ..Segment::default()
        };
        let (mut shards, mut done) = (Shards::new(0, 0, 0, None), Vec::new());
        shards.sees(&segment(40_000, 1_000, Flags::SYN), &mut done);
        shards.sees(&segment(40_001, 9_000, Flags::ACK), &mut done);
        let open: Vec<Over> = shards.drain().collect();
        assert_eq!(open.iter().map(|over| over.id).collect::<Vec<_>>(), [0, 1]);
        assert!(open.iter().all(|over| over.flow.until == Some(Nanos::from_millis(9_000))));
    }
}
