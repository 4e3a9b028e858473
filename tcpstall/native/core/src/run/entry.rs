//! What is kept of one flow: its first two segments, or all that its packets have shown.

use std::hash::{Hash, Hasher};

use super::waiting::Place;
use crate::gap::{Finished, Watch};
use crate::time::Nanos;
use crate::wire::{Endpoint, Flags, Segment};

/// A flow that is over.
pub(super) struct Over {
    pub(super) id: u64,
    /// The number of the capture in which it began.
    pub(super) capture: u32,
    /// It was still there when the stream ended.
    pub(super) at_end: bool,
    pub(super) flow: Finished,
}

/// A flow that is over and left as it was: finishing it is other code than following others, and goes for many at once.
pub(super) struct Ended {
    entry: Entry,
    marks: u64,
    at_end: bool,
    latest: Nanos,
}

impl Ended {
    /// Finishes it.
    pub(super) fn over(self) -> Over {
        let Ended { mut entry, marks, at_end, latest } = self;
        entry.learns_of(marks);
        let watch = match entry.flow {
            Flow::Followed(watch) => watch,
            Flow::HalfOpen(first) => watched(&first),
        };
        let mut flow = watch.finish();
        flow.until = Some(latest);
        Over { id: entry.id, capture: entry.capture, at_end, flow }
    }
}

/// Both ends, the lesser first, so that both directions find the same flow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(Endpoint, Endpoint);

impl Key {
    #[inline]
    pub(super) fn of(segment: &Segment) -> Key {
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

/// What is kept of a flow.
pub(super) enum Flow {
    /// Its SYN and the answer, while nothing else came.
    HalfOpen(Vec<Segment>),
    /// All that its packets have shown.
    Followed(Box<Watch>),
}

/// All that the first segments have shown.
fn watched(first: &[Segment]) -> Box<Watch> {
    let mut watch = Box::new(Watch::new(first.first().unwrap_or(&Segment::default())));
    for segment in first {
        watch.sees(segment);
    }
    watch
}

/// One flow of the table.
pub(super) struct Entry {
    pub(super) id: u64,
    pub(super) key: Key,
    pub(super) lingers: bool,
    /// The number of the capture in which it began.
    pub(super) capture: u32,
    /// The marks of packets left out that it knows of.
    pub(super) marks: u64,
    pub(super) flow: Flow,
}

impl Entry {
    /// A SYN was answered: true if that is all that is to be kept of the segment, while nothing else comes.
    pub(super) fn is_answered_by(&mut self, segment: &Segment) -> bool {
        const ANSWER: Flags = Flags::SYN.with(Flags::ACK);
        match &mut self.flow {
            Flow::HalfOpen(first) if first.len() == 1 && segment.payload == 0 && segment.flags.has(ANSWER) => {
                first.reserve_exact(1);
                first.push(*segment);
                true
            }
            _ => false,
        }
    }

    /// More came; gives its place among the flows that are followed, the first time.
    pub(super) fn is_followed(&mut self, slot: u32) -> Option<Place> {
        let since = self.last();
        let Flow::HalfOpen(first) = &self.flow else { return None };
        self.flow = Flow::Followed(watched(first));
        Some(Place { since, slot, id: self.id })
    }

    /// Packets were left out since its last segment, if there are more marks than it knows of. True if it was half-open.
    pub(super) fn learns_of(&mut self, marks: u64) -> bool {
        if self.marks == marks {
            return false;
        }
        self.marks = marks;
        let half_open = self.is_followed(0).is_some();
        if let Flow::Followed(watch) = &mut self.flow {
            watch.left_out();
        }
        half_open
    }

    /// The flow is over; `latest` is the latest segment of any flow.
    pub(super) fn ends(self, marks: u64, at_end: bool, latest: Nanos) -> Ended {
        Ended { entry: self, marks, at_end, latest }
    }

    pub(super) fn watch(&self) -> Option<&Watch> {
        match &self.flow {
            Flow::Followed(watch) => Some(watch),
            Flow::HalfOpen(_) => None,
        }
    }

    /// Its latest segment.
    pub(super) fn last(&self) -> Nanos {
        match &self.flow {
            Flow::Followed(watch) => watch.connection.end,
            Flow::HalfOpen(first) => first.last().map_or(Nanos::ZERO, |last| last.time),
        }
    }
}
