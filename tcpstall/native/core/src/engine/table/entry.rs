//! Entry of one flow in the table: its first segments, or its whole state, serialised to bytes while it rests.

use std::mem;

use smallvec::SmallVec;

use super::beginning::{Beginning, Following};
use super::key::Key;
use super::spare::{Spare, TOGETHER};
use crate::pause::{Finished, Watch};
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// A flow that is over.
pub(in crate::engine) struct Over {
    pub(in crate::engine) id: u64,
    /// Number of the capture in which the flow began.
    pub(in crate::engine) capture: u32,
    /// Number of the interface of its first segment, 0 for none.
    pub(in crate::engine) interface: u16,
    /// The flow was still open when the stream ended.
    pub(in crate::engine) at_end: bool,
    /// The stream was serialised with the flow: its next run returns the flow again, with what came since.
    pub(in crate::engine) goes_on: bool,
    pub(in crate::engine) flow: Finished,
}

/// A flow that is over but not finished yet: finishing runs for many flows at once, because its code differs from that
/// of following.
pub(in crate::engine) struct Ended {
    entry: Entry,
    /// Number of the segment in the stream that ended the flow.
    at: u64,
    marks: u64,
    at_end: bool,
    latest: Nanos,
}

impl Ended {
    /// Its place in the order of rows: the number of the segment that ended it, and its id.
    pub(in crate::engine) fn place(&self) -> (u64, u64) {
        (self.at, self.entry.id)
    }

    /// Gives the flow its id, in place of the number of the segment that opened it.
    pub(in crate::engine) fn is_numbered(&mut self, id: u64) {
        self.entry.id = id;
    }

    /// Groups of flows that are finished together. Flows that last to the end may be long: each of these is finished when
    /// the one before has been handed on.
    pub(in crate::engine) fn together(ended: &mut [Ended]) -> impl Iterator<Item = &mut [Ended]> {
        let may_be_long = |ended: &Ended| ended.at_end && !matches!(ended.entry.flow, Flow::Begun(_));
        let alike = move |one: &Ended, next: &Ended| !may_be_long(one) && !may_be_long(next);
        ended.chunks_mut(TOGETHER).flat_map(move |few| few.chunk_by_mut(alike))
    }

    /// Finishes flows. Each takes in a segment in turn: flows are alike, and the code for a segment is loaded once for all
    /// of them. For `goes_on` see [`Over::goes_on`].
    pub(in crate::engine) fn all_over(ended: &mut [Ended], goes_on: bool, spare: &mut Spare, over: &mut Vec<Over>) {
        let mut flows: SmallVec<[Following; TOGETHER]> = ended.iter_mut().map(|ended| ended.following(spare)).collect();
        let (mut segment, mut more) = (Segment::default(), true);
        while more {
            more = flows.iter_mut().fold(false, |more, flow| flow.sees_next(&mut segment) | more);
        }
        over.extend(ended.iter().zip(flows).map(|(ended, flow)| ended.finished(flow.done(spare), goes_on)));
    }

    /// Finishes the flow. For `goes_on` see [`Over::goes_on`].
    pub(in crate::engine) fn over(mut self, spare: &mut Spare, goes_on: bool) -> Over {
        let watch = self.following(spare).all(spare);
        self.finished(watch, goes_on)
    }

    /// The flow's state, and the segments that it still has to take in.
    fn following(&mut self, spare: &mut Spare) -> Following {
        self.entry.learns_of(self.marks, spare);
        mem::take(&mut self.entry.flow).following(&self.entry.key, spare)
    }

    fn finished(&self, watch: Box<Watch>, goes_on: bool) -> Over {
        let Ended { entry: Entry { id, capture, interface, .. }, at_end, latest, .. } = *self;
        let mut over = Over { id, capture, interface, at_end, goes_on, flow: watch.finish() };
        over.flow.until = Some(latest);
        over
    }
}

/// State that is kept of a flow.
#[derive(serde::Serialize, serde::Deserialize)]
pub(in crate::engine) enum Flow {
    /// Its first segments, while no more came.
    Begun(Beginning),
    /// Its whole state.
    Followed(Box<Watch>),
    /// Its whole state as bytes, and the segments since, while it says little and too many other flows say more.
    Resting(Resting),
}

