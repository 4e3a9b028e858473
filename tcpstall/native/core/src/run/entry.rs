//! What is kept of one flow: its first two segments, or all that its packets have shown, as bytes while it rests.

use std::hash::{Hash, Hasher};
use std::mem;

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
        let watch = entry.flow.followed();
        let mut flow = watch.finish();
        flow.until = Some(latest);
        Over { id: entry.id, capture: entry.capture, at_end, flow }
    }
}

/// Both ends, the lesser first, so that both directions find the same flow.
#[derive(Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) enum Flow {
    /// Its SYN and the answer, while nothing else came.
    HalfOpen(Vec<Segment>),
    /// All that its packets have shown.
    Followed(Box<Watch>),
    /// The same while it is silent and too many others are not.
    Resting(Resting),
}

impl Flow {
    /// All that its packets have shown.
    pub(super) fn followed(self) -> Box<Watch> {
        match self {
            Flow::HalfOpen(first) => watched(&first),
            Flow::Followed(watch) => watch,
            Flow::Resting(resting) => resting.taken_up(),
        }
    }
}

/// A flow that was put down.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Resting {
    number: u64,
    last: Nanos,
    forgotten: u64,
    state: Box<[u8]>,
}

impl Resting {
    /// The flow, put down.
    fn of(watch: &Watch) -> Resting {
        Resting { number: 0, last: watch.connection.end, forgotten: watch.forgotten(), state: watch.put_down() }
    }

    /// The number of this rest, which no other has.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The flow's latest segment.
    pub(super) fn last(&self) -> Nanos {
        self.last
    }

    /// Frames in flight that were forgotten.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Memory that its state takes, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.state.len()
    }

    fn taken_up(&self) -> Box<Watch> {
        // What this process has put down it can take up.
        Watch::taken_up(&self.state).unwrap_or_else(|_| watched(&[]))
    }
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
#[derive(serde::Serialize, serde::Deserialize)]
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

    /// More came, of a flow of which only the first segments were kept or that rested.
    pub(super) fn is_followed(&mut self) {
        if self.watch().is_none() {
            let flow = mem::replace(&mut self.flow, Flow::HalfOpen(Vec::new()));
            self.flow = Flow::Followed(flow.followed());
        }
    }

    /// It is silent and there are too many others: from now on it takes less memory. `number` is that of this rest.
    pub(super) fn rests(&mut self, number: u64) -> Option<&Resting> {
        let Flow::Followed(watch) = &self.flow else { return None };
        self.flow = Flow::Resting(Resting { number, ..Resting::of(watch) });
        match &self.flow {
            Flow::Resting(resting) => Some(resting),
            Flow::HalfOpen(_) | Flow::Followed(_) => None,
        }
    }

    /// Packets were left out since its last segment, if there are more marks than it knows of.
    pub(super) fn learns_of(&mut self, marks: u64) {
        if self.marks == marks {
            return;
        }
        self.marks = marks;
        self.is_followed();
        if let Flow::Followed(watch) = &mut self.flow {
            watch.left_out();
        }
    }

    /// The flow is over; `latest` is the latest segment of any flow.
    pub(super) fn ends(self, marks: u64, at_end: bool, latest: Nanos) -> Ended {
        Ended { entry: self, marks, at_end, latest }
    }

    pub(super) fn watch(&self) -> Option<&Watch> {
        match &self.flow {
            Flow::Followed(watch) => Some(watch),
            Flow::HalfOpen(_) | Flow::Resting(_) => None,
        }
    }

    /// Its latest segment.
    pub(super) fn last(&self) -> Nanos {
        match &self.flow {
            Flow::Followed(watch) => watch.connection.end,
            Flow::HalfOpen(first) => first.last().map_or(Nanos::ZERO, |last| last.time),
            Flow::Resting(resting) => resting.last,
        }
    }
}
