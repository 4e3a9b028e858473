//! `host.port` as tcpdump writes it: numbers with `-n`, names without.

use std::net::Ipv6Addr;

use super::cursor::{Cursor, decimal};
use super::names::ReplacedNames;
use crate::wire::{Address, Endpoint};

/// Reads one end of a connection; `None` for an address without a port or for text that is neither address nor name.
pub(super) fn read(text: &[u8], names: &mut ReplacedNames) -> Option<Endpoint> {
    if let Some(endpoint) = dotted(text) {
        return Some(endpoint);
    }
    let dot = text.iter().rposition(|&byte| byte == b'.')?;
    let (host, port) = (&text[..dot], &text[dot + 1..]);
    let address = if host.contains(&b':') { v6(host)? } else { v4(host).or_else(|| names.host(host))? };
    let port = match decimal(port) {
        Some(number) => u16::try_from(number).ok()?,
        None => names.port(port)?,
    };
    Some(Endpoint { address, port })
}

/// Reads `a.b.c.d.port` in one pass: most lines have nothing else.
fn dotted(text: &[u8]) -> Option<Endpoint> {
    let mut cursor = Cursor::new(text);
    let address = quad(&mut cursor)?;
    let port = cursor.take(b".").then(|| cursor.number())??;
    cursor.rest.is_empty().then_some(Endpoint { address, port: u16::try_from(port).ok()? })
}

fn v4(text: &[u8]) -> Option<Address> {
    let mut cursor = Cursor::new(text);
    let address = quad(&mut cursor)?;
    cursor.rest.is_empty().then_some(address)
}

fn quad(cursor: &mut Cursor<'_>) -> Option<Address> {
    let mut bytes = [0; 4];
    for (index, byte) in bytes.iter_mut().enumerate() {
        if index > 0 && !cursor.take(b".") {
            return None;
        }
        *byte = u8::try_from(cursor.number()?).ok()?;
    }
    Some(Address::v4(bytes))
}

fn v6(text: &[u8]) -> Option<Address> {
    // A zone ("%eth0") identifies the link, not the host.
    let host = text.split(|&byte| byte == b'%').next()?;
    let address: Ipv6Addr = std::str::from_utf8(host).ok()?.parse().ok()?;
    Some(Address::v6(address.octets()))
}
