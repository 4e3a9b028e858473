//! Fast path for the most common frame: an EtherType and an IPv4 header without options, the packet whole, the TCP
//! header captured whole. [`super::decode_into`] gives the same result.

use super::options;
use super::segment::{Address, Endpoint, Flags, Segment};
use crate::capture::{Frame, LinkType};
use crate::seq::SeqNo;

/// Length of EtherType, IP header and fixed TCP header, bytes.
const LOOK: usize = 2 + 20 + 20;
/// EtherType of IPv4.
const IPV4: u16 = 0x0800;
/// Version and length of an IPv4 header without options.
const NO_OPTIONS: u8 = 0x45;
/// Protocol number of TCP.
const TCP: u8 = 6;
/// More fragments, and the fragment's offset.
const FRAGMENT: u16 = 0x3fff;

/// Offset of the EtherType, directly before the IP header; `None` where a link layer has none there.
#[inline]
fn kind_at(link: LinkType) -> Option<usize> {
    match link {
        LinkType::ETHERNET => Some(12),
        LinkType::LINUX_SLL => Some(14),
        _ => None,
    }
}

/// Reads such a frame and returns the captured part of its payload; `None` for every other frame.
#[inline(always)]
pub(crate) fn read<'a>(frame: &Frame<'a>, segment: &mut Segment) -> Option<&'a [u8]> {
    let behind: &[u8] = frame.bytes.get(kind_at(frame.link)?..)?;
    let look: &[u8; LOOK] = behind.first_chunk()?;
    let half = |at: usize| u16::from_be_bytes([look[at], look[at + 1]]);
    let word = |at: usize| u32::from_be_bytes([look[at], look[at + 1], look[at + 2], look[at + 3]]);
    if half(0) != IPV4 || look[2] != NO_OPTIONS || look[11] != TCP || half(8) & FRAGMENT != 0 {
        return None;
    }
    let header = usize::from(look[34] >> 4) * 4;
    let length = usize::from(half(4)).checked_sub(20)?;
    let tcp = &behind[22..];
    // A length of 0 was not filled in, and is less than a header as well. The text of a RST is no payload.
    if header < 20 || length < header || tcp.len() < header || look[35] & Flags::RST.0 != 0 {
        return None;
    }
    segment.packet = frame.packet;
    segment.time = frame.time;
    segment.source = Endpoint { address: Address::v4([look[14], look[15], look[16], look[17]]), port: half(22) };
    segment.destination = Endpoint { address: Address::v4([look[18], look[19], look[20], look[21]]), port: half(24) };
    segment.seq = SeqNo(word(26));
    segment.ack = SeqNo(word(30));
    segment.flags = Flags(look[35]);
    segment.window = half(36);
    segment.payload = (length - header) as u32;
    segment.ip_id = Some(half(6));
    segment.ttl = Some(look[10]);
    segment.vlan = None;
    segment.tunnelled = false;
    segment.fragmented = false;
    segment.goes_on = false;
    segment.options_cut = false;
    options::read(&tcp[20..header], segment);
    Some(&tcp[header..length.min(tcp.len())])
}
