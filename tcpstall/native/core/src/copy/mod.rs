//! A capture written again: all of it with remarks, or some of its packets, as they are or such that they may be shared.

mod blocks;
mod choice;
mod form;
mod pcap;
mod pcapng;
mod remarks;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::ops::ControlFlow;

pub use self::choice::{Choice, Stretch, Stretches};
pub use self::form::Form;
pub use self::remarks::{Moment, Remarks};

use self::form::Output;
use crate::capture::{Capture, CaptureError, Frame, Item, LinkType};
use crate::disguise::{Disguise, Pseudonyms, headers};
use crate::time::Nanos;

/// Progress is told each time so many packets were read.
const PROGRESS_EVERY: u64 = 1 << 16;

/// What to write.
#[derive(Debug)]
pub struct Wish {
    /// The kind of file.
    pub form: Form,
    /// Which packets.
    pub choice: Choice,
    /// What to say at them.
    pub remarks: Remarks,
    /// What to say of the whole, which only pcapng can.
    pub about: String,
    /// With payload, as far as it was captured.
    pub payload: bool,
    /// So that it may be shared: with these pseudonyms, without payload, and without what else names somebody.
    pub names: Option<Pseudonyms>,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Packets read.
    pub packets: u64,
    /// Packets written.
    pub written: u64,
    /// Remarks written.
    pub remarks: u64,
    /// Packets of which nothing understood was left but their link-layer header, since they may be shared.
    pub blanked: u64,
    /// Blocks without packets that were left out, for the same reason or because they are not about the chosen packets.
    pub left_out: u64,
    /// Why the capture could not be read to its end.
    pub error: Option<CaptureError>,
}

/// Why nothing useful was written.
#[derive(Debug)]
pub enum Failure {
    /// The capture cannot be read.
    Capture(CaptureError),
    /// The kind of file cannot hold it: why, and what to do.
    Form(String),
    /// The output cannot be written.
    Write(io::Error),
    /// Whoever follows it said so.
    Stopped,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Write(error)
    }
}

/// Reads the capture to its end and writes what is wished. Where some packets have been read, damage is no failure.
/// `told` hears now and then how many bytes were read, out of how many where that is known.
pub fn copy(
    capture: Capture,
    wish: Wish,
    out: &mut dyn Write,
    told: &mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>,
) -> Result<Copied, Failure> {
    let mut capture = capture.with_blocks();
    let mut copier = Copier::new(wish);
    loop {
        let done = copier.next(&mut capture, out)?;
        if (done.waits || copier.copied.packets.is_multiple_of(PROGRESS_EVERY))
            && told(capture.offset(), capture.size()).is_break()
        {
            return Err(Failure::Stopped);
        }
        if done.ends {
            break;
        }
    }
    let link = capture.link_types().first().copied().unwrap_or(LinkType::ETHERNET);
    copier.output.end(link, capture.recording(), out)?;
    out.flush()?;
    Ok(copier.copied)
}

/// What a step came to.
#[derive(Clone, Copy, Default)]
struct Done {
    ends: bool,
    waits: bool,
}

/// A packet that is to be written, without its bytes.
struct Chosen {
    time: Nanos,
    link: LinkType,
    wire_length: u32,
    /// Its bytes are those of the frame no more.
    changed: bool,
    remarks: Vec<String>,
}

struct Copier {
    choice: Choice,
    remarks: Remarks,
    payload: bool,
    disguise: Option<Disguise>,
    output: Output,
    /// The bytes of the packet under way, where they are not those of the frame.
    bytes: Vec<u8>,
    copied: Copied,
}

impl Copier {
    fn new(wish: Wish) -> Copier {
        let whole = matches!(wish.choice, Choice::Everything);
        Copier {
            output: Output::new(wish.form, wish.about, whole, wish.names.is_some()),
            choice: wish.choice,
            remarks: wish.remarks,
            payload: wish.payload,
            disguise: wish.names.map(Disguise::new),
            bytes: Vec::new(),
            copied: Copied::default(),
        }
    }

    fn next(&mut self, capture: &mut Capture, out: &mut dyn Write) -> Result<Done, Failure> {
        let item = match capture.next() {
            Ok(Some(item)) => item,
            Ok(None) => return Ok(Done { ends: true, ..Done::default() }),
            Err(CaptureError::Interrupted) => return Ok(Done { waits: true, ..Done::default() }),
            Err(error @ (CaptureError::Damaged { .. } | CaptureError::Read { .. })) => {
                self.copied.error = Some(error);
                return Ok(Done { ends: true, ..Done::default() });
            }
            Err(error) => return Err(Failure::Capture(error)),
        };
        match item {
            Item::Frame(frame) => {
                self.copied.packets += 1;
                if let Some(chosen) = self.chosen(&frame) {
                    self.enter(capture, out)?;
                    let left = self.output.packet(&chosen, &self.bytes, capture.block(), capture.recording(), out)?;
                    self.copied.written += 1;
                    self.copied.remarks += (chosen.remarks.len() - left) as u64;
                }
            }
            Item::Block => {
                self.enter(capture, out)?;
                let kept = capture.block().map_or(Ok(true), |block| self.output.block(block, out))?;
                self.copied.left_out += u64::from(!kept);
            }
            Item::Line(_) => return Err(Failure::Form(OF_TEXT.into())),
            Item::LeftOut | Item::Dropped(_) => {}
        }
        Ok(Done::default())
    }

    /// Lets the output know in which section the last item was.
    fn enter(&mut self, capture: &Capture, out: &mut dyn Write) -> Result<(), Failure> {
        let Some(section) = capture.section() else { return Ok(()) };
        self.output.enters(section, capture.block().is_some_and(blocks::is_header), out)
    }

    /// What is to be written of the frame, if anything is; its bytes are in [`Copier::bytes`] then.
    fn chosen(&mut self, frame: &Frame<'_>) -> Option<Chosen> {
        if !self.choice.takes(frame, self.disguise.as_mut()) {
            return None;
        }
        let remarks = self.remarks.of(frame, self.disguise.as_mut());
        let mut chosen =
            Chosen { time: frame.time, link: frame.link, wire_length: frame.wire_length, changed: false, remarks };
        match &mut self.disguise {
            Some(disguise) => {
                let disguised = disguise.frame(frame, &mut self.bytes);
                self.copied.blanked += u64::from(!disguised.understood);
                (chosen.link, chosen.wire_length, chosen.changed) = (disguised.link, disguised.wire_length, true);
            }
            None => {
                let end = if self.payload { frame.bytes.len() } else { headers(frame) };
                chosen.changed = end < frame.bytes.len();
                self.bytes.clear();
                self.bytes.extend_from_slice(&frame.bytes[..end]);
            }
        }
        Some(chosen)
    }
}

const OF_TEXT: &str =
    "this is tcpdump's text, which holds no packets; make a capture of it first: tcpstall convert PASTE -o NEW.pcap";
