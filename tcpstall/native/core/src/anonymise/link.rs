//! Anonymises link-layer headers: MAC addresses get pseudonyms, and headers of free content are removed.

use super::packet::FrameRewrite;
use crate::capture::LinkType;

/// Length of a header that holds only addresses and types, bytes. `None` for link types whose headers are removed:
/// those of radio, netfilter and unsupported types may hold places, names and keys.
pub(super) fn plain(link: LinkType) -> Option<usize> {
    match link {
        LinkType::ETHERNET => Some(14),
        LinkType::FDDI => Some(13),
        LinkType::LINUX_SLL => Some(16),
        LinkType::LINUX_SLL2 => Some(20),
        LinkType::NULL | LinkType::LOOP | LinkType::C_HDLC => Some(4),
        LinkType::PPP | LinkType::PPP_HDLC | LinkType::PPP_ETHER => Some(0),
        LinkType::RAW | LinkType::RAW_HOST | LinkType::RAW_OPENBSD | LinkType::IPV4 | LinkType::IPV6 => Some(0),
        _ => None,
    }
}

/// The link type of its packets once its headers are removed.
pub fn bare(link: LinkType) -> LinkType {
    if plain(link).is_some() { link } else { LinkType::RAW }
}

/// Replaces the addresses before `ip` by pseudonyms; returns the length of the part that may stay of a frame without
/// IP.
pub(super) fn anonymise(packet: &mut FrameRewrite<'_>, link: LinkType, ip: Option<usize>) -> usize {
    const SLL_ADDRESS: usize = 6;
    const SLL2_ADDRESS: usize = 12;
    const ADDRESS: usize = 8;
    let kept = plain(link).unwrap_or(0).min(packet.old.len());
    let kind = match link {
        LinkType::ETHERNET => return ethernet(packet, 0, ip).max(kept),
        LinkType::FDDI => {
            packet.mac(1);
            packet.mac(7);
            return kept;
        }
        LinkType::LINUX_SLL => {
            packet.blank(SLL_ADDRESS, SLL_ADDRESS + ADDRESS);
            packet.read::<2>(14)
        }
        LinkType::LINUX_SLL2 => {
            packet.blank(SLL2_ADDRESS, SLL2_ADDRESS + ADDRESS);
            packet.read::<2>(0)
        }
        LinkType::C_HDLC => packet.read::<2>(2),
        _ => return kept,
    };
    kind.map_or(kept, |kind| typed(packet, u16::from_be_bytes(kind), kept, ip)).max(kept)
}

/// Anonymises the Ethernet frame at `at`; returns the length of the part that may stay if the frame holds no IP.
pub(super) fn ethernet(packet: &mut FrameRewrite<'_>, at: usize, ip: Option<usize>) -> usize {
    packet.mac(at);
    packet.mac(at + 6);
    match packet.read::<2>(at + 12) {
        Some(kind) => typed(packet, u16::from_be_bytes(kind), at + 14, ip),
        None => at,
    }
}

/// Walks through tags and labels to headers that may hold addresses again: a frame in a pseudowire, or ARP. No other
/// header before `ip` holds any.
fn typed(packet: &mut FrameRewrite<'_>, mut kind: u16, mut at: usize, ip: Option<usize>) -> usize {
    const ARP: u16 = 0x0806;
    const MPLS: [u16; 2] = [0x8847, 0x8848];
    const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
    const BOTTOM: u8 = 1;
    const CONTROL_WORD: usize = 4;
    let start = at;
    loop {
        match (kind, packet.read::<4>(at)) {
            (tag, Some([_, _, high, low])) if TAGS.contains(&tag) => {
                kind = u16::from_be_bytes([high, low]);
                at += 4;
            }
            (label, Some([_, _, last, _])) if MPLS.contains(&label) => {
                at += 4;
                if last & BOTTOM != 0 {
                    // Where IP is further away than the labels, a frame is between them.
                    let bridged = ip.is_some_and(|ip| ip > at + CONTROL_WORD);
                    return if bridged { ethernet(packet, at + CONTROL_WORD, ip) } else { start };
                }
            }
            (ARP, _) if ip.is_none() => return arp(packet, at).unwrap_or(start),
            _ => return start,
        }
    }
}

/// Anonymises ARP for IPv4 over Ethernet (RFC 826); returns the length of the part of the frame that may stay.
fn arp(packet: &mut FrameRewrite<'_>, at: usize) -> Option<usize> {
    const LENGTH: usize = 28;
    let [_, _, 8, 0, 6, 4, _, _] = packet.read::<8>(at)? else { return None };
    packet.old.get(at + LENGTH - 1)?;
    for (mac, address) in [(at + 8, at + 14), (at + 18, at + 24)] {
        packet.mac(mac);
        packet.address_v4(address);
    }
    Some(at + LENGTH)
}
