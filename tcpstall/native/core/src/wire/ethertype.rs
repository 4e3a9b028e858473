//! Follows the EtherType of Ethernet, Linux's cooked captures and FDDI, through VLAN tags, LLC, MPLS and PPPoE.

use super::{Skip, VlanId, mpls, ppp};
use crate::capture::{Frame, LinkType};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const PPPOE_SESSION: u16 = 0x8864;
pub(super) const MPLS: u16 = 0x8847;
const MPLS_MULTICAST: u16 = 0x8848;
/// EtherTypes of VLAN tags: IEEE 802.1Q, 802.1ad, and the number of stacked tags before 802.1ad.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// Smallest EtherType: smaller values are an IEEE 802.3 length, and LLC follows.
pub(super) const FIRST_TYPE: u16 = 0x0600;

/// VLAN of the outermost tag; `None` without a tag, and for one of priority alone.
pub(super) fn vlan(frame: &Frame<'_>) -> Option<VlanId> {
    const IDENTIFIER: u16 = 0x0fff;
    let (kind_at, tag_at) = match frame.link {
        LinkType::ETHERNET => (12, 14),
        LinkType::LINUX_SLL => (14, 16),
        LinkType::LINUX_SLL2 => (0, 20),
        _ => return None,
    };
    let word = |at: usize| frame.bytes.get(at..)?.first_chunk().copied().map(u16::from_be_bytes);
    TAGS.contains(&word(kind_at)?).then_some(())?;
    VlanId::new(word(tag_at)? & IDENTIFIER)
}

/// Offset of the IP header, if `kind` is the EtherType of the bytes at `at`.
#[inline]
pub(super) fn follow(frame: &[u8], kind: u16, at: usize) -> Result<usize, Skip> {
    if kind == IPV4 || kind == IPV6 { Ok(at) } else { around(frame, kind, at) }
}

fn around(frame: &[u8], mut kind: u16, mut at: usize) -> Result<usize, Skip> {
    const TAG: usize = 4;
    loop {
        kind = match kind {
            IPV4 | IPV6 => return Ok(at),
            MPLS | MPLS_MULTICAST => {
                at += mpls::header(frame.get(at..).ok_or(Skip::CutShort)?)?;
                match mpls::bridged(frame, at)? {
                    None => return Ok(at),
                    Some((kind, inner)) => {
                        at = inner;
                        kind
                    }
                }
            }
            PPPOE_SESSION => return ppp::session(frame.get(at..).ok_or(Skip::CutShort)?).map(|ppp| at + ppp),
            tag if TAGS.contains(&tag) => {
                let tag: &[u8; TAG] = frame.get(at..).and_then(<[u8]>::first_chunk).ok_or(Skip::CutShort)?;
                at += TAG;
                u16::from_be_bytes([tag[2], tag[3]])
            }
            length if length < FIRST_TYPE => {
                let kind = snap(frame.get(at..).ok_or(Skip::CutShort)?)?;
                at += SNAP;
                kind
            }
            _ => return Err(Skip::NotIp),
        };
    }
}

/// Length of the LLC and SNAP headers, bytes.
const SNAP: usize = 8;

/// The EtherType in a SNAP header (RFC 1042).
fn snap(llc: &[u8]) -> Result<u16, Skip> {
    match llc.first_chunk::<SNAP>() {
        Some([0xaa, 0xaa, 0x03, 0, 0, 0, high, low]) => match u16::from_be_bytes([*high, *low]) {
            kind if kind < FIRST_TYPE => Err(Skip::NotIp),
            kind => Ok(kind),
        },
        Some(_) => Err(Skip::NotIp),
        None => Err(Skip::CutShort),
    }
}

/// Offset of the IP header, if LLC is at `at`.
pub(super) fn follow_llc(frame: &[u8], at: usize) -> Result<usize, Skip> {
    around(frame, 0, at)
}
