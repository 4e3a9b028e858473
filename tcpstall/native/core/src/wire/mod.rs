//! Decodes frames to TCP segments: one protocol per file, tolerant of packets that the snap length cut.

pub mod fragment;
pub(crate) mod plain;
pub mod segment;
pub mod text;
pub mod tunnel;

mod ethernet;
mod ethertype;
mod fddi;
mod ipv4;
mod ipv6;
mod mpls;
mod nflog;
mod null;
mod options;
mod ppp;
mod radio;
mod sll;
mod sll2;
mod tcp;

pub use segment::{Address, Endpoint, Flags, SackBlock, Segment, Timestamps, VlanId};

use crate::capture::{Frame, LinkType};

/// Reason why a frame has no TCP segment; each reason is counted and reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// No IP packet inside, or an unsupported link type.
    NotIp,
    /// IP, but another protocol than TCP.
    NotTcp,
    /// A fragment other than the first.
    IpFragment,
    /// The snap length cut the frame before the end of the fixed TCP header, or a length in its own headers leaves no
    /// room for one.
    CutShort,
}

/// Fields of an IP header about its TCP segment.
struct Envelope<'a> {
    source: Address,
    destination: Address,
    ip_id: Option<u16>,
    ttl: u8,
    /// More fragments follow this one, so missing bytes may be in them.
    fragmented: bool,
    /// Length of TCP header and payload by the IP header, bytes; any further bytes do not belong to `segment`.
    length: u32,
    /// Captured bytes from the TCP header on, perhaps with the link layer's padding at the end.
    segment: &'a [u8],
}

/// Decodes the TCP segment in a frame. Lengths are the IP header's, so a cut frame gives the same segment as the whole
/// one.
///
/// The segment is written into a place that the caller provides: moving a segment right after it was written takes
/// longer than decoding it, because the processor has to wait for its own small writes before it can read them in large
/// steps.
///
/// Every field is written; after an error the segment is meaningless. Returns the captured part of the payload.
#[inline]
pub fn decode_into<'a>(frame: &Frame<'a>, segment: &mut Segment) -> Result<&'a [u8], Skip> {
    let header = link_header(frame)?;
    segment.vlan = ethertype::vlan(frame);
    let packet = frame.bytes.get(header..).ok_or(Skip::CutShort)?;
    let on_wire = frame.wire_length.saturating_sub(header as u32);
    // The version decides, not the link layer's type field: raw and loopback captures have none worth trusting.
    let envelope = match packet.first().ok_or(Skip::CutShort)? >> 4 {
        4 => ipv4::open(packet, on_wire),
        6 => ipv6::open(packet, on_wire),
        _ => return Err(Skip::NotIp),
    };
    match envelope {
        Ok(envelope) => tcp::read(frame, &envelope, segment),
        Err(Skip::NotTcp) => tunnel::decode(frame, packet, on_wire, segment),
        Err(skip) => Err(skip),
    }
}

/// Number of the interface in the frame's own header, 0 where the header has none.
#[inline]
pub(crate) fn interface(frame: &Frame<'_>) -> u32 {
    if frame.link == LinkType::LINUX_SLL2 { sll2::interface(frame.bytes) } else { 0 }
}

/// Length of everything before the IP header, bytes.
#[inline(always)]
pub(crate) fn link_header(frame: &Frame<'_>) -> Result<usize, Skip> {
    match frame.link {
        LinkType::ETHERNET => ethernet::header(frame.bytes),
        LinkType::LINUX_SLL => sll::header(frame.bytes),
        LinkType::LINUX_SLL2 => sll2::header(frame.bytes),
        LinkType::NULL | LinkType::LOOP => null::header(frame.bytes),
        LinkType::PPP | LinkType::PPP_HDLC => ppp::header(frame.bytes),
        LinkType::FDDI => fddi::header(frame.bytes),
        LinkType::IEEE802_11_RADIOTAP => radio::radiotap(frame.bytes),
        LinkType::IEEE802_11 => radio::wireless(frame.bytes, 0, false),
        LinkType::PPI => radio::ppi(frame.bytes),
        LinkType::NFLOG => nflog::header(frame.bytes),
        LinkType::PPP_ETHER => ppp::session(frame.bytes),
        LinkType::C_HDLC => ppp::cisco(frame.bytes),
        LinkType::RAW | LinkType::RAW_HOST | LinkType::RAW_OPENBSD | LinkType::IPV4 | LinkType::IPV6 => Ok(0),
        _ => Err(Skip::NotIp),
    }
}

#[cfg(test)]
mod tests;
