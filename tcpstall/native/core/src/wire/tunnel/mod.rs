//! Finds the TCP segment in nested IP packets, and the path of outer tunnels.

mod erspan;
mod geneve;
mod gre;
mod gtp;
mod path;
mod udp;
mod vxlan;

pub use self::path::{Hop, Tunnel, TunnelProtocol};

use super::segment::Segment;
use super::{Address, Envelope, Skip, ethernet, ethertype, ipv4, ipv6, link_header, tcp};
use crate::capture::Frame;

/// Deepest nesting of tunnels that is followed. Real ones are two or three deep; hostile packets may be of any depth.
const DEEPEST: usize = 8;

const IPV4: u8 = 4;
const UDP: u8 = 17;
const IPV6: u8 = 41;
const GRE: u8 = 47;
const AUTHENTICATION: u8 = 51;
const ETHERNET_IN_IP: u8 = 97;
const MPLS_IN_IP: u8 = 137;

/// Fields of an IP header of a packet that is not TCP.
pub(super) struct Outer<'a> {
    pub(super) source: Address,
    pub(super) destination: Address,
    pub(super) protocol: u8,
    /// Length after the header, bytes on the wire.
    pub(super) length: u32,
    /// Captured part of the payload.
    pub(super) payload: &'a [u8],
}

/// The inner packet of a tunnel.
pub(crate) struct Entrance {
    pub(crate) kind: TunnelProtocol,
    id: Option<u32>,
    /// Offset of the inner IP packet in the outer one's payload.
    pub(crate) at: usize,
    /// Offset of the Ethernet frame around it, if there is one.
    pub(crate) frame: Option<usize>,
}

impl Entrance {
    fn new(kind: TunnelProtocol, id: Option<u32>, at: usize) -> Entrance {
        Entrance { kind, id, at, frame: None }
    }

    /// Enters the Ethernet frame that begins at `at`.
    fn bridged(kind: TunnelProtocol, id: Option<u32>, bytes: &[u8], at: usize) -> Result<Entrance, Skip> {
        Ok(Entrance { frame: Some(at), ..Entrance::new(kind, id, at + bridged(bytes, at)?) })
    }

    /// The same entrance, with offsets counted from `length` bytes before.
    fn behind(self, length: usize) -> Entrance {
        Entrance { at: self.at + length, frame: self.frame.map(|frame| frame + length), ..self }
    }
}

/// The inner packet in the payload of that protocol, if it is a tunnel with IP in it.
pub(crate) fn entrance(protocol: u8, payload: &[u8]) -> Option<Entrance> {
    let source = Address::default();
    enter(&Outer { source, destination: source, protocol, length: payload.len() as u32, payload }, 0).ok()
}

/// The TCP segment inside `packet`, an IP packet that is not TCP itself.
#[cold]
pub(super) fn decode<'a>(
    frame: &Frame<'a>,
    packet: &'a [u8],
    on_wire: u32,
    segment: &mut Segment,
) -> Result<&'a [u8], Skip> {
    let envelope = walk(packet, on_wire, |_| {})?;
    let payload = tcp::read(frame, &envelope, segment)?;
    segment.tunnelled = true;
    Ok(payload)
}

/// The path of outer tunnels of the segment in a frame, `None` where there is none.
pub fn tunnel(frame: &Frame<'_>) -> Option<Tunnel> {
    let header = link_header(frame).ok()?;
    let mut path = Tunnel::default();
    walk(frame.bytes.get(header..)?, frame.wire_length.saturating_sub(header as u32), |hop| path.enter(hop)).ok()?;
    Some(path)
}

/// Enters one tunnel after the other, the outermost first, until there is TCP.
fn walk<'a>(mut packet: &'a [u8], mut on_wire: u32, mut each: impl FnMut(Hop)) -> Result<Envelope<'a>, Skip> {
    for _ in 0..DEEPEST {
        let outer = match version(packet)? {
            4 => ipv4::outer(packet, on_wire)?,
            _ => ipv6::outer(packet, on_wire)?,
        };
        let Entrance { kind, id, at, .. } = enter(&outer, 0)?;
        packet = outer.payload.get(at..).ok_or(Skip::CutShort)?;
        on_wire = outer.length.saturating_sub(at as u32);
        each(Hop { kind, id, source: outer.source, destination: outer.destination });
        let envelope = match version(packet)? {
            4 => ipv4::open(packet, on_wire),
            _ => ipv6::open(packet, on_wire),
        };
        match envelope {
            Err(Skip::NotTcp) => {}
            found => return found,
        }
    }
    Err(Skip::NotTcp)
}

/// IP version: 4 or 6.
fn version(packet: &[u8]) -> Result<u8, Skip> {
    match packet.first().ok_or(Skip::CutShort)? >> 4 {
        version @ (4 | 6) => Ok(version),
        // The tunnel carried something else: its keep-alives, or bridged frames without IP.
        _ => Err(Skip::NotTcp),
    }
}

/// The inner packet for the protocol number of `outer`, `from` bytes into its payload.
fn enter(outer: &Outer<'_>, from: usize) -> Result<Entrance, Skip> {
    let payload = outer.payload.get(from..).ok_or(Skip::CutShort)?;
    let entrance = match outer.protocol {
        IPV4 => Entrance::new(TunnelProtocol::IpInIp, None, 0),
        IPV6 if outer.source.is_v4() => Entrance::new(TunnelProtocol::SixInFour, None, 0),
        IPV6 => Entrance::new(TunnelProtocol::IpInIp, None, 0),
        GRE => gre::enter(payload)?,
        UDP => udp::enter(payload)?,
        ETHERNET_IN_IP => {
            const HEADER: usize = 2;
            Entrance::bridged(TunnelProtocol::EtherIp, None, payload, HEADER)?
        }
        MPLS_IN_IP => Entrance::new(TunnelProtocol::Mpls, None, typed(payload, ethertype::MPLS, 0)?),
        AUTHENTICATION if from == 0 => {
            let [protocol, words, ..] = payload else { return Err(Skip::CutShort) };
            // RFC 4302 §2.2: the length is in words of 32 bits, less two.
            let length = 4 * (usize::from(*words) + 2);
            let inner = Outer { protocol: *protocol, ..*outer };
            return Ok(enter(&inner, length)?.behind(length));
        }
        _ => return Err(Skip::NotTcp),
    };
    Ok(entrance)
}

/// Length of the headers before IP in an Ethernet frame that begins at `at`.
fn bridged(bytes: &[u8], at: usize) -> Result<usize, Skip> {
    tunnelled(ethernet::header(bytes.get(at..).ok_or(Skip::CutShort)?))
}

/// Offset of the IP header, if `kind` is the EtherType of the bytes at `at`.
fn typed(bytes: &[u8], kind: u16, at: usize) -> Result<usize, Skip> {
    if kind < ethertype::FIRST_TYPE {
        return Err(Skip::NotTcp);
    }
    tunnelled(ethertype::follow(bytes, kind, at))
}

/// Maps a missing IP packet to `NotTcp`: the outer frame is IP, whatever the tunnel carries.
fn tunnelled(header: Result<usize, Skip>) -> Result<usize, Skip> {
    header.map_err(|skip| if skip == Skip::NotIp { Skip::NotTcp } else { skip })
}
