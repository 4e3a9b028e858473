//! ERSPAN in its three types (draft-foschiano-erspan-03).

use super::{Entrance, TunnelProtocol, version};
use crate::wire::Skip;

/// Type I has no header of its own.
pub(super) fn first(packet: &[u8], at: usize) -> Result<Entrance, Skip> {
    Entrance::bridged(TunnelProtocol::Erspan, None, packet, at)
}

/// Type II.
pub(super) fn second(packet: &[u8], at: usize) -> Result<Entrance, Skip> {
    const HEADER: usize = 8;
    let id = session(packet, at)?;
    Entrance::bridged(TunnelProtocol::Erspan, Some(id), packet, at + HEADER)
}

/// Type III, which may carry Ethernet or bare IP.
pub(super) fn third(packet: &[u8], at: usize) -> Result<Entrance, Skip> {
    const HEADER: usize = 12;
    /// A sub-header of the platform follows.
    const OPTIONAL: u16 = 1;
    const PLATFORM: usize = 8;
    const IP: u16 = 2;
    let id = session(packet, at)?;
    let header: &[u8; HEADER] = packet.get(at..).and_then(<[u8]>::first_chunk).ok_or(Skip::CutShort)?;
    let about = u16::from_be_bytes([header[10], header[11]]);
    let start = at + HEADER + if about & OPTIONAL != 0 { PLATFORM } else { 0 };
    if about >> 10 & 0x1f != IP {
        return Entrance::bridged(TunnelProtocol::Erspan, Some(id), packet, start);
    }
    version(packet.get(start..).ok_or(Skip::CutShort)?)?;
    Ok(Entrance::new(TunnelProtocol::Erspan, Some(id), start))
}

/// Session number, assigned by the switch's administrator: ten bits.
fn session(packet: &[u8], at: usize) -> Result<u32, Skip> {
    let header: &[u8; 4] = packet.get(at..).and_then(<[u8]>::first_chunk).ok_or(Skip::CutShort)?;
    Ok(u32::from_be_bytes(*header) & 0x3ff)
}
