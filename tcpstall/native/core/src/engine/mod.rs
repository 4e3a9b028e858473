//! The pipeline: reads captures and returns rows as their flows end.

mod batch;
mod deal;
mod filter;
mod followers;
mod opener;
mod pass;
mod peek;
mod reader;
mod record;
mod sample;
mod second_pass;
mod sets;
mod shards;
mod status;
mod stream;
mod table;
mod taps;
mod turns;

use std::num::NonZero;
use std::ops::ControlFlow;

pub use self::filter::Filter;
pub use self::opener::Opener;
pub use self::peek::{Peek, peek};
pub use self::record::records;
pub use self::sample::samples;
pub use self::sets::Sets;
pub use self::status::{CaptureStatus, Skipped, Warning};
pub use self::stream::StreamState;
pub use self::taps::{TwoTaps, two_taps};

use self::pass::Pass;
use self::reader::Reader;
use self::reader::source::{Source, SourceItem};
use self::sets::in_order;
use crate::anonymise::Pseudonyms;
use crate::capture::{Capture, CaptureError, Expansion, shown};
use crate::causes::Limits;
use crate::results::{FlowRow, Wanted};
use crate::wire::Segment;

/// Options of a run: input and report.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Selection of packets and flows.
    pub filter: Filter,
    /// Thresholds of the rules.
    pub limits: Limits,
    /// Content of the rows.
    pub wanted: Wanted,
    /// Limit on the growth of compressed input.
    pub expansion: Expansion,
    /// Makes the results safe to share: these pseudonyms replace addresses; labels and names of files are left out.
    pub names: Option<Pseudonyms>,
    /// Inputs that form one stream.
    pub sets: Sets,
    /// Opens captures by their names.
    pub opener: Opener,
    /// Number of processors to use: with one, the calling thread does all the work. `None`: as many as there are.
    pub threads: Option<NonZero<usize>>,
}

impl RunOptions {
    /// Opens the capture with that name.
    fn capture(&self, path: &str) -> Result<Capture, CaptureError> {
        let capture = self.opener.open(path)?.with_expansion(self.expansion);
        Ok(if self.threads.is_some_and(|threads| threads.get() == 1) { capture.without_threads() } else { capture })
    }

    /// Name of an input in the results.
    fn shown(&self, number: usize, path: &str) -> String {
        self.names.as_ref().map_or_else(|| shown(path), |_| format!("capture-{}", number + 1))
    }
}

/// Callbacks of a run.
pub trait Follower {
    /// A finished and judged flow. Its row takes kilobytes and lies where it was made: [`FlowRow::take`] moves it away.
    fn flow(&mut self, row: &mut FlowRow) -> ControlFlow<()>;
    /// Bytes of the current input read so far, and its size where that is known.
    fn progress(&mut self, read: u64, size: Option<u64>) -> ControlFlow<()>;
    /// A serialised [`StreamState`], after the last file of a stream; [`Sets::puts_down`] asks for it.
    fn put_down(&mut self, _stream: Vec<u8>) {}
}

/// Reads captures, one set after the other. Bad inputs do not stop the run; a follower that returns `Break` does.
pub fn run(paths: &[String], options: &RunOptions, follower: &mut dyn Follower) -> Vec<CaptureStatus> {
    go_on(paths, options, follower, None)
}

/// Runs with a first set that continues a serialised stream: the stream's captures are the first paths, in their order,
/// and are not read again ([`Sets::names_only`] of them).
pub fn go_on(
    paths: &[String],
    options: &RunOptions,
    follower: &mut dyn Follower,
    mut stream: Option<StreamState>,
) -> Vec<CaptureStatus> {
    let status = |(number, path): (usize, &String)| CaptureStatus::new(&options.shown(number, path));
    let mut statuses: Vec<CaptureStatus> = paths.iter().enumerate().map(status).collect();
    let (mut next_id, mut begun, mut streams) = (0, 0, 0);
    for set in options.sets.groups(paths.len()) {
        begun = set.iter().fold(begun, |begun, number| begun.max(number + 1));
        if set.len() > 1 {
            set.iter().for_each(|number| statuses[*number].stream = Some(streams));
            streams += 1;
        }
        let reading = match in_order(&set, paths, options, &mut statuses, &mut || follower.progress(0, None)) {
            ControlFlow::Continue(coming) => {
                let reader = Reader::new(coming, paths, options, &mut statuses);
                Pass::new(options, follower, &set, &mut next_id, reader).read(paths, stream.take())
            }
            ControlFlow::Break(()) => ControlFlow::Break(()),
        };
        if reading.is_break() {
            statuses.truncate(begun);
            break;
        }
    }
    statuses
}

/// Passes the TCP segments of one capture, in order, to the caller. The status holds the reason why reading ended
/// early; an error is returned only where nothing could be read. Where the reading waits, `signalled` decides whether
/// to give up.
pub fn segments(
    path: &str,
    mut each: impl FnMut(&Segment),
    mut signalled: impl FnMut() -> bool,
) -> Result<CaptureStatus, CaptureError> {
    let mut capture = Capture::open(path)?;
    let mut status = CaptureStatus::new(&shown(path));
    let (mut source, mut segment) = (Source::default(), Segment::default());
    loop {
        match source.next_apart(&mut capture, &mut status, &mut segment) {
            Ok(Some(SourceItem::Segment | SourceItem::Start)) => each(&segment),
            Ok(Some(SourceItem::Interrupted)) if signalled() => return Err(CaptureError::Interrupted),
            Ok(Some(SourceItem::LeftOut | SourceItem::Nothing | SourceItem::Interrupted)) => {}
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
