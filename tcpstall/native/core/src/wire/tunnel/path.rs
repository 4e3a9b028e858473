//! The path of outer tunnels of a flow, with their names.

use std::fmt;

use crate::wire::Address;
use crate::words::words;

words! {
    /// A tunnel protocol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    pub enum TunnelProtocol {
        /// IP in IP (RFC 2003, RFC 2473).
        IpInIp = "IPIP",
        /// IPv6 in IP (RFC 4213).
        SixInFour = "6in4",
        /// GRE (RFC 2784, RFC 2890), bridged Ethernet included.
        Gre = "GRE",
        /// The GRE of PPTP (RFC 2637).
        Pptp = "PPTP",
        /// A switch's copy of its ports' traffic in GRE.
        Erspan = "ERSPAN",
        /// VXLAN (RFC 7348).
        Vxlan = "VXLAN",
        /// Geneve (RFC 8926).
        Geneve = "Geneve",
        /// GTP-U (3GPP TS 29.281).
        GtpU = "GTP-U",
        /// Ethernet in IP (RFC 3378).
        EtherIp = "EtherIP",
        /// MPLS in IP or UDP (RFC 4023, RFC 7510).
        Mpls = "MPLS",
    }
}

/// One tunnel with its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hop {
    /// Tunnel protocol.
    pub kind: TunnelProtocol,
    /// Identifier of the tunnel between the same ends: VNI, key, session, TEID.
    pub id: Option<u32>,
    /// Source of the outer packet.
    pub source: Address,
    /// Destination of the outer packet.
    pub destination: Address,
}

impl fmt::Display for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if let Some(id) = self.id {
            write!(f, " {id}")?;
        }
        write!(f, " {} > {}", self.source, self.destination)
    }
}

/// The tunnels around a segment, the outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tunnel(Vec<Hop>);

impl Tunnel {
    pub(super) fn enter(&mut self, hop: Hop) {
        self.0.push(hop);
    }

    /// The same path with other addresses at its ends.
    pub fn readdressed(&self, address: impl Fn(Address) -> Address) -> Tunnel {
        let hop = |hop: &Hop| Hop { source: address(hop.source), destination: address(hop.destination), ..*hop };
        Tunnel(self.0.iter().map(hop).collect())
    }

    /// The tunnels, the outermost first.
    pub fn hops(&self) -> &[Hop] {
        &self.0
    }
}

impl fmt::Display for Tunnel {
    /// Prints the tunnel that carries the flow first, then the one that carries that tunnel.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, hop) in self.0.iter().rev().enumerate() {
            let joint = if depth == 0 { "" } else { " in " };
            write!(f, "{joint}{hop}")?;
        }
        Ok(())
    }
}
