//! GTP-U, the user plane of mobile networks (3GPP TS 29.281).

use super::{Entrance, TunnelProtocol};
use crate::wire::Skip;

pub(super) fn enter(packet: &[u8]) -> Result<Entrance, Skip> {
    const FIXED: usize = 8;
    /// Length of sequence number, N-PDU number and type of the next extension, which are all present if one of them is.
    const OPTIONAL: usize = 4;
    const VERSION_AND_TYPE: u8 = 0xf0;
    const VERSION_1: u8 = 0x30;
    const ANY_OPTIONAL: u8 = 0x07;
    const EXTENDED: u8 = 0x04;
    const USER_PACKET: u8 = 0xff;
    let header: &[u8; FIXED] = packet.first_chunk().ok_or(Skip::CutShort)?;
    let [flags, kind, _, _, t0, t1, t2, t3] = *header;
    if flags & VERSION_AND_TYPE != VERSION_1 || kind != USER_PACKET {
        return Err(Skip::NotTcp);
    }
    let mut at = FIXED;
    if flags & ANY_OPTIONAL != 0 {
        at += OPTIONAL;
        let mut more = flags & EXTENDED != 0;
        // Each extension begins with its own length and ends with the type of the next one.
        while more && *packet.get(at - 1).ok_or(Skip::CutShort)? != 0 {
            let words = usize::from(*packet.get(at).ok_or(Skip::CutShort)?);
            more = words > 0;
            at += 4 * words;
        }
    }
    Ok(Entrance::new(TunnelProtocol::GtpU, Some(u32::from_be_bytes([t0, t1, t2, t3])), at))
}
