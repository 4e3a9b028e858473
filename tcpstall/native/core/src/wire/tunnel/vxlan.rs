//! VXLAN (RFC 7348).

use super::{Entrance, TunnelProtocol};
use crate::wire::Skip;

pub(super) fn enter(packet: &[u8]) -> Result<Entrance, Skip> {
    const HEADER: usize = 8;
    const NETWORK_IS_GIVEN: u8 = 0x08;
    let header: &[u8; HEADER] = packet.first_chunk().ok_or(Skip::CutShort)?;
    let [flags, _, _, _, n0, n1, n2, _] = *header;
    if flags & NETWORK_IS_GIVEN == 0 {
        return Err(Skip::NotTcp);
    }
    let network = u32::from_be_bytes([0, n0, n1, n2]);
    Entrance::bridged(TunnelProtocol::Vxlan, Some(network), packet, HEADER)
}
