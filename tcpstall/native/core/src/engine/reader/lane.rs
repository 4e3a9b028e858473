//! One open capture of a set, and its segments that wait for their turn.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::interfaces::Interface;
use super::source::{Source, SourceItem};
use crate::capture::{Capture, CaptureError};
use crate::engine::status::CaptureStatus;
use crate::time::Nanos;
use crate::wire::Segment;
use crate::wire::tunnel::Tunnel;

/// Items (blocks, lines of text) within which a capture's first packet is searched.
const BEFORE_FIRST: u32 = 1024;

/// A segment that waits for its turn.
pub(in crate::engine) struct Next {
    pub(in crate::engine) segment: Segment,
    /// Number of packets before its capture.
    pub(in crate::engine) base: u64,
    /// Packets read of its capture when the segment came.
    pub(in crate::engine) read: u64,
    /// First bytes of its payload, where they begin a known protocol element.
    pub(in crate::engine) start: Option<Vec<u8>>,
    pub(in crate::engine) tunnel: Option<Tunnel>,
    pub(in crate::engine) interface: Interface,
}

/// An item that waits for its turn.
#[expect(clippy::large_enum_variant, reason = "hardly any is the small one")]
pub(in crate::engine) enum Pending {
    Segment(Next),
    /// Packets were left out here.
    LeftOut,
}

impl Pending {
    /// The segment, if the item is one.
    pub(in crate::engine) fn segment(&self) -> Option<&Segment> {
        match self {
            Pending::Segment(next) => Some(&next.segment),
            Pending::LeftOut => None,
        }
    }

    /// Time at which the item's turn comes.
    pub(in crate::engine) fn time(&self) -> Nanos {
        match self {
            Pending::Segment(next) => next.segment.time,
            Pending::LeftOut => Nanos(i64::MIN),
        }
    }
}

/// Result of reading one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Pulled {
    /// An item, or the end.
    Item,
    /// A signal came during the wait; call again.
    Interrupted,
}

/// An open capture.
pub(in crate::engine) struct Lane {
    /// Number of the capture among the inputs of the run.
    pub(in crate::engine) number: usize,
    pub(in crate::engine) capture: Capture,
    pub(in crate::engine) source: Source,
    /// Packets of the capture that are numbered already.
    pub(in crate::engine) taken: u64,
    /// Segments of the capture that another capture of the set holds too.
    pub(in crate::engine) repeated: u64,
    pub(in crate::engine) pending: VecDeque<Pending>,
    /// The capture is read to its end.
    pub(in crate::engine) over: bool,
    /// The error that ended the reading, if an error did.
    pub(in crate::engine) error: Option<CaptureError>,
}

impl Lane {
    pub(in crate::engine) fn new(number: usize, capture: Capture) -> Lane {
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

    /// No item waits, and the capture goes on.
    pub(in crate::engine) fn is_plain(&self) -> bool {
        self.pending.is_empty() && !self.over
    }

    /// No item waits, and none will come.
    pub(in crate::engine) fn is_through(&self) -> bool {
        self.pending.is_empty() && self.over
    }

    /// Packets read so far.
    pub(in crate::engine) fn read(&self, status: &CaptureStatus) -> u64 {
        self.source.text_packets().unwrap_or(status.packets)
    }

    /// Puts the segment just read into the queue.
    pub(in crate::engine) fn puts_off(&mut self, item: &SourceItem, segment: Segment, status: &CaptureStatus) {
        let start = matches!(item, SourceItem::Start).then(|| self.source.start.clone());
        let (base, read, tunnel) = (self.source.base, self.read(status), self.source.tunnel.take());
        let interface = Interface::of(&self.source, &self.capture);
        self.pending.push_back(Pending::Segment(Next { segment, base, read, start, tunnel, interface }));
    }

    /// Reads one item; a segment goes into the queue.
    pub(in crate::engine) fn pull(&mut self, status: &mut CaptureStatus) -> Pulled {
        let mut segment = Segment::default();
        match self.source.next_apart(&mut self.capture, status, &mut segment) {
            Ok(Some(item @ (SourceItem::Segment | SourceItem::Start))) => self.puts_off(&item, segment, status),
            Ok(Some(SourceItem::LeftOut)) => self.pending.push_back(Pending::LeftOut),
            Ok(Some(SourceItem::Nothing)) => {}
            Ok(Some(SourceItem::Interrupted)) => return Pulled::Interrupted,
            Ok(None) => self.over = true,
            Err(error) => (self.over, self.error) = (true, Some(error)),
        }
        Pulled::Item
    }

    /// Reads up to the first packet. Where the reading waits, `again` decides whether to continue.
    pub(in crate::engine) fn begin(
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
