//! The pipeline: captures in, rows out as their flows end.

mod filter;
mod sample;
mod status;
mod table;

use std::ops::ControlFlow;

pub use self::filter::Filter;
pub use self::sample::samples;
pub use self::status::{CaptureStatus, Skipped, Warning};

use self::table::{Over, Table};
use crate::capture::{Capture, CaptureError, Item};
use crate::causes::Limits;
use crate::tables::{FlowRow, Wanted, flow_row};
use crate::wire::text::{Paste, Reading};
use crate::wire::{self, Segment};

/// What to read and what to report.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which packets and flows.
    pub filter: Filter,
    /// Thresholds of the rules.
    pub limits: Limits,
    /// What the rows hold.
    pub wanted: Wanted,
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
                pass.read(capture)
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
pub fn segments(path: &str, mut each: impl FnMut(&Segment)) -> Result<CaptureStatus, CaptureError> {
    let mut capture = Capture::open(path)?;
    let mut status = CaptureStatus::new(path);
    let mut source = Source::default();
    loop {
        match source.next(&mut capture, &mut status) {
            Ok(Some(Event::Segment(segment))) => each(&segment),
            Ok(Some(Event::LeftOut | Event::Nothing)) => {}
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
                Ok(Some(Event::Segment(segment))) => {
                    if self.options.filter.takes(&segment) {
                        table.sees(&segment, self.next_id, &mut done);
                    }
                }
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
        self.hand_on(table.drain())
    }

    fn hand_on(&mut self, flows: impl Iterator<Item = Over>) -> ControlFlow<()> {
        for (id, flow) in flows {
            let ends = [flow.connection.client, flow.connection.server];
            if self.options.filter.wants(id, ends) {
                let row = flow_row(&flow, id, self.number, &self.options.limits, self.options.wanted);
                self.follower.flow(row)?;
            }
        }
        ControlFlow::Continue(())
    }
}

enum Event {
    Segment(Segment),
    LeftOut,
    Nothing,
}

/// Segments from frames and from text alike.
#[derive(Default)]
struct Source {
    paste: Option<Box<Paste>>,
    finished: bool,
    dropped: u64,
    unreadable: u64,
}

impl Source {
    #[inline]
    fn next(&mut self, capture: &mut Capture, status: &mut CaptureStatus) -> Result<Option<Event>, CaptureError> {
        let reading = match capture.next()? {
            Some(Item::Frame(frame)) => {
                status.packets += 1;
                if status.packets == 1 {
                    status.first_ns = Some(frame.time);
                }
                status.at(frame.time);
                return Ok(Some(match wire::decode(&frame) {
                    Ok(segment) => {
                        status.tcp_segments += 1;
                        Event::Segment(segment)
                    }
                    Err(skip) => {
                        status.skipped.count(skip);
                        Event::Nothing
                    }
                }));
            }
            Some(Item::Dropped(packets)) => {
                self.dropped += packets;
                return Ok(Some(Event::Nothing));
            }
            Some(Item::Line(line)) => self.paste.get_or_insert_with(Default::default).line(line),
            None => match &mut self.paste {
                Some(paste) if !self.finished => {
                    self.finished = true;
                    let last = paste.finish();
                    if paste.packets() == 0 && last == Reading::Remark {
                        return Err(CaptureError::NotACapture { what: NO_PACKET_LINE.into() });
                    }
                    last
                }
                _ => return Ok(None),
            },
        };
        Ok(Some(self.of_text(reading, status)))
    }

    fn of_text(&mut self, reading: Reading, status: &mut CaptureStatus) -> Event {
        match reading {
            Reading::Segment(segment) => {
                status.at(segment.time);
                status.tcp_segments += 1;
                Event::Segment(segment)
            }
            Reading::LeftOut => Event::LeftOut,
            Reading::NotTcp => {
                status.skipped.not_tcp += 1;
                Event::Nothing
            }
            Reading::NotIp => {
                status.skipped.not_ip += 1;
                Event::Nothing
            }
            Reading::Damaged => {
                self.unreadable += 1;
                Event::Nothing
            }
            Reading::Remark => Event::Nothing,
        }
    }

    fn close(&mut self, status: &mut CaptureStatus) {
        if let Some(paste) = &self.paste {
            status.packets = paste.packets();
            self.dropped += paste.dropped_by_kernel().unwrap_or(0);
            if !paste.dated() && status.tcp_segments > 0 {
                status.warn("no-date", 1, NO_DATE.into());
            }
        }
        if self.unreadable > 0 {
            let message =
                "lines look like packets but could not be read; paste tcpdump's output unbroken, without -q and -t";
            status.warn("unreadable-lines", self.unreadable, message.into());
        }
        if self.dropped > 0 {
            let message = format!("the capture dropped {} packets; waits near them may be mislabelled", self.dropped);
            status.warn("capture-drops", self.dropped, message);
        }
    }
}

const NO_PACKET_LINE: &str = "text without one line of tcpdump's output; give a pcap, a pcapng or what tcpdump printed";
const NO_DATE: &str = "the text has no date: times count from 1970-01-01 (tcpdump -tttt prints the date)";
