//! Replaces the names that tcpdump prints without `-n` by addresses and ports.

use hashbrown::{HashMap, HashSet};

use super::services;
use crate::wire::Address;

/// Documentation addresses, which no host on a network has (RFC 3849); a name's hash fills the low 64 bits.
const DOCUMENTATION: u128 = 0x2001_0db8 << 96;

/// First of the dynamic ports, for which no service is registered (RFC 6335 §6).
const FIRST_DYNAMIC_PORT: u16 = 49_152;

/// Number of dynamic ports.
const DYNAMIC_PORTS: u16 = u16::MAX - FIRST_DYNAMIC_PORT + 1;

/// The names of one paste and their replacements.
///
/// A host name becomes an address in 2001:db8::/32 made from the name alone, so two pastes of one connection agree. A
/// service name that is not in the table becomes a dynamic port, also made from the name; two such names with the same
/// port take neighbouring ports, which is consistent within the paste.
#[derive(Debug, Default)]
pub(super) struct ReplacedNames {
    hosts: Vec<(String, Address)>,
    known_hosts: HashSet<u64>,
    services: Vec<(String, u16)>,
    port_of: HashMap<Vec<u8>, u16>,
    taken: HashSet<u16>,
}

impl ReplacedNames {
    /// Host names in order of appearance, each with its address.
    pub(super) fn hosts(&self) -> &[(String, Address)] {
        &self.hosts
    }

    /// Unknown service names in order of appearance, each with its port.
    pub(super) fn services(&self) -> &[(String, u16)] {
        &self.services
    }

    /// The address for a host name; `None` if it is no possible name (RFC 1123 §2.1, and the underscore that people
    /// use).
    pub(super) fn host(&mut self, name: &[u8]) -> Option<Address> {
        let spelt = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        if !name.iter().all(spelt) || !name.iter().any(u8::is_ascii_alphabetic) {
            return None;
        }
        let hash = hash(name);
        let address = Address(DOCUMENTATION | u128::from(hash));
        if self.known_hosts.insert(hash) {
            self.hosts.push((String::from_utf8_lossy(name).into_owned(), address));
        }
        Some(address)
    }

    /// The port for a service name.
    pub(super) fn port(&mut self, name: &[u8]) -> Option<u16> {
        if let Some(port) = services::port(name) {
            return Some(port);
        }
        if let Some(&port) = self.port_of.get(name) {
            return Some(port);
        }
        let spelt = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'/' | b'*');
        if !name.iter().all(spelt) || !name.iter().any(u8::is_ascii_alphabetic) {
            return None;
        }
        if self.taken.len() == usize::from(DYNAMIC_PORTS) {
            return None;
        }
        let start = (hash(name) % u64::from(DYNAMIC_PORTS)) as u16;
        let port = (0..DYNAMIC_PORTS)
            .map(|step| FIRST_DYNAMIC_PORT + (start + step) % DYNAMIC_PORTS)
            .find(|&port| self.taken.insert(port))?;
        self.port_of.insert(name.to_vec(), port);
        self.services.push((String::from_utf8_lossy(name).into_owned(), port));
        Some(port)
    }
}

/// FNV-1a of the lower-case name: the same on every machine and in every version, unlike a hash map's.
fn hash(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{DYNAMIC_PORTS, ReplacedNames};

    #[test]
    fn more_services_than_ports_have_no_port() {
        let mut names = ReplacedNames::default();
        let mut port = |number: u16| names.port(format!("unheard-of-{number}").as_bytes());
        assert!((0..DYNAMIC_PORTS).all(|number| port(number).is_some()));
        assert_eq!(port(DYNAMIC_PORTS), None);
        assert!(port(0).is_some(), "those that have one keep it");
    }
}