impl Flow {
    /// The flow's state, and the segments that it still has to take in.
    fn following(self, key: &Key, spare: &mut Spare) -> Following {
        match self {
            Flow::Begun(beginning) => beginning.following(key, spare),
            Flow::Followed(watch) => Beginning::default().following_from(watch, key),
            Flow::Resting(resting) => resting.taken_up(key, spare),
        }
    }
}

impl Default for Flow {
    /// Before its first segment.
    fn default() -> Flow {
        Flow::Begun(Beginning::default())
    }
}

/// A flow serialised to bytes.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub(in crate::engine) struct Resting {
    number: u64,
    last: Nanos,
    forgotten: u64,
    state: Box<[u8]>,
    /// The segments since then, where any came.
    since: Option<Box<Beginning>>,
}

impl Resting {
    /// Serialises the flow.
    fn of(watch: &Watch) -> Resting {
        let (last, forgotten) = (watch.connection.end, watch.forgotten());
        Resting { number: 0, last, forgotten, state: watch.put_down(), since: None }
    }

    /// Number of this rest, unique among all rests.
    pub(in crate::engine) fn number(&self) -> u64 {
        self.number
    }

    /// Time of the flow's latest segment.
    pub(in crate::engine) fn last(&self) -> Nanos {
        self.last
    }

    /// Frames in flight that were forgotten.
    pub(in crate::engine) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Memory of its state and of the segments since, bytes.
    pub(in crate::engine) fn bytes(&self) -> usize {
        self.state.len() + self.since.as_ref().map_or(0, |since| since.memory())
    }

    /// Keeps a segment; false if the flow has to wake for it.
    fn keeps(&mut self, segment: &Segment, key: &Key) -> bool {
        const OPENS_OR_ENDS: Flags = Flags::SYN.with(Flags::FIN).with(Flags::RST);
        if segment.flags.0 & OPENS_OR_ENDS.0 != 0 || !self.since.get_or_insert_default().keeps(segment, key) {
            return false;
        }
        self.last = self.last.max(segment.time);
        true
    }

    /// The state before the rest, and the segments since.
    fn taken_up(self, key: &Key, spare: &mut Spare) -> Following {
        // State that this process serialised can always be restored.
        let watch = Watch::taken_up(&self.state).unwrap_or_else(|_| spare.watch(&Segment::default()));
        self.since.map_or_else(Beginning::default, |since| *since).following_from(watch, key)
    }
}

/// One flow of the table.
#[derive(serde::Serialize, serde::Deserialize)]
pub(in crate::engine) struct Entry {
    pub(in crate::engine) id: u64,
    pub(in crate::engine) key: Key,
    pub(in crate::engine) lingers: bool,
    /// Number of the capture in which the flow began.
    pub(in crate::engine) capture: u32,
    /// Number of the interface of its first segment, 0 for none.
    pub(in crate::engine) interface: u16,
    /// Number of marks of left-out packets that the flow has been given.
    pub(in crate::engine) marks: u64,
    pub(in crate::engine) flow: Flow,
}

impl Entry {
    /// Takes in the answer to a SYN: true if only the segment needs to be kept, while nothing else comes.
    pub(in crate::engine) fn is_answered_by(&mut self, segment: &Segment) -> bool {
        let Flow::Begun(beginning) = &mut self.flow else { return false };
        beginning.is_answered_by(segment, &self.key)
    }

    /// Keeps a segment of a flow that rests; false if it has to be followed from now on.
    pub(in crate::engine) fn keeps_at_rest(&mut self, segment: &Segment) -> bool {
        let Flow::Resting(resting) = &mut self.flow else { return false };
        resting.keeps(segment, &self.key)
    }

    /// Restores the whole state of a flow that rested, or of which only the first segments were kept.
    pub(in crate::engine) fn is_followed(&mut self, spare: &mut Spare) {
        self.flow = match mem::take(&mut self.flow) {
            Flow::Followed(watch) => Flow::Followed(watch),
            flow => Flow::Followed(flow.following(&self.key, spare).all(spare)),
        };
    }

