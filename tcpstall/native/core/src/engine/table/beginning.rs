//! The first segments of a flow, kept as they are. Most flows are short: they are followed when they are over, all
//! segments in a row, with one state for all flows that the processor's cache holds. What comes to a flow that rests is
//! kept likewise.

use std::{iter, mem};

use super::brief::Brief;
use super::key::Key;
use super::spare::Spare;
use crate::pause::{SegmentKind, Watch};
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// Most segments kept of a flow, 64 bytes each: together less than the flow's state.
pub(in crate::engine) const MOST: usize = 32;
/// Segments that a flow gets room for at once when it is more than half-open.
const USUAL: usize = MOST / 4;
/// Segments of a half-open flow: the SYN and the answer.
const HALF_OPEN: usize = 2;

/// Payloads that begin a known protocol element, by the place of their segment.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Starts(Vec<(u8, Vec<u8>)>);

/// The first segments of a flow, or those since it rests.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(in crate::engine) struct Beginning {
    segments: Vec<Brief>,
    starts: Option<Box<Starts>>,
    /// Only the SYN and the answer have come.
    half_open: bool,
    /// FINs of both ends.
    fin: [bool; 2],
    reset: bool,
}

impl Beginning {
    /// Starts with the flow's first segment; `None` if the flow has to be followed at once. The list has no room for
    /// more unless `spare` gives one.
    pub(in crate::engine) fn of(
        segment: &Segment,
        key: &Key,
        half_open: bool,
        spare: Option<&mut Spare>,
    ) -> Option<Beginning> {
        let (segments, starts) = (spare.map(Spare::briefs).unwrap_or_default(), None);
        let mut new = Beginning { segments, starts, half_open, fin: [false; 2], reset: false };
        let kept = if segment.flags.has(Flags::SYN) { new.opens(segment, key) } else { new.keeps(segment, key) };
        kept.then_some(new)
    }

    /// Memory of its segments, bytes.
    #[inline]
    pub(in crate::engine) fn memory(&self) -> usize {
        self.segments.capacity() * size_of::<Brief>()
    }

    /// Only the SYN and the answer have come.
    pub(in crate::engine) fn is_half_open(&self) -> bool {
        self.half_open
    }

    /// More than the SYN and the answer will come.
    pub(in crate::engine) fn is_opened(&mut self, spare: &mut Spare) {
        self.half_open = false;
        if self.segments.capacity() < USUAL {
            let mut room = spare.briefs();
            room.reserve_exact(USUAL);
            let few = mem::replace(&mut self.segments, room);
            self.segments.extend_from_slice(&few);
        }
    }

    /// Keeps the answer to a lone SYN, if the segment is one.
    pub(in crate::engine) fn is_answered_by(&mut self, segment: &Segment, key: &Key) -> bool {
        const ANSWER: Flags = Flags::SYN.with(Flags::ACK);
        self.half_open
            && self.segments.len() == 1
            && segment.payload == 0
            && segment.flags.has(ANSWER)
            && self.opens(segment, key)
    }

    /// Keeps a segment with a SYN; false where more would have to be known of it.
    fn opens(&mut self, segment: &Segment, key: &Key) -> bool {
        let plain = segment.flags.0 & (Flags::FIN.0 | Flags::RST.0) == 0;
        if !plain || !Brief::holds(segment) {
            return false;
        }
        if self.segments.capacity() == 0 {
            self.segments.reserve_exact(HALF_OPEN);
        }
        self.segments.push(Brief::of(segment, key));
        true
    }

