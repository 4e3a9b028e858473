//! IPv6 headers (RFC 8200).

use super::fragment::{Datagram, FragmentFields};
use super::tunnel::Outer;
use super::{Address, Envelope, Skip, tcp};

const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;
/// Length of the fixed header, bytes.
const FIXED: usize = 40;
/// Fields of the fragment header: the fragment's offset, and whether more follow.
const OFFSET: u16 = 0xfff8;
const MORE: u16 = 1;

/// Reads the header at the start of `packet`, which had `on_wire` bytes on the wire, with its extension headers.
#[inline]
pub(super) fn open(packet: &[u8], on_wire: u32) -> Result<Envelope<'_>, Skip> {
    let header: &[u8; FIXED] = packet.first_chunk().ok_or(Skip::CutShort)?;
    let next = header[6];
    let behind = &packet[FIXED..];
    let chain = if next == TCP { Chain::default() } else { Chain::to_tcp(next, behind)? };
    let length = payload_length(header, &chain, on_wire);
    let [_, _, _, _, _, _, _, ttl, addresses @ ..] = header;
    let [source, destination] = addresses.as_chunks::<16>().0 else {
        return Err(Skip::CutShort);
    };
    Ok(Envelope {
        source: Address::v6(*source),
        destination: Address::v6(*destination),
        ip_id: None,
        ttl: *ttl,
        fragmented: chain.fragmented,
        length: length.checked_sub(chain.length as u32).ok_or(Skip::CutShort)?,
        segment: behind.get(chain.length..).ok_or(Skip::CutShort)?,
    })
}

/// Length of the packet after the fixed header, including extension headers, bytes.
#[inline]
fn payload_length(header: &[u8; FIXED], chain: &Chain, on_wire: u32) -> u32 {
    match u16::from_be_bytes([header[4], header[5]]) {
        // A jumbogram (RFC 2675), or segmentation offload and BIG TCP without the jumbo payload option.
        0 => chain.jumbo.unwrap_or(on_wire.saturating_sub(FIXED as u32)),
        length => u32::from(length),
    }
}

/// Reads the header of a packet that is not TCP.
pub(super) fn outer(packet: &[u8], on_wire: u32) -> Result<Outer<'_>, Skip> {
    let header: &[u8; FIXED] = packet.first_chunk().ok_or(Skip::CutShort)?;
    let behind = &packet[FIXED..];
    let (protocol, chain) = Chain::walk(header[6], behind)?;
    let [_, _, _, _, _, _, _, _, addresses @ ..] = header;
    let [source, destination] = addresses.as_chunks::<16>().0 else {
        return Err(Skip::CutShort);
    };
    Ok(Outer {
        source: Address::v6(*source),
        destination: Address::v6(*destination),
        protocol,
        length: payload_length(header, &chain, on_wire).saturating_sub(chain.length as u32),
        payload: behind.get(chain.length..).ok_or(Skip::CutShort)?,
    })
}

/// The headers' fields about a fragment that begins with TCP or continues such a packet.
pub(super) fn part(packet: &[u8], on_wire: u32) -> Option<FragmentFields> {
    let header: &[u8; FIXED] = packet.first_chunk()?;
    let [_, _, _, _, _, _, next, _, addresses @ ..] = header;
    let [source, destination] = addresses.as_chunks::<16>().0 else {
        return None;
    };
    let (mut next, mut at) = (*next, FIXED);
    while next != FRAGMENT {
        let unit: &[u8; 8] = packet.get(at..)?.first_chunk()?;
        if !matches!(next, HOP_BY_HOP | ROUTING | DESTINATION) {
            return None;
        }
        next = unit[0];
        at += 8 * (1 + usize::from(unit[1]));
    }
    let &[carried, _, o0, o1, i0, i1, i2, i3] = packet.get(at..)?.first_chunk::<8>()?;
    let field = u16::from_be_bytes([o0, o1]);
    let length = payload_length(header, &Chain::default(), on_wire);
    Some(FragmentFields {
        datagram: Datagram {
            source: Address::v6(*source),
            destination: Address::v6(*destination),
            identification: u32::from_be_bytes([i0, i1, i2, i3]),
        },
        offset: u32::from(field & OFFSET),
        length: length.saturating_sub((at + 8 - FIXED) as u32),
        more: field & MORE != 0,
        header: tcp::header_length(packet.get(at + 8..)?),
    })
    .filter(|_| carried == TCP)
}

/// The extension headers between the fixed header and the payload.
#[derive(Default)]
struct Chain {
    length: usize,
    fragmented: bool,
    jumbo: Option<u32>,
}

impl Chain {
    #[cold]
    fn to_tcp(next: u8, behind: &[u8]) -> Result<Chain, Skip> {
        match Chain::walk(next, behind)? {
            (TCP, chain) => Ok(chain),
            _ => Err(Skip::NotTcp),
        }
    }

    /// Walks to the first header that is not an extension, and returns its type.
    fn walk(mut next: u8, behind: &[u8]) -> Result<(u8, Chain), Skip> {
        let mut chain = Chain::default();
        loop {
            let header = behind.get(chain.length..).unwrap_or_default();
            let per_unit = match next {
                HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION | MOBILITY | HOST_IDENTITY | SHIM6 => 8,
                // RFC 4302 §2.2: the length is in words of 32 bits, less two.
                AUTHENTICATION => 4,
                _ => return Ok((next, chain)),
            };
            let unit: &[u8; 8] = header.first_chunk().ok_or(Skip::CutShort)?;
            let mut length = 8 + per_unit * usize::from(unit[1]);
            match next {
                FRAGMENT => {
                    chain.read_fragment(unit)?;
                    length = unit.len();
                }
                HOP_BY_HOP => chain.jumbo = jumbo_payload(header.get(2..length).ok_or(Skip::CutShort)?),
                _ => {}
            }
            next = unit[0];
            chain.length += length;
        }
    }

    fn read_fragment(&mut self, header: &[u8; 8]) -> Result<(), Skip> {
        let field = u16::from_be_bytes([header[2], header[3]]);
        if field & OFFSET != 0 {
            // The next header of a later fragment is only the first one of the fragmented part.
            let may_be_tcp = matches!(header[0], TCP | ROUTING | DESTINATION);
            return Err(if may_be_tcp { Skip::IpFragment } else { Skip::NotTcp });
        }
        self.fragmented = field & MORE != 0;
        Ok(())
    }
}

/// The jumbo payload option in hop-by-hop options: the length after the fixed header (RFC 2675 §2).
fn jumbo_payload(mut options: &[u8]) -> Option<u32> {
    const PAD1: u8 = 0;
    const JUMBO: u8 = 0xc2;
    loop {
        options = match options {
            [PAD1, rest @ ..] => rest,
            [JUMBO, 4, a, b, c, d, ..] => return Some(u32::from_be_bytes([*a, *b, *c, *d])),
            [_, length, rest @ ..] => rest.get(usize::from(*length)..)?,
            _ => return None,
        };
    }
}
