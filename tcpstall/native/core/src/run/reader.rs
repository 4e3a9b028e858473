//! A capture's segments in batches, each in the order of its times.

use super::batch::Batch;
use super::filter::Filter;
use super::source::{Event, Source};
use super::status::CaptureStatus;
use crate::capture::{Capture, CaptureError};

/// Records read for one batch at most: of other traffic a batch would never be full, and progress never told.
const RECORDS: u32 = 1 << 14;

/// Why a batch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// There is more to read.
    More,
    /// A signal came while waiting for more.
    Interrupted,
    /// The capture is read, or cannot be read any further.
    End,
}

/// Reads a capture.
pub(super) struct Reader<'a> {
    pub(super) capture: Capture,
    pub(super) status: &'a mut CaptureStatus,
    filter: &'a Filter,
    source: Source,
    /// Why it cannot be read any further.
    pub(super) error: Option<CaptureError>,
    /// The last of the segments read, which later ones may belong before.
    held: Batch,
}

impl<'a> Reader<'a> {
    pub(super) fn new(capture: Capture, filter: &'a Filter, status: &'a mut CaptureStatus) -> Reader<'a> {
        Reader { capture, status, filter, source: Source::default(), error: None, held: Batch::default() }
    }

    /// Fills an empty batch. It ends early where reading on would wait, so that what a live capture holds is judged.
    pub(super) fn fill(&mut self, batch: &mut Batch) -> Filled {
        std::mem::swap(batch, &mut self.held);
        let mut records = 0;
        let filled = loop {
            match self.source.next(&mut self.capture, self.status, batch.place()) {
                Ok(Some(event @ (Event::Segment | Event::Start))) => {
                    let tunnel = self.source.tunnel.take();
                    if self.filter.takes(batch.place()) {
                        batch.keep();
                        if matches!(event, Event::Start) {
                            batch.starts_with(&self.source.start);
                        }
                        if let Some(tunnel) = tunnel {
                            batch.came_through(tunnel);
                        }
                    }
                }
                Ok(Some(Event::LeftOut)) => {
                    batch.left_out = true;
                    batch.sort();
                    return Filled::More;
                }
                Ok(Some(Event::Nothing)) => {}
                Ok(Some(Event::Interrupted)) => break Filled::Interrupted,
                Ok(None) => break Filled::End,
                Err(error) => {
                    self.status.fail(&error);
                    self.error = Some(error);
                    break Filled::End;
                }
            }
            records += 1;
            if batch.is_full() || records == RECORDS || !self.capture.has_more() {
                break Filled::More;
            }
        };
        match filled {
            Filled::End => batch.sort(),
            Filled::More | Filled::Interrupted => batch.settle(&mut self.held),
        }
        filled
    }

    /// The capture is read: what its reader counted goes into the status.
    pub(super) fn close(&mut self) {
        self.status.describe(&self.capture);
        self.source.close(self.status);
    }
}
