//! File formats in which a capture is written.

use std::io::Write;

use super::pcap::PcapWriter;
use super::pcapng::PcapngWriter;
use super::{Chosen, Failure};
use crate::capture::{ByteOrder, LinkType, Recording};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The classic file format of libpcap: one link type, no remarks.
    Pcap,
    /// The block-structured file format of Wireshark.
    Pcapng,
}

impl Form {
    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Form> {
        match name {
            "pcap" => Some(Form::Pcap),
            "pcapng" => Some(Form::Pcapng),
            _ => None,
        }
    }
}

/// The file being written.
pub(super) enum Output {
    Pcap(PcapWriter),
    Pcapng(PcapngWriter),
}

impl Output {
    /// An output with all of the capture's other blocks (`whole`), or safe to share (`shared`).
    pub(super) fn new(form: Form, about: String, whole: bool, shared: bool) -> Output {
        match form {
            Form::Pcap => Output::Pcap(PcapWriter::default()),
            Form::Pcapng => Output::Pcapng(PcapngWriter::new(about, whole, shared)),
        }
    }

    /// Notes the section of the next items; `header` is true if its own header follows.
    pub(super) fn enters(
        &mut self,
        section: (u64, ByteOrder),
        header: bool,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        match self {
            Output::Pcap(pcap) => pcap.enters(section.1),
            Output::Pcapng(pcapng) => pcapng.enters(section, header, out)?,
        }
        Ok(())
    }

    /// Writes a packet from a block or from a record; returns the number of its remarks that could not be written.
    pub(super) fn packet(
        &mut self,
        chosen: &Chosen,
        bytes: &[u8],
        block: Option<&[u8]>,
        recording: Option<Recording>,
        out: &mut dyn Write,
    ) -> Result<usize, Failure> {
        match self {
            Output::Pcap(pcap) => {
                pcap.packet(chosen, bytes, recording, out)?;
                Ok(chosen.remarks.len())
            }
            Output::Pcapng(pcapng) => match block {
                Some(block) => Ok(pcapng.again(chosen, bytes, block, out)?),
                None => Ok(pcapng.record(chosen, bytes, recording, out).map(|()| 0)?),
            },
        }
    }

    /// Takes in a block without a packet; false if it is left out.
    pub(super) fn block(&mut self, block: &[u8], out: &mut dyn Write) -> Result<bool, Failure> {
        match self {
            Output::Pcap(pcap) => Ok(pcap.hears(block)),
            Output::Pcapng(pcapng) => Ok(pcapng.block(block, out)?),
        }
    }

    /// Ends the file, which without any packet still has its header.
    pub(super) fn end(
        &mut self,
        link: LinkType,
        recording: Option<Recording>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        match self {
            Output::Pcap(pcap) => Ok(pcap.begin(link, recording, out).map(drop)?),
            Output::Pcapng(pcapng) => Ok(pcapng.begin(out)?),
        }
    }
}
