//! State of flows that are over: the next flows take over its memory, which the processor's cache still holds.

use super::brief::Brief;
use crate::pause::{Finished, Watch};
use crate::results::{FlowRow, SpareLists};
use crate::wire::Segment;

/// Flows that pass through a stage together, so that its code is loaded once for all of them; no more states than theirs
/// are kept. Their states fit the second-level cache.
pub(in crate::engine) const TOGETHER: usize = 8;
/// Most lists of segments kept, one kilobyte each: thousands of flows may open before one ends.
const MOST_LISTS: usize = 1_024;

/// States whose memory is free.
#[derive(Default)]
pub(in crate::engine) struct Spare {
    watches: Vec<Box<Watch>>,
    briefs: Vec<Vec<Brief>>,
    /// Lists of rows.
    pub(in crate::engine) lists: SpareLists,
}

impl Spare {
    /// The state before the flow's first segment.
    pub(in crate::engine) fn watch(&mut self, first: &Segment) -> Box<Watch> {
        match self.watches.pop() {
            Some(mut watch) => {
                watch.renew(first);
                watch
            }
            None => Box::new(Watch::new(first)),
        }
    }

    /// Takes in the state of a flow that is over.
    pub(in crate::engine) fn takes(&mut self, flow: Finished) {
        if self.watches.len() < TOGETHER {
            self.watches.push(flow.into_watch());
        }
    }

    /// Takes in rows that were handed on; their list stays, empty.
    pub(in crate::engine) fn takes_rows(&mut self, rows: &mut Vec<FlowRow>) {
        rows.iter_mut().for_each(|row| self.lists.takes(row));
        rows.clear();
    }

    /// An empty list of a flow's segments, with no room unless that is at hand.
    pub(in crate::engine) fn briefs(&mut self) -> Vec<Brief> {
        self.briefs.pop().unwrap_or_default()
    }

    /// Takes in the list of a flow that is followed now.
    pub(in crate::engine) fn takes_briefs(&mut self, mut segments: Vec<Brief>) {
        if self.briefs.len() < MOST_LISTS && segments.capacity() > 2 {
            segments.clear();
            self.briefs.push(segments);
        }
    }
}
