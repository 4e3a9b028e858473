//! Serialises the reader at the end of a set's files, and restores it when further files come.

use super::super::batch::{Batch, Held};
use super::interfaces::Interfaces;
use super::lane::Pending;
use super::merge::pull;
use super::recent::is_same;
use super::source::Source;
use super::{Filled, Reader};
use crate::flow::tap::clock_steps::SHORTEST_STEP;
use crate::time::Nanos;
use crate::wire::Segment;
use crate::wire::fragment::Fragments;

/// Capture number that no input of a run has.
const BEFORE: usize = usize::MAX;

/// State of a reader at the end of the files.
#[derive(serde::Serialize, serde::Deserialize)]
pub(in super::super) struct Ending {
    /// Packets that are numbered already.
    numbered: u64,
    /// Packets are missing before the next file.
    gap: bool,
    fragments: Fragments,
    /// The last packet's time.
    now: Nanos,
    /// Segments that later ones may belong before.
    pub(in super::super) held: Held,
    /// The last segments, up to a millisecond apart: an overlapping capture begins with one of them.
    last: Vec<Segment>,
}

impl<'a> Reader<'a> {
    /// Continues where another reading ended.
    pub(in super::super) fn behind(self, ending: Ending, interfaces: Interfaces) -> Reader<'a> {
        let Ending { numbered, gap, fragments, now, held, last } = ending;
        Reader {
            several: true,
            began: true,
            numbered,
            gap,
            before: Some(Source::that_left(fragments, now)),
            held: Batch::holding(held),
            last,
            interfaces,
            ..self
        }
    }

    /// Serialises the reader after the last file. Segments that later packets could precede are held back.
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

    /// Starts the next capture: where it overlaps the captures before, with their last segments.
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
