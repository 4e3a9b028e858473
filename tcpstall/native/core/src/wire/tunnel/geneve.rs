//! Geneve (RFC 8926).

use super::{Entrance, TunnelProtocol, typed};
use crate::wire::Skip;

pub(super) fn enter(packet: &[u8]) -> Result<Entrance, Skip> {
    const FIXED: usize = 8;
    const BRIDGED: u16 = 0x6558;
    let header: &[u8; FIXED] = packet.first_chunk().ok_or(Skip::CutShort)?;
    let [first, _, k0, k1, n0, n1, n2, _] = *header;
    let (version, options) = (first >> 6, 4 * usize::from(first & 0x3f));
    if version != 0 {
        return Err(Skip::NotTcp);
    }
    let (network, start) = (u32::from_be_bytes([0, n0, n1, n2]), FIXED + options);
    match u16::from_be_bytes([k0, k1]) {
        BRIDGED => Entrance::bridged(TunnelProtocol::Geneve, Some(network), packet, start),
        kind => Ok(Entrance::new(TunnelProtocol::Geneve, Some(network), typed(packet, kind, start)?)),
    }
}
