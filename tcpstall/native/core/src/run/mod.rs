//! The pipeline: captures in, rows out as their flows end.

mod filter;
mod sample;
mod source;
mod status;
mod table;

use std::ops::ControlFlow;

pub use self::filter::Filter;
pub use self::sample::samples;
pub use self::status::{CaptureStatus, Skipped, Warning};

use self::source::{Event, Source};
use self::table::{Over, Table};
use crate::capture::{Capture, CaptureError, Expansion};
use crate::causes::Limits;
use crate::tables::{FlowRow, Wanted, flow_row};
use crate::wire::Segment;

/// What to read and what to report.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which packets and flows.
    pub filter: Filter,
    /// Thresholds of the rules.
    pub limits: Limits,
    /// What the rows hold.
    pub wanted: Wanted,
    /// How much compressed input may grow.
    pub expansion: Expansion,
}

/// Who follows a run.
pub trait Follower {
    /// A flow is over and judged.
    fn flow(&mut self, row: FlowRow) -> ControlFlow<()>;
    /// So many bytes of the current input were read, out of so many where that is known.
    fn progress(&mut self, read: u64, size: Option<u64>) -> ControlFlow<()>;
}

/// Progress is told each time so many packets were read.
const PROGRESS_EVERY: u64 = 1 << 18;

/// Reads captures one after the other. Bad inputs do not stop the run; a follower that breaks does.
pub fn run(paths: &[String], options: &Options, follower: &mut dyn Follower) -> Vec<CaptureStatus> {
    let mut statuses = Vec::with_capacity(paths.len());
    let mut next_id = 0;
    for (number, path) in paths.iter().enumerate() {
        let mut status = CaptureStatus::new(path);
        let reading = match Capture::open(path) {
            Ok(capture) => {
                let pass =
                    Pass { options, follower, number: number as u32, next_id: &mut next_id, status: &mut status };
                pass.read(capture.with_expansion(options.expansion))
            }
            Err(error) => {
                status.fail(&error);
                ControlFlow::Continue(())
            }
        };
        statuses.push(status);
        if reading.is_break() {
            break;
        }
    }
    statuses
}

/// The TCP segments of one capture in order, for whoever wants each of them. Ends with the capture's error, if it has one.
/// Where the reading waits, `signalled` says whether to give up.
pub fn segments(
    path: &str,
    mut each: impl FnMut(&Segment),
    mut signalled: impl FnMut() -> bool,
) -> Result<CaptureStatus, CaptureError> {
    let mut capture = Capture::open(path)?;
    let mut status = CaptureStatus::new(path);
    let mut source = Source::default();
    loop {
        match source.next(&mut capture, &mut status) {
            Ok(Some(Event::Segment | Event::Start)) => each(&source.segment),
            Ok(Some(Event::Interrupted)) if signalled() => return Err(CaptureError::Interrupted),
            Ok(Some(Event::LeftOut | Event::Nothing | Event::Interrupted)) => {}
            Ok(None) => break,
            Err(error) => {
                status.fail(&error);
                if !matches!(error, CaptureError::Damaged { .. }) {
                    return Err(error);
                }
                break;
            }
        }
    }
    status.describe(&capture);
    Ok(status)
}

/// One capture's way through the engine.
struct Pass<'a> {
    options: &'a Options,
    follower: &'a mut dyn Follower,
    number: u32,
    next_id: &'a mut u64,
    status: &'a mut CaptureStatus,
}

impl Pass<'_> {
    fn read(mut self, mut capture: Capture) -> ControlFlow<()> {
        let mut table = Table::default();
        let mut source = Source::default();
        let mut done = Vec::new();
        let mut countdown = PROGRESS_EVERY;
        let flow = loop {
            match source.next(&mut capture, self.status) {
                Ok(Some(event @ (Event::Segment | Event::Start))) => {
                    if self.options.filter.takes(&source.segment) {
                        let seen = table.sees(&source.segment, self.next_id, &mut done).map(|(_, seen, _)| seen);
                        if source.segment.tunnelled {
                            table.came_through(&source.segment, source.tunnel.as_ref());
                        }
                        if let (Event::Start, Some(seen)) = (event, seen) {
                            table.begins_with(&source.segment, seen, &source.start);
                        }
                    }
                }
                Ok(Some(Event::Interrupted)) => countdown = 1,
                Ok(Some(Event::LeftOut)) => table.left_out(),
                Ok(Some(Event::Nothing)) => {}
                Ok(None) => break ControlFlow::Continue(()),
                Err(error) => {
                    self.status.fail(&error);
                    break ControlFlow::Continue(());
                }
            }
            countdown -= 1;
            if countdown == 0 {
                countdown = PROGRESS_EVERY;
                if self.follower.progress(capture.offset(), capture.size()).is_break() {
                    break ControlFlow::Break(());
                }
            }
            if !done.is_empty() && self.hand_on(done.drain(..)).is_break() {
                break ControlFlow::Break(());
            }
        };
        self.status.describe(&capture);
        source.close(self.status);
        flow?;
        self.follower.progress(capture.offset(), capture.size())?;
        self.hand_on(table.drain())?;
        self.status.doubt();
        ControlFlow::Continue(())
    }

    fn hand_on(&mut self, flows: impl Iterator<Item = Over>) -> ControlFlow<()> {
        for (id, flow) in flows {
            let ends = [flow.connection().client, flow.connection().server];
            if self.options.filter.wants(id, ends) {
                let row = flow_row(&flow, id, self.number, &self.options.limits, self.options.wanted);
                self.status.trust.add(&row);
                self.follower.flow(row)?;
            }
        }
        ControlFlow::Continue(())
    }
}
