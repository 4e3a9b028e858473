//! One packet before and after its addresses are replaced.

use super::cache::Cache;
use super::checksum::ChecksumDelta;
use crate::wire::Address;

/// A frame before and after.
pub(super) struct FrameRewrite<'a> {
    pub(super) old: &'a [u8],
    /// The new bytes, at first the same as the old. Empty where only the headers' length is requested.
    pub(super) new: &'a mut Vec<u8>,
    pub(super) names: Option<&'a mut Cache>,
}

impl FrameRewrite<'_> {
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
                let new = names.mac(old);
                self.write(at, &new);
            }
            _ => self.blank(at, at + 6),
        }
    }

    /// The change of the bytes from `from` to `to`.
    pub(super) fn change(&self, from: usize, to: usize) -> ChecksumDelta {
        match (self.old.get(from..to), self.new.get(from..to)) {
            (Some(old), Some(new)) => ChecksumDelta::of(old, new),
            _ => ChecksumDelta::default(),
        }
    }

    /// Updates the checksum at `at`, which covers the other bytes from `from` to `to`, and the change `beside`.
    pub(super) fn mend(&mut self, at: usize, from: usize, to: usize, beside: ChecksumDelta) {
        let Some(old) = self.read::<2>(at).filter(|_| self.names.is_some()) else { return };
        let end = to.min(self.old.len());
        let change = self.change(from, at).and(self.change(at + 2, end.max(at + 2))).and(beside);
        self.write(at, &change.on(u16::from_be_bytes(old)).to_be_bytes());
    }
}
