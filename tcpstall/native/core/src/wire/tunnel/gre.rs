//! GRE (RFC 2784, RFC 2890), and PPTP's variant of it (RFC 2637).

use super::{Entrance, TunnelProtocol, erspan, tunnelled, typed};
use crate::wire::{Skip, ppp};

const CHECKSUM: u16 = 0x8000;
const ROUTING: u16 = 0x4000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
const ACKNOWLEDGED: u16 = 0x0080;
const VERSION: u16 = 0x0007;
const VERSION_OF_PPTP: u16 = 1;

const BRIDGED: u16 = 0x6558;
const PPP: u16 = 0x880b;
const ERSPAN: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;

pub(super) fn enter(packet: &[u8]) -> Result<Entrance, Skip> {
    let [f0, f1, p0, p1, ..] = packet else { return Err(Skip::CutShort) };
    let (flags, protocol) = (u16::from_be_bytes([*f0, *f1]), u16::from_be_bytes([*p0, *p1]));
    // Source routes were removed from GRE; their length is unknown here.
    if flags & ROUTING != 0 || flags & VERSION > VERSION_OF_PPTP {
        return Err(Skip::NotTcp);
    }
    let field = |flag: u16| if flags & flag != 0 { 4 } else { 0 };
    let key_at = 4 + field(CHECKSUM);
    let start = key_at + field(KEY) + field(SEQUENCE);
    let key = match packet.get(key_at..).and_then(<[u8]>::first_chunk) {
        Some(key) if flags & KEY != 0 => Some(u32::from_be_bytes(*key)),
        None if flags & KEY != 0 => return Err(Skip::CutShort),
        _ => None,
    };
    if flags & VERSION == VERSION_OF_PPTP {
        let start = start + field(ACKNOWLEDGED);
        // The upper half of the key is the payload's length, the lower half the call's number.
        let call = key.map(|key| key & 0xffff);
        let inner = packet.get(start..).ok_or(Skip::CutShort)?;
        return Ok(Entrance::new(TunnelProtocol::Pptp, call, start + tunnelled(ppp::header(inner))?));
    }
    match protocol {
        BRIDGED => Entrance::bridged(TunnelProtocol::Gre, key, packet, start),
        PPP => {
            let inner = packet.get(start..).ok_or(Skip::CutShort)?;
            Ok(Entrance::new(TunnelProtocol::Gre, key, start + tunnelled(ppp::header(inner))?))
        }
        ERSPAN if flags & SEQUENCE == 0 => erspan::first(packet, start),
        ERSPAN => erspan::second(packet, start),
        ERSPAN_3 => erspan::third(packet, start),
        kind => Ok(Entrance::new(TunnelProtocol::Gre, key, typed(packet, kind, start)?)),
    }
}
