//! PPP frames (RFC 1661), with or without HDLC-like framing.

use super::{Skip, ethertype};

const IPV4: u16 = 0x21;
const IPV6: u16 = 0x57;

/// Length of everything before the IP header, bytes.
pub(super) fn header(frame: &[u8]) -> Result<usize, Skip> {
    // Address and control field, which either end may have removed by negotiation (RFC 1661 §6.6).
    let framing = if frame.starts_with(&[0xff, 0x03]) { 2 } else { 0 };
    let (protocol, length) = match frame.get(framing..).unwrap_or_default() {
        // Framing cut in two; no protocol has this number.
        [0xff] => return Err(Skip::CutShort),
        // A protocol number ends with its first odd byte (§2), so an odd byte comes first only where the number was
        // compressed.
        [low, ..] if low & 1 == 1 => (u16::from(*low), 1),
        [high, low, ..] => (u16::from_be_bytes([*high, *low]), 2),
        _ => return Err(Skip::CutShort),
    };
    if protocol == IPV4 || protocol == IPV6 { Ok(framing + length) } else { Err(Skip::NotIp) }
}

/// Length of everything before the IP header in a PPPoE session (RFC 2516 §4), bytes.
pub(super) fn session(frame: &[u8]) -> Result<usize, Skip> {
    const HEADER: usize = 6;
    header(frame.get(HEADER..).ok_or(Skip::CutShort)?).map(|ppp| HEADER + ppp)
}

/// Length of everything before the IP header in Cisco's HDLC, which has the EtherType in PPP's place (RFC 1547 §4.3.1),
/// bytes.
pub(super) fn cisco(frame: &[u8]) -> Result<usize, Skip> {
    const HEADER: usize = 4;
    let header: &[u8; HEADER] = frame.first_chunk().ok_or(Skip::CutShort)?;
    ethertype::follow(frame, u16::from_be_bytes([header[2], header[3]]), HEADER)
}