    /// Keeps a further segment; false if the flow has to be followed from now on.
    #[inline(always)]
    pub(in crate::engine) fn keeps(&mut self, segment: &Segment, key: &Key) -> bool {
        if self.segments.len() == MOST || self.reset || !Brief::holds(segment) || segment.flags.has(Flags::SYN) {
            return false;
        }
        if segment.flags.0 & (Flags::FIN.0 | Flags::RST.0) != 0 {
            // A RST may be void while the SYN is unanswered: see `Connection`.
            let unanswered = self.unanswered_syn().filter(|_| segment.flags.has(Flags::RST));
            if unanswered.is_some_and(|syn| !syn.is_reset_by(segment, key)) {
                return false;
            }
            self.reset = segment.flags.has(Flags::RST);
            self.fin[usize::from(segment.source != key.0)] |= segment.flags.has(Flags::FIN);
        }
        // The list grows before the segment is read, which is then written where it stays.
        self.segments.extend(iter::once_with(|| Brief::of(segment, key)));
        true
    }

    /// The first segment, if it is a SYN that no other answers.
    fn unanswered_syn(&self) -> Option<&Brief> {
        let has = |place: usize, flag: Flags| self.segments.get(place).is_some_and(|segment| segment.flags().has(flag));
        let answered = has(0, Flags::ACK) || has(1, Flags::SYN);
        self.segments.first().filter(|_| has(0, Flags::SYN) && !answered)
    }

    /// The connection is over: both ends have sent their FIN, or there was a RST.
    #[inline]
    pub(in crate::engine) fn is_over(&self) -> bool {
        self.reset || self.fin == [true; 2]
    }

    /// Notes that the payload of the last segment begins a known protocol element; true if it is the flow's first.
    #[cold]
    pub(in crate::engine) fn begins_with(&mut self, payload: &[u8]) -> bool {
        let first = self.starts.is_none();
        let last = self.segments.len().saturating_sub(1);
        self.starts.get_or_insert_default().0.push((last as u8, payload.to_vec()));
        first
    }

    /// Payload that begins a known protocol element was sent.
    pub(in crate::engine) fn has_begun_with(&self) -> bool {
        self.starts.is_some()
    }

    /// Time of the latest segment.
    pub(in crate::engine) fn last(&self) -> Nanos {
        self.segments.iter().map(Brief::time).max().unwrap_or_default()
    }

    /// Starts to follow these segments, the first of the flow.
    pub(in crate::engine) fn following(self, key: &Key, spare: &mut Spare) -> Following {
        let first = self.segments.first().map_or_else(Segment::default, |first| first.segment(key));
        self.following_from(spare.watch(&first), key)
    }

    /// Starts to follow these segments, given the state before them.
    pub(in crate::engine) fn following_from(self, watch: Box<Watch>, key: &Key) -> Following {
        Following { watch, beginning: self, key: *key, place: 0, starts: 0 }
    }
}

/// A flow's state, and kept segments that it still has to take in.
pub(in crate::engine) struct Following {
    watch: Box<Watch>,
    beginning: Beginning,
    key: Key,
    /// Number of segments taken in.
    place: usize,
    /// Number of known payloads taken in.
    starts: usize,
}

impl Following {
    /// Takes in the next segment, in the memory of any other one; false if there is none.
    #[inline(always)]
    pub(in crate::engine) fn sees_next(&mut self, segment: &mut Segment) -> bool {
        let Following { watch, beginning, key, place, starts } = self;
        let Some(brief) = beginning.segments.get(*place) else { return false };
        brief.replaces(segment, key);
        let seen = watch.sees(segment);
        if let Some(known) = &beginning.starts
            && let Some((of, payload)) = known.0.get(*starts)
            && usize::from(*of) == *place
        {
            *starts += 1;
            if seen.kind == SegmentKind::New {
                watch.begins_with(seen.sender, segment, payload);
            }
        }
        *place += 1;
        true
    }

    /// Takes in all segments, and returns the state after them.
    pub(in crate::engine) fn all(mut self, spare: &mut Spare) -> Box<Watch> {
        let mut segment = Segment::default();
        while self.sees_next(&mut segment) {}
        self.done(spare)
    }

    /// The state after the segments that were taken in.
    pub(in crate::engine) fn done(self, spare: &mut Spare) -> Box<Watch> {
        spare.takes_briefs(self.beginning.segments);
        self.watch
    }
}
