//! One TCP segment as the flow layer sees it, whatever the input format.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;

use crate::packet_no::PacketNo;
use crate::seq::SeqNo;
use crate::time::Nanos;

/// An IP address as 128 bits; IPv4 is held in its IPv4-mapped form (RFC 4291 §2.5.5.2) and printed as IPv4.
///
/// It is aligned as a port is: with it the two ends of a segment take 36 bytes, and otherwise 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[repr(Rust, packed(2))]
pub struct Address(pub u128);

impl Address {
    /// The address of four bytes in an IPv4 header.
    #[inline]
    pub const fn v4(bytes: [u8; 4]) -> Address {
        Address(0xffff_0000_0000 | u32::from_be_bytes(bytes) as u128)
    }

    /// The address of sixteen bytes in an IPv6 header.
    #[inline]
    pub const fn v6(bytes: [u8; 16]) -> Address {
        Address(u128::from_be_bytes(bytes))
    }

    /// True if it is an IPv4 address.
    #[inline]
    pub const fn is_v4(self) -> bool {
        self.0 >> 32 == 0xffff
    }

    /// True if it is the host's own (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
    pub const fn is_loopback(self) -> bool {
        if self.is_v4() { self.0 as u32 >> 24 == 127 } else { self.0 == 1 }
    }

    /// Appends what `to_string` returns: for IPv4 in a fifth of the time, because a store has eight a connection.
    pub fn write_to(self, text: &mut String) {
        if !self.is_v4() {
            text.push_str(&self.to_string());
            return;
        }
        for (index, byte) in (self.0 as u32).to_be_bytes().into_iter().enumerate() {
            if index > 0 {
                text.push('.');
            }
            for power in [100, 10, 1] {
                if byte >= power || power == 1 {
                    text.push(char::from(b'0' + byte / power % 10));
                }
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_v4() { Ipv4Addr::from(self.0 as u32).fmt(f) } else { Ipv6Addr::from(self.0).fmt(f) }
    }
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Endpoint {
    /// IP address.
    pub address: Address,
    /// TCP port.
    pub port: u16,
}

/// The TCP control bits (RFC 9293 §3.1), low byte of the flags field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push function.
    pub const PSH: Flags = Flags(0x08);
    /// Acknowledgement field is significant.
    pub const ACK: Flags = Flags(0x10);
    /// ECN-Echo (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: Flags = Flags(0x80);

    /// True if every bit of `other` is set here.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both sets of bits.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One SACK block: `left` is its first byte, `right` the byte after its last (RFC 2018 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: SeqNo,
    /// Sequence number after the block.
    pub right: SeqNo,
}

/// The timestamps option (RFC 7323 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Timestamps {
    /// The sender's clock, TSval.
    pub value: u32,
    /// The peer's clock as last echoed, TSecr.
    pub echo: u32,
}

/// Identifier of a VLAN. IEEE 802.1Q, table 9-2: 0 in a tag is a priority alone, and no VLAN.
pub type VlanId = NonZeroU16;

/// One TCP segment (or a TSO/GRO frame of several) as it passed the tap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Segment {
    /// Number of the packet in its capture.
    pub packet: PacketNo,
    /// Time at the tap.
    pub time: Nanos,
    /// Sender of the segment.
    pub source: Endpoint,
    /// Receiver of the segment.
    pub destination: Endpoint,
    /// Sequence number of the first payload byte (or of the SYN).
    pub seq: SeqNo,
    /// Acknowledgement number; meaningful only with [`Flags::ACK`].
    pub ack: SeqNo,
    /// Control bits.
    pub flags: Flags,
    /// The window field as sent, before scaling.
    pub window: u16,
    /// Payload bytes by the IP header (by the frame where TSO left the IP length 0), independent of the snap length.
    pub payload: u32,
    /// IPv4 identification; `None` for IPv6 and for text input that does not show it.
    pub ip_id: Option<u16>,
    /// IPv4 TTL or IPv6 hop limit; `None` where text input does not show it.
    pub ttl: Option<u8>,
    /// VLAN of the frame's outermost tag; `None` without a tag, and for text input.
    pub vlan: Option<VlanId>,
    /// The timestamps option.
    pub timestamps: Option<Timestamps>,
    /// The MSS option of a SYN, bytes.
    pub mss: Option<u16>,
    /// The window scale option of a SYN, shift count as sent.
    pub window_scale: Option<u8>,
    /// SACK-permitted was present.
    pub sack_permitted: bool,
    /// A SYN offered or joined a multipath connection (RFC 8684 §3).
    pub multipath: bool,
    /// The segment came inside another IP packet; [`super::tunnel::tunnel`] returns the outer tunnel path.
    pub tunnelled: bool,
    /// The segment is the first fragment of one; [`super::fragment::Fragments`] follows the others.
    pub fragmented: bool,
    /// The segment continues one whose beginning came before, in an IP fragment, and counts with that.
    pub goes_on: bool,
    /// True if the packet was cut inside its TCP options, so that a missing option proves nothing.
    pub options_cut: bool,
    /// Number of valid entries in `sack`.
    pub sack_count: u8,
    /// SACK blocks in the order sent.
    pub sack: [SackBlock; 4],
}

impl Segment {
    /// The SACK blocks of the segment.
    #[inline]
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count.min(4))]
    }

    /// Length in sequence space: payload, and one each for SYN and FIN (RFC 9293 §3.4).
    #[inline]
    pub fn sequence_length(&self) -> u32 {
        self.payload.saturating_add(u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN)))
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_is_written_as_it_is_printed() {
        for address in
            [[0, 0, 0, 0], [7, 10, 99, 100], [192, 0, 2, 255]].map(Address::v4).into_iter().chain([Address(1)])
        {
            let mut text = String::from("at ");
            address.write_to(&mut text);
            assert_eq!(text, format!("at {address}"));
        }
    }
}
