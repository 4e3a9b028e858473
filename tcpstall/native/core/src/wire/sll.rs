//! Linux cooked capture, version 1.

use super::{Skip, ethertype};

/// Length of everything before the IP header, bytes.
#[inline]
pub(super) fn header(frame: &[u8]) -> Result<usize, Skip> {
    const HEADER: usize = 16;
    let header: &[u8; HEADER] = frame.first_chunk().ok_or(Skip::CutShort)?;
    cooked(frame, u16::from_be_bytes([header[14], header[15]]), HEADER)
}

/// Follows an EtherType field in which Linux has numbers of its own below those of Ethernet (`linux/if_ether.h`).
#[inline]
pub(super) fn cooked(frame: &[u8], kind: u16, at: usize) -> Result<usize, Skip> {
    /// ETH_P_802_2: LLC follows; the other small numbers are not lengths, unlike in Ethernet.
    const LLC: u16 = 4;
    match kind {
        LLC => ethertype::follow_llc(frame, at),
        0..0x0600 => Err(Skip::NotIp),
        kind => ethertype::follow(frame, kind, at),
    }
}
