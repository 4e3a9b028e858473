//! Keyed pseudonyms: the same key gives the same ones, and without the key they look random.

use std::fmt;

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};

use super::special;
use crate::wire::Address;

/// Two keys of AES-128.
pub type Secret = [u8; 32];

/// Pseudonyms of addresses.
///
/// As in Crypto-PAn (Xu et al., 2002), a keyed function of the preceding bits decides whether a bit is flipped, so two
/// addresses share as many leading bits as their pseudonyms do, and no two pseudonyms are equal. The function is that
/// of ipcrypt-pfx (draft-denis-ipcrypt): the sum of two AES permutations, which is no permutation itself.
#[derive(Clone)]
pub struct Pseudonyms {
    one: Aes128,
    other: Aes128,
}

impl fmt::Debug for Pseudonyms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pseudonyms(secret)")
    }
}

impl Pseudonyms {
    /// The pseudonyms of this key.
    pub fn new(secret: &Secret) -> Pseudonyms {
        let [one, other] = [0, 16].map(|from| {
            let mut key = [0; 16];
            key.copy_from_slice(&secret[from..from + 16]);
            Aes128::new(&key.into())
        });
        Pseudonyms { one, other }
    }

    /// The address's pseudonym: of the same kind where [`special`] says so.
    pub fn address(&self, address: Address) -> Address {
        let start = if address.is_v4() { 96 } else { 0 };
        let turned = (start..u128::BITS)
            .filter(|at| !special::keeps(address.0, *at) && self.turns(address.0, *at))
            .fold(0, |turned, at| turned | TOP >> at);
        Address(address.0 ^ turned)
    }

    /// True if the bits before `at` flip the bit there.
    fn turns(&self, address: u128, at: u32) -> bool {
        // The preceding bits, then a mark that shows their number.
        let prefix = address & !(u128::MAX >> at) | TOP >> at;
        let mut one = prefix.to_be_bytes().into();
        let mut other = one;
        self.one.encrypt_block(&mut one);
        self.other.encrypt_block(&mut other);
        (one[15] ^ other[15]) & 1 == 1
    }

    /// A MAC address's pseudonym: locally administered, and to one host or to a group as before. All zeros and all ones
    /// stay.
    pub fn mac(&self, mac: [u8; 6]) -> [u8; 6] {
        const GROUP: u8 = 1;
        const LOCAL: u8 = 2;
        if mac == [0; 6] || mac == [0xff; 6] {
            return mac;
        }
        let mut block = [0; 16];
        block[10..].copy_from_slice(&mac);
        let mut block = block.into();
        // Both ciphers in sequence, which is never done for an IP address.
        self.one.encrypt_block(&mut block);
        self.other.encrypt_block(&mut block);
        let [first, b, c, d, e, f, ..] = <[u8; 16]>::from(block);
        [first & !GROUP | LOCAL | mac[0] & GROUP, b, c, d, e, f]
    }
}

/// The first bit of an address.
const TOP: u128 = 1 << 127;
