//! Writes a capture again: all of it with remarks, or some of its packets, unchanged or safe to share.

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
use crate::anonymise::{Anonymise, Pseudonyms, headers};
use crate::capture::{Capture, CaptureError, Frame, Item, LinkType};
use crate::time::Nanos;

/// Packets between two reports of progress.
const PROGRESS_EVERY: u64 = 1 << 16;

/// Options of a copy.
#[derive(Debug)]
pub struct Wish {
    /// The file format.
    pub form: Form,
    /// The packets.
    pub choice: Choice,
    /// Remarks on packets.
    pub remarks: Remarks,
    /// A remark on the whole capture, only in pcapng.
    pub about: String,
    /// Keep the payload, as far as it was captured.
    pub payload: bool,
    /// Make the copy safe to share: with these pseudonyms, without payload, and without other names.
    pub names: Option<Pseudonyms>,
}

/// Statistics of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Packets read.
    pub packets: u64,
    /// Packets written.
    pub written: u64,
    /// Remarks written.
    pub remarks: u64,
    /// Packets reduced to their link-layer header for safe sharing, because the rest was not understood.
    pub blanked: u64,
    /// Blocks without packets that were left out, for safe sharing or because they do not concern the chosen packets.
    pub left_out: u64,
    /// Reason why the capture could not be read to its end.
    pub error: Option<CaptureError>,
}

/// Reason why nothing useful was written.
#[derive(Debug)]
pub enum Failure {
    /// The capture cannot be read.
    Capture(CaptureError),
    /// The file format cannot hold the capture: reason, and advice.
    Form(String),
    /// The output cannot be written.
    Write(io::Error),
    /// The follower stopped the copy.
    Stopped,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Write(error)
    }
}

/// Reads the capture to its end and writes the chosen packets. After the first packets, damage is no failure.
/// From time to time `told` is called with the bytes read so far, and the size where that is known.
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

/// Result of a step.
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
    /// Its bytes differ from those of the frame.
    changed: bool,
    remarks: Vec<String>,
}

struct Copier {
    choice: Choice,
    remarks: Remarks,
    payload: bool,
    anonymise: Option<Anonymise>,
    output: Output,
    /// The bytes of the present packet, where they differ from those of the frame.
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
            anonymise: wish.names.map(Anonymise::new),
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

    /// Tells the output the section of the last item.
    fn enter(&mut self, capture: &Capture, out: &mut dyn Write) -> Result<(), Failure> {
        let Some(section) = capture.section() else { return Ok(()) };
        self.output.enters(section, capture.block().is_some_and(blocks::is_header), out)
    }

    /// The packet to be written for the frame, if one is; its bytes are then in [`Copier::bytes`].
    fn chosen(&mut self, frame: &Frame<'_>) -> Option<Chosen> {
        if !self.choice.takes(frame, self.anonymise.as_mut()) {
            return None;
        }
        let remarks = self.remarks.of(frame, self.anonymise.as_mut());
        let mut chosen =
            Chosen { time: frame.time, link: frame.link, wire_length: frame.wire_length, changed: false, remarks };
        match &mut self.anonymise {
            Some(anonymise) => {
                let anonymised = anonymise.frame(frame, &mut self.bytes);
                self.copied.blanked += u64::from(!anonymised.understood);
                (chosen.link, chosen.wire_length, chosen.changed) = (anonymised.link, anonymised.wire_length, true);
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
