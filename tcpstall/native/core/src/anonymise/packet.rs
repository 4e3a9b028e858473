//! Cuts one frame to its headers and replaces addresses by pseudonyms.

use hashbrown::HashMap;

use super::checksum::Change;
use super::link;
use super::pseudonyms::Pseudonyms;
use crate::capture::{self, LinkType};
use crate::wire::{Address, link_header};

/// Pseudonyms kept for later packets: an IPv6 pseudonym takes two hundred encryptions. A flood of addresses costs time,
/// not memory.
const REMEMBERED: usize = 1 << 16;

/// Makes packets safe to share.
#[derive(Debug)]
pub struct Anonymise {
    names: Pseudonyms,
    known: HashMap<Address, Address>,
}

/// The result for one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its new link type: radio headers and the like are removed, and their payload stands alone.
    pub link: LinkType,
    /// Its length on the wire without them, bytes.
    pub wire_length: u32,
    /// False if nothing in the frame is understood, so that only its link-layer header stays.
    pub understood: bool,
}

impl Anonymise {
    /// A anonymise with these pseudonyms.
    pub fn new(names: Pseudonyms) -> Anonymise {
        Anonymise { names, known: HashMap::new() }
    }

    /// The address's pseudonym.
    pub fn address(&mut self, address: Address) -> Address {
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let pseudonym = self.names.address(address);
        self.known.insert(address, pseudonym);
        pseudonym
    }

    /// Writes the part of the frame that is safe to share into `to`.
    pub fn frame(&mut self, frame: &capture::Frame<'_>, to: &mut Vec<u8>) -> Frame {
        to.clear();
        to.extend_from_slice(frame.bytes);
        let ip = link_header(frame).ok().filter(|ip| *ip <= frame.bytes.len());
        let mut packet = Packet { old: frame.bytes, new: to, names: Some(self) };
        let kept = link::anonymise(&mut packet, frame.link, ip);
        let end = ip.map_or(kept, |ip| packet.ip(ip, 0)).min(frame.bytes.len());
        to.truncate(end);
        let understood = ip.is_some_and(|ip| end > ip) || kept > link::plain(frame.link).unwrap_or(0);
        if link::plain(frame.link).is_some() {
            return Frame { link: frame.link, wire_length: frame.wire_length, understood };
        }
        let outer = ip.unwrap_or(end).min(end);
        to.drain(..outer);
        let wire_length = frame.wire_length.saturating_sub(outer as u32);
        Frame { link: link::bare(frame.link), wire_length, understood }
    }
}

/// Length of the frame's headers, as far as they are understood, bytes; the whole length where there is no IP.
pub fn headers(frame: &capture::Frame<'_>) -> usize {
    let Ok(ip) = link_header(frame) else { return frame.bytes.len() };
    let mut nothing = Vec::new();
    Packet { old: frame.bytes, new: &mut nothing, names: None }.ip(ip, 0).min(frame.bytes.len())
}

/// A frame before and after the anonymise.
pub(super) struct Packet<'a> {
    pub(super) old: &'a [u8],
    /// The new bytes, at first the same as the old. Empty where only the headers' length is requested.
    pub(super) new: &'a mut Vec<u8>,
    pub(super) names: Option<&'a mut Anonymise>,
}

impl Packet<'_> {
    /// `N` bytes of the old frame.
    pub(super) fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.old.get(at..)?.first_chunk().copied()
    }

    /// Blanks the bytes from `from` to `to`.
    pub(super) fn blank(&mut self, from: usize, to: usize) {
        let to = to.min(self.new.len());
        if let Some(bytes) = self.new.get_mut(from..to) {
            bytes.fill(0);
        }
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.new.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// Replaces the IPv4 address at `at` by its pseudonym.
    pub(super) fn address_v4(&mut self, at: usize) {
        if let (Some(old), Some(names)) = (self.read::<4>(at), self.names.as_mut()) {
            let new = names.address(Address::v4(old)).0 as u32;
            self.write(at, &new.to_be_bytes());
        }
    }

    /// Replaces the IPv6 address at `at` by its pseudonym.
    pub(super) fn address_v6(&mut self, at: usize) {
        if let (Some(old), Some(names)) = (self.read::<16>(at), self.names.as_mut()) {
            let new = names.address(Address::v6(old)).0;
            self.write(at, &new.to_be_bytes());
        }
    }

    /// Replaces the MAC address at `at` by its pseudonym.
    pub(super) fn mac(&mut self, at: usize) {
        match (self.read::<6>(at), self.names.as_ref()) {
            (Some(old), Some(names)) => {
                let new = names.names.mac(old);
                self.write(at, &new);
            }
            _ => self.blank(at, at + 6),
        }
    }

    /// The change of the bytes from `from` to `to`.
    pub(super) fn change(&self, from: usize, to: usize) -> Change {
        match (self.old.get(from..to), self.new.get(from..to)) {
            (Some(old), Some(new)) => Change::of(old, new),
            _ => Change::default(),
        }
    }

    /// Updates the checksum at `at`, which covers the other bytes from `from` to `to`, and the change `beside`.
    pub(super) fn mend(&mut self, at: usize, from: usize, to: usize, beside: Change) {
        let Some(old) = self.read::<2>(at).filter(|_| self.names.is_some()) else { return };
        let end = to.min(self.old.len());
        let change = self.change(from, at).and(self.change(at + 2, end.max(at + 2))).and(beside);
        self.write(at, &change.on(u16::from_be_bytes(old)).to_be_bytes());
    }
}
