//! The pipeline: captures in, rows out as their flows end.

mod batch;
mod entry;
mod filter;
mod pass;
mod reader;
mod record;
mod sample;
mod source;
mod status;
mod table;
mod waiting;

use std::ops::ControlFlow;

pub use self::filter::Filter;
pub use self::record::records;
pub use self::sample::samples;
pub use self::status::{CaptureStatus, Skipped, Warning};

use self::pass::Pass;
use self::reader::Reader;
use self::source::{Event, Source};
use crate::capture::{Capture, CaptureError, Expansion};
use crate::causes::Limits;
use crate::disguise::Pseudonyms;
use crate::tables::{FlowRow, Wanted};
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
    /// Results that may be shared: with these pseudonyms for addresses, without labels and names of files.
    pub names: Option<Pseudonyms>,
}

/// Who follows a run.
pub trait Follower {
    /// A flow is over and judged.
    fn flow(&mut self, row: FlowRow) -> ControlFlow<()>;
    /// So many bytes of the current input were read, out of so many where that is known.
    fn progress(&mut self, read: u64, size: Option<u64>) -> ControlFlow<()>;
}

/// Reads captures one after the other. Bad inputs do not stop the run; a follower that breaks does.
pub fn run(paths: &[String], options: &Options, follower: &mut dyn Follower) -> Vec<CaptureStatus> {
    let mut statuses = Vec::with_capacity(paths.len());
    let mut next_id = 0;
    for (number, path) in paths.iter().enumerate() {
        let shown = options.names.as_ref().map_or_else(|| path.clone(), |_| format!("capture-{}", number + 1));
        let mut status = CaptureStatus::new(&shown);
        let reading = match Capture::open(path) {
            Ok(capture) => {
                let reader = Reader::new(capture.with_expansion(options.expansion), &options.filter, &mut status);
                Pass::new(options, follower, number as u32, &mut next_id, reader).read()
            }
            Err(error) => {
                status.fail(&error.about(shown));
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

/// The TCP segments of one capture in order, for whoever wants each of them. What kept it from being read to its end is in the
/// status; an error is for a capture of which nothing could be read. Where the reading waits, `signalled` says whether to give up.
pub fn segments(
    path: &str,
    mut each: impl FnMut(&Segment),
    mut signalled: impl FnMut() -> bool,
) -> Result<CaptureStatus, CaptureError> {
    let mut capture = Capture::open(path)?;
    let mut status = CaptureStatus::new(path);
    let (mut source, mut segment) = (Source::default(), Segment::default());
    loop {
        match source.next(&mut capture, &mut status, &mut segment) {
            Ok(Some(Event::Segment | Event::Start)) => each(&segment),
            Ok(Some(Event::Interrupted)) if signalled() => return Err(CaptureError::Interrupted),
            Ok(Some(Event::LeftOut | Event::Nothing | Event::Interrupted)) => {}
            Ok(None) => break,
            Err(error) => {
                status.fail(&error);
                if !matches!(error, CaptureError::Damaged { .. } | CaptureError::Read { .. }) {
                    return Err(error);
                }
                break;
            }
        }
    }
    status.describe(&capture);
    Ok(status)
}
