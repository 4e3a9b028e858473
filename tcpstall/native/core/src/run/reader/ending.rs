//! Where the files of a set end and others may come later: what a reading leaves, and how the next one goes on with it.

use super::super::batch::{Batch, Held};
use super::super::lane::Pending;
use super::super::recent::is_same;
use super::super::source::Source;
use super::merge::pull;
use super::{Filled, Reader};
use crate::flow::stamps::SHORTEST_STEP;
use crate::time::Nanos;
use crate::wire::Segment;
use crate::wire::fragment::Fragments;

/// No input of a run has this number.
const BEFORE: usize = usize::MAX;

/// What a reading leaves.
#[derive(serde::Serialize, serde::Deserialize)]
pub(in super::super) struct Ending {
    /// Packets that have their numbers.
    numbered: u64,
    /// Packets are missing before what comes next.
    gap: bool,
    fragments: Fragments,
    /// The last packet's time.
    now: Nanos,
    /// Segments that later ones may belong before.
    pub(in super::super) held: Held,
    /// All of the same time: a capture that overlaps begins with one of them.
    last: Vec<Segment>,
}

impl<'a> Reader<'a> {
    /// Goes on where another reading ended.
    pub(in super::super) fn behind(self, ending: Ending) -> Reader<'a> {
        let Ending { numbered, gap, fragments, now, held, last } = ending;
        Reader {
            several: true,
            began: true,
            numbered,
            gap,
            before: Some(Source::that_left(fragments, now)),
            held: Batch::holding(held),
            last,
            ..self
        }
    }

    /// All files are read. What could come before their last packets stays in hand.
    pub(super) fn put_down(&mut self, batch: &mut Batch) {
        self.puts_down = false;
        let newest = batch.segments().iter().map(|segment| segment.time).max();
        let is_last = |segment: &&Segment| newest.is_some_and(|newest| newest - segment.time < SHORTEST_STEP);
        let last = batch.segments().iter().filter(is_last).copied().collect();
        batch.settle(&mut self.held);
        batch.put_down = true;
        let (fragments, now) = self.before.as_ref().map(Source::leaves).unwrap_or_default();
        let (numbered, gap, held) = (self.numbered, self.gap, self.held.held());
        self.ending = Some(Ending { numbered, gap, fragments, now, held, last });
    }

    /// The next capture begins: with the last segments of those before, where they overlap.
    pub(super) fn meets_last(&mut self, records: &mut u32) -> Option<Filled> {
        let lane = self.lanes.first_mut()?;
        while lane.is_plain() {
            if let Some(filled) = pull(lane, &mut self.statuses[lane.number], records) {
                return Some(filled);
            }
        }
        let last = std::mem::take(&mut self.last);
        let first = lane.pending.front().and_then(Pending::segment);
        if first.is_some_and(|first| last.iter().any(|segment| is_same(segment, first))) {
            last.iter().for_each(|segment| self.recent.keep(segment, BEFORE));
        }
        None
    }
}
