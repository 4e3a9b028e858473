//! State of flows that are over: the next flows take over its memory, which the processor's cache still holds.

use crate::pause::{Finished, Watch};
use crate::wire::Segment;

/// Most states kept: about ten short flows of a shard end in a batch.
const MOST: usize = 16;

/// States whose memory is free.
#[derive(Default)]
pub(super) struct Spare(Vec<Box<Watch>>);

impl Spare {
    /// The state before the flow's first segment.
    pub(super) fn watch(&mut self, first: &Segment) -> Box<Watch> {
        match self.0.pop() {
            Some(watch) => watch.renewed(first),
            None => Box::new(Watch::new(first)),
        }
    }

    /// Takes in the state of a flow that is over.
    pub(super) fn takes(&mut self, flow: Finished) {
        if self.0.len() < MOST {
            self.0.push(flow.into_watch());
        }
    }
}
