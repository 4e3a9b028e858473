//! Reads captures a second time: each segment with the state of its flow after it, for callers that know which flows
//! matter.

use std::ops::ControlFlow;

use super::RunOptions;
use super::batch::Batch;
use super::reader::{Filled, Reader};
use super::sets::in_order;
use super::shards::Shards;
use super::status::CaptureStatus;
use super::table::entry::Over;
use super::table::spare::Spare;
use crate::capture::CaptureError;
use crate::pause::{SeenSegment, Watch};
use crate::wire::Segment;

/// Callbacks of a second reading.
pub(super) trait Witness {
    /// A segment of the flow with that id, and the flow's state after the segment.
    fn sees(&mut self, segment: &Segment, id: u64, seen: SeenSegment, watch: &Watch);
    /// The end of a flow.
    fn over(&mut self, _over: Over) {}
    /// The end of a stream; the flows that are still open are in the shards.
    fn ends(&mut self, _shards: &mut Shards) {}
}

/// Reads to the last packet that flows with these ids can have. The filter's times and the sets must be those of the
/// run that gave the ids. Returns the error of the first capture that could not be read at all.
pub(super) fn again(
    paths: &[String],
    flows: &[u64],
    options: &RunOptions,
    witness: &mut impl Witness,
) -> Option<CaptureError> {
    let last = flows.iter().max().copied();
    let (mut next_id, mut unread) = (0, None);
    let mut statuses = vec![CaptureStatus::default(); paths.len()];
    for set in options.sets.groups(paths.len()) {
        if last.is_none_or(|last| last < next_id) {
            break;
        }
        let mut go_on = || ControlFlow::Continue(());
        let ControlFlow::Continue(coming) = in_order(&set, paths, options, &mut statuses, &mut go_on) else { break };
        let mut shards = Shards::new(next_id, 0, 0, None);
        let error = stream(Reader::new(coming, paths, options, &mut statuses), &mut shards, witness);
        witness.ends(&mut shards);
        next_id = shards.next_id();
        unread = unread.or(error);
    }
    unread
}

fn stream(mut reader: Reader<'_>, shards: &mut Shards, witness: &mut impl Witness) -> Option<CaptureError> {
    let (mut batch, mut done) = (Batch::default(), Vec::new());
    loop {
        let filled = reader.fill(&mut batch);
        for segment in batch.segments() {
            if let Some((id, seen, watch)) = shards.sees(segment, &mut done) {
                witness.sees(segment, id, seen, watch);
            }
            done.drain(..).for_each(|ended| witness.over(ended.over(&mut Spare::default(), false)));
        }
        if batch.left_out {
            shards.left_out();
        }
        batch.clear();
        if filled == Filled::End {
            break;
        }
    }
    reader.error.take()
}
