//! The kinds of file that a capture is written as.

use std::io::Write;

use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::{Chosen, Failure};
use crate::capture::{LinkType, Order, Recording};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The classic file of libpcap: one link type, no remarks.
    Pcap,
    /// The block-structured file of Wireshark.
    Pcapng,
}

impl Form {
    /// The form of that name.
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
    Pcap(Pcap),
    Pcapng(Pcapng),
}

impl Output {
    /// With all of the capture's other blocks (`whole`), such that it may be `shared`.
    pub(super) fn new(form: Form, about: String, whole: bool, shared: bool) -> Output {
        match form {
            Form::Pcap => Output::Pcap(Pcap::default()),
            Form::Pcapng => Output::Pcapng(Pcapng::new(about, whole, shared)),
        }
    }

    /// What comes is in that section, whose own header it is or not.
    pub(super) fn enters(&mut self, section: (u64, Order), header: bool, out: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Output::Pcap(pcap) => pcap.enters(section.1),
            Output::Pcapng(pcapng) => pcapng.enters(section, header, out)?,
        }
        Ok(())
    }

    /// Writes a packet that came in that block, or in a record written so; says how many of its remarks found no place.
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

    /// A block without a packet came: false if it is left out.
    pub(super) fn block(&mut self, block: &[u8], out: &mut dyn Write) -> Result<bool, Failure> {
        match self {
            Output::Pcap(pcap) => Ok(pcap.hears(block)),
            Output::Pcapng(pcapng) => Ok(pcapng.block(block, out)?),
        }
    }

    /// The capture is read: where nothing was written, it is a file without packets.
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