    /// Serialises the flow to save memory, because it is silent and there are too many others. `number` is that of this
    /// rest.
    pub(in crate::engine) fn rests(&mut self, number: u64) -> Option<&Resting> {
        let Flow::Followed(watch) = &self.flow else { return None };
        self.flow = Flow::Resting(Resting { number, ..Resting::of(watch) });
        match &self.flow {
            Flow::Resting(resting) => Some(resting),
            Flow::Begun(_) | Flow::Followed(_) => None,
        }
    }

    /// Tells the flow that packets were left out since its last segment, if there are more marks than it has been
    /// given.
    pub(in crate::engine) fn learns_of(&mut self, marks: u64, spare: &mut Spare) {
        if self.marks == marks {
            return;
        }
        self.marks = marks;
        self.is_followed(spare);
        if let Flow::Followed(watch) = &mut self.flow {
            watch.left_out();
        }
    }

    /// Begins the next part of the flow; returns the part that is over, with that id. `None` unless the whole state of
    /// the flow is in memory.
    pub(in crate::engine) fn parts(&mut self, id: u64) -> Option<Entry> {
        let Flow::Followed(watch) = &mut self.flow else { return None };
        let next = Box::new(watch.as_ref().clone().next_part());
        let flow = Flow::Followed(mem::replace(watch, next));
        Some(Entry { id, flow, ..*self })
    }

    /// Ends the flow at a segment of the stream; `latest` is the latest segment of any flow.
    pub(in crate::engine) fn ends(self, at: u64, marks: u64, at_end: bool, latest: Nanos) -> Ended {
        Ended { entry: self, at, marks, at_end, latest }
    }

    /// Length of its past: see [`Watch::past`].
    pub(in crate::engine) fn past(&self) -> usize {
        self.watch().map_or(0, Watch::past)
    }

    pub(in crate::engine) fn watch(&self) -> Option<&Watch> {
        match &self.flow {
            Flow::Followed(watch) => Some(watch),
            Flow::Begun(_) | Flow::Resting(_) => None,
        }
    }

    /// Only its SYN and the answer have come.
    pub(in crate::engine) fn is_half_open(&self) -> bool {
        matches!(&self.flow, Flow::Begun(beginning) if beginning.is_half_open())
    }

    /// It is open, more than its SYN and the answer have come, and only its first segments are kept.
    pub(in crate::engine) fn is_begun(&self) -> bool {
        !self.lingers && matches!(&self.flow, Flow::Begun(beginning) if !beginning.is_half_open())
    }

    /// Memory of its first segments, bytes, while only these are kept.
    pub(in crate::engine) fn beginning_memory(&self) -> usize {
        match &self.flow {
            Flow::Begun(beginning) => beginning.memory(),
            Flow::Followed(_) | Flow::Resting(_) => 0,
        }
    }

    /// Memory of its state and of the segments since, bytes, while it rests.
    pub(in crate::engine) fn resting_memory(&self) -> usize {
        match &self.flow {
            Flow::Resting(resting) => resting.bytes(),
            Flow::Begun(_) | Flow::Followed(_) => 0,
        }
    }

    /// The segments that are kept of it, while it is not followed.
    pub(in crate::engine) fn kept_segments(&mut self) -> Option<&mut Beginning> {
        match &mut self.flow {
            Flow::Begun(beginning) => Some(beginning),
            Flow::Resting(resting) => resting.since.as_deref_mut(),
            Flow::Followed(_) => None,
        }
    }

    /// It is open, and its whole state is in memory.
    pub(in crate::engine) fn is_under_way(&self) -> bool {
        !self.lingers && matches!(self.flow, Flow::Followed(_))
    }

    /// Payload that begins a known protocol element was sent.
    pub(in crate::engine) fn has_begun_with(&self) -> bool {
        match &self.flow {
            Flow::Begun(beginning) => beginning.has_begun_with(),
            Flow::Followed(watch) => watch.has_begun_with(),
            Flow::Resting(resting) => resting.since.as_ref().is_some_and(|since| since.has_begun_with()),
        }
    }

    /// Time of its latest segment.
    pub(in crate::engine) fn last(&self) -> Nanos {
        match &self.flow {
            Flow::Followed(watch) => watch.connection.end,
            Flow::Begun(beginning) => beginning.last(),
            Flow::Resting(resting) => resting.last,
        }
    }
}
