//! Tunnels in UDP, recognised by their ports.

use super::{Entrance, TunnelProtocol, geneve, gtp, typed, vxlan};
use crate::wire::{Skip, ethertype};

/// Length of the UDP header, bytes.
const HEADER: usize = 8;

const GTP_U: u16 = 2152;
const VXLAN: u16 = 4789;
const GENEVE: u16 = 6081;
const MPLS: u16 = 6635;
/// Port that Linux used for VXLAN before there was a registered one, and that Flannel still uses.
const VXLAN_LINUX: u16 = 8472;

pub(super) fn enter(packet: &[u8]) -> Result<Entrance, Skip> {
    let [s0, s1, d0, d1, ..] = packet else { return Err(Skip::CutShort) };
    let (source, destination) = (u16::from_be_bytes([*s0, *s1]), u16::from_be_bytes([*d0, *d1]));
    let payload = packet.get(HEADER..).ok_or(Skip::CutShort)?;
    // In most of these tunnels the source port is a hash of the inner flow: only GTP-U sends from its own port.
    let inner = match (destination, source) {
        (VXLAN | VXLAN_LINUX, _) => vxlan::enter(payload)?,
        (GENEVE, _) => geneve::enter(payload)?,
        (MPLS, _) => Entrance::new(TunnelProtocol::Mpls, None, typed(payload, ethertype::MPLS, 0)?),
        (GTP_U, _) | (_, GTP_U) => gtp::enter(payload)?,
        _ => return Err(Skip::NotTcp),
    };
    Ok(inner.behind(HEADER))
}
