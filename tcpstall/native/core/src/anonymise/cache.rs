//! Pseudonyms of the addresses that came before.

use hashbrown::HashMap;

use super::pseudonyms::Pseudonyms;
use crate::wire::Address;

/// Pseudonyms kept for later packets: an IPv6 pseudonym takes two hundred encryptions. A flood of addresses costs time,
/// not memory.
const REMEMBERED: usize = 1 << 16;

/// Pseudonyms, and those that were made already.
#[derive(Debug)]
pub(super) struct Cache {
    names: Pseudonyms,
    known: HashMap<Address, Address>,
}

impl Cache {
    pub(super) fn new(names: Pseudonyms) -> Cache {
        Cache { names, known: HashMap::new() }
    }

    /// The MAC address's pseudonym.
    pub(super) fn mac(&self, address: [u8; 6]) -> [u8; 6] {
        self.names.mac(address)
    }

    /// The address's pseudonym.
    pub(super) fn address(&mut self, address: Address) -> Address {
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
}
