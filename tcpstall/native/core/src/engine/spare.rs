//! State of flows that are over: the next flows take over its memory, which the processor's cache still holds.

use crate::pause::{Finished, Watch};
use crate::wire::Segment;

/// Most states kept: about ten short flows of a shard end in a batch.
const MOST: usize = 16;

/// States whose memory is free.
#[derive(Default)]
pub(super) struct Spare {
    watches: Vec<Box<Watch>>,
    first_segments: Vec<Vec<Segment>>,
}

impl Spare {
    /// The state before the flow's first segment.
    pub(super) fn watch(&mut self, first: &Segment) -> Box<Watch> {
        match self.watches.pop() {
            Some(mut watch) => {
                watch.renew(first);
                watch
            }
            None => Box::new(Watch::new(first)),
        }
    }

    /// Takes in the state of a flow that is over.
    pub(super) fn takes(&mut self, flow: Finished) {
        if self.watches.len() < MOST {
            self.watches.push(flow.into_watch());
        }
    }

    /// A list of the flow's first segment, with no room for more unless that is at hand: of a flood of SYNs no more is
    /// kept.
    pub(super) fn first_segments(&mut self, first: &Segment) -> Vec<Segment> {
        let mut segments = self.first_segments.pop().unwrap_or_else(|| Vec::with_capacity(1));
        segments.push(*first);
        segments
    }

    /// Takes in the list of a flow of which more than its first segments is known.
    pub(super) fn takes_first_segments(&mut self, mut segments: Vec<Segment>) {
        if self.first_segments.len() < MOST {
            segments.clear();
            self.first_segments.push(segments);
        }
    }
}
