//! IPv4 headers (RFC 791).

use super::fragment::{Datagram, FragmentFields};
use super::tunnel::Outer;
use super::{Address, Envelope, Skip, tcp};

const TCP: u8 = 6;
/// Length of the header without options, bytes.
const FIXED: usize = 20;
const MORE_FRAGMENTS: u16 = 0x2000;
const FRAGMENT_OFFSET: u16 = 0x1fff;

/// Reads the header at the start of `packet`, which had `on_wire` bytes on the wire.
#[inline]
pub(super) fn open(packet: &[u8], on_wire: u32) -> Result<Envelope<'_>, Skip> {
    let header: &[u8; FIXED] = packet.first_chunk().ok_or(Skip::CutShort)?;
    if header[9] != TCP {
        return Err(Skip::NotTcp);
    }
    let fragment = u16::from_be_bytes([header[6], header[7]]);
    if fragment & FRAGMENT_OFFSET != 0 {
        return Err(Skip::IpFragment);
    }
    let header_length = usize::from(header[0] & 0x0f) * 4;
    if header_length < FIXED {
        return Err(Skip::CutShort);
    }
    let total = match u16::from_be_bytes([header[2], header[3]]) {
        // Segmentation offload and BIG TCP: the frame was captured before its length was filled in, or without one.
        0 => on_wire,
        total => u32::from(total),
    };
    let [.., s0, s1, s2, s3, d0, d1, d2, d3] = *header;
    Ok(Envelope {
        source: Address::v4([s0, s1, s2, s3]),
        destination: Address::v4([d0, d1, d2, d3]),
        ip_id: Some(u16::from_be_bytes([header[4], header[5]])),
        ttl: header[8],
        fragmented: fragment & MORE_FRAGMENTS != 0,
        length: total.checked_sub(header_length as u32).ok_or(Skip::CutShort)?,
        segment: packet.get(header_length..).ok_or(Skip::CutShort)?,
    })
}

/// Reads the header of a packet that is not TCP.
pub(super) fn outer(packet: &[u8], on_wire: u32) -> Result<Outer<'_>, Skip> {
    let outer = outer_of(packet, on_wire).ok_or(Skip::CutShort)?;
    // A later fragment begins in the middle of its packet.
    let whole_or_first = u16::from_be_bytes([packet[6], packet[7]]) & FRAGMENT_OFFSET == 0;
    whole_or_first.then_some(outer).ok_or(Skip::NotTcp)
}

fn outer_of(packet: &[u8], on_wire: u32) -> Option<Outer<'_>> {
    let header: &[u8; FIXED] = packet.first_chunk()?;
    let header_length = usize::from(header[0] & 0x0f) * 4;
    let total = match u16::from_be_bytes([header[2], header[3]]) {
        0 => on_wire,
        total => u32::from(total),
    };
    let [.., s0, s1, s2, s3, d0, d1, d2, d3] = *header;
    Some(Outer {
        source: Address::v4([s0, s1, s2, s3]),
        destination: Address::v4([d0, d1, d2, d3]),
        protocol: header[9],
        length: total.saturating_sub(header_length as u32),
        payload: packet.get(header_length..).filter(|_| header_length >= FIXED)?,
    })
}

/// The header's fields about a fragment of TCP.
pub(super) fn part(packet: &[u8], on_wire: u32) -> Option<FragmentFields> {
    let outer = outer_of(packet, on_wire)?;
    let field = u16::from_be_bytes([packet[6], packet[7]]);
    Some(FragmentFields {
        datagram: Datagram {
            source: outer.source,
            destination: outer.destination,
            identification: u32::from(u16::from_be_bytes([packet[4], packet[5]])),
        },
        offset: u32::from(field & FRAGMENT_OFFSET) * 8,
        length: outer.length,
        more: field & MORE_FRAGMENTS != 0,
        header: tcp::header_length(outer.payload),
    })
    .filter(|_| outer.protocol == TCP)
}
