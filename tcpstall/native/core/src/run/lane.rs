//! One capture of a set while it is open: what was read of it, and waits for its turn.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::source::{Event, Source};
use super::status::CaptureStatus;
use crate::capture::{Capture, CaptureError};
use crate::time::Nanos;
use crate::wire::Segment;
use crate::wire::tunnel::Tunnel;

/// A capture's first packet stands behind no more items than these (blocks, lines of text), or is not looked for.
const BEFORE_FIRST: u32 = 1024;

/// A segment that waits for its turn.
pub(super) struct Next {
    pub(super) segment: Segment,
    /// What its number counts from.
    pub(super) base: u64,
    /// Packets read of its capture when it came.
    pub(super) read: u64,
    /// What its payload begins with, where that has a name.
    pub(super) start: Option<Vec<u8>>,
    pub(super) tunnel: Option<Tunnel>,
}

/// What waits for its turn.
#[expect(clippy::large_enum_variant, reason = "hardly any is the small one")]
pub(super) enum Pending {
    Segment(Next),
    /// Packets were left out here.
    LeftOut,
}

impl Pending {
    /// The segment, if it is one.
    pub(super) fn segment(&self) -> Option<&Segment> {
        match self {
            Pending::Segment(next) => Some(&next.segment),
            Pending::LeftOut => None,
        }
    }

    /// When its turn is.
    pub(super) fn time(&self) -> Nanos {
        match self {
            Pending::Segment(next) => next.segment.time,
            Pending::LeftOut => Nanos(i64::MIN),
        }
    }
}

/// What a reading brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pulled {
    /// Something, or the end.
    Item,
    /// A signal came while waiting; ask again.
    Interrupted,
}

/// An open capture.
pub(super) struct Lane {
    /// Its number among the inputs of the run.
    pub(super) number: usize,
    pub(super) capture: Capture,
    pub(super) source: Source,
    /// Its packets that have their numbers.
    pub(super) taken: u64,
    /// Its segments that are in another capture of the set too.
    pub(super) repeated: u64,
    pub(super) pending: VecDeque<Pending>,
    /// There is nothing more to read.
    pub(super) over: bool,
    /// Why, if not because it ends.
    pub(super) error: Option<CaptureError>,
}

impl Lane {
    pub(super) fn new(number: usize, capture: Capture) -> Lane {
        Lane {
            number,
            capture,
            source: Source::default(),
            taken: 0,
            repeated: 0,
            pending: VecDeque::new(),
            over: false,
            error: None,
        }
    }

    /// Nothing of it waits, and it goes on.
    pub(super) fn is_plain(&self) -> bool {
        self.pending.is_empty() && !self.over
    }

    /// Nothing of it waits, and nothing comes.
    pub(super) fn is_through(&self) -> bool {
        self.pending.is_empty() && self.over
    }

    /// Packets read so far.
    pub(super) fn read(&self, status: &CaptureStatus) -> u64 {
        self.source.text_packets().unwrap_or(status.packets)
    }

    /// Puts the segment just read among those that wait.
    pub(super) fn puts_off(&mut self, event: &Event, segment: Segment, status: &CaptureStatus) {
        let start = matches!(event, Event::Start).then(|| self.source.start.clone());
        let (base, read, tunnel) = (self.source.base, self.read(status), self.source.tunnel.take());
        self.pending.push_back(Pending::Segment(Next { segment, base, read, start, tunnel }));
    }

    /// Reads one item; a segment waits for its turn.
    pub(super) fn pull(&mut self, status: &mut CaptureStatus) -> Pulled {
        let mut segment = Segment::default();
        match self.source.next_apart(&mut self.capture, status, &mut segment) {
            Ok(Some(event @ (Event::Segment | Event::Start))) => self.puts_off(&event, segment, status),
            Ok(Some(Event::LeftOut)) => self.pending.push_back(Pending::LeftOut),
            Ok(Some(Event::Nothing)) => {}
            Ok(Some(Event::Interrupted)) => return Pulled::Interrupted,
            Ok(None) => self.over = true,
            Err(error) => (self.over, self.error) = (true, Some(error)),
        }
        Pulled::Item
    }

    /// Reads as far as the first packet; where that waits, `again` says whether to go on.
    pub(super) fn begin(
        &mut self,
        status: &mut CaptureStatus,
        again: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut items = 0;
        while status.first_ns.is_none() && !self.over && items < BEFORE_FIRST {
            match self.pull(status) {
                Pulled::Item => items += 1,
                Pulled::Interrupted => again()?,
            }
        }
        ControlFlow::Continue(())
    }
}
