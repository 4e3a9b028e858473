//! Cuts one frame to its headers and replaces addresses by pseudonyms.

use super::cache::Cache;
use super::link;
use super::packet::FrameRewrite;
use super::pseudonyms::Pseudonyms;
use crate::capture::{self, LinkType};
use crate::wire::{Address, link_header};

/// Makes packets safe to share.
#[derive(Debug)]
pub struct Anonymise {
    names: Cache,
}

/// The result for one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnonymisedFrame {
    /// Its new link type: radio headers and the like are removed, and their payload stands alone.
    pub link: LinkType,
    /// Its length on the wire without them, bytes.
    pub wire_length: u32,
    /// False if nothing in the frame is understood, so that only its link-layer header stays.
    pub understood: bool,
}

impl Anonymise {
    /// Replaces addresses by these pseudonyms.
    pub fn new(names: Pseudonyms) -> Anonymise {
        Anonymise { names: Cache::new(names) }
    }

    /// The address's pseudonym.
    pub fn address(&mut self, address: Address) -> Address {
        self.names.address(address)
    }

    /// Writes the part of the frame that is safe to share into `to`.
    pub fn frame(&mut self, frame: &capture::Frame<'_>, to: &mut Vec<u8>) -> AnonymisedFrame {
        to.clear();
        to.extend_from_slice(frame.bytes);
        let ip = link_header(frame).ok().filter(|ip| *ip <= frame.bytes.len());
        let mut packet = FrameRewrite { old: frame.bytes, new: to, names: Some(&mut self.names) };
        let kept = link::anonymise(&mut packet, frame.link, ip);
        let end = ip.map_or(kept, |ip| packet.ip(ip, 0)).min(frame.bytes.len());
        to.truncate(end);
        let understood = ip.is_some_and(|ip| end > ip) || kept > link::plain(frame.link).unwrap_or(0);
        if link::plain(frame.link).is_some() {
            return AnonymisedFrame { link: frame.link, wire_length: frame.wire_length, understood };
        }
        let outer = ip.unwrap_or(end).min(end);
        to.drain(..outer);
        let wire_length = frame.wire_length.saturating_sub(outer as u32);
        AnonymisedFrame { link: link::bare(frame.link), wire_length, understood }
    }
}

/// Length of the frame's headers, as far as they are understood, bytes; the whole length where there is no IP.
pub fn headers(frame: &capture::Frame<'_>) -> usize {
    let Ok(ip) = link_header(frame) else { return frame.bytes.len() };
    let mut nothing = Vec::new();
    FrameRewrite { old: frame.bytes, new: &mut nothing, names: None }.ip(ip, 0).min(frame.bytes.len())
}
