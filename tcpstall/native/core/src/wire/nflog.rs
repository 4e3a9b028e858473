//! Packets of Linux's netfilter log: attributes, one of which is the IP packet.

use super::Skip;

/// Length of everything before the IP header, bytes.
pub(super) fn header(frame: &[u8]) -> Result<usize, Skip> {
    const HEADER: usize = 4;
    const ATTRIBUTE: usize = 4;
    const PAYLOAD: u16 = 9;
    let mut at = HEADER;
    loop {
        // In the byte order of the capturing host; big-endian hosts have become too rare to be guessed.
        let [l0, l1, k0, k1] = *frame.get(at..).and_then(<[u8]>::first_chunk).ok_or(Skip::CutShort)?;
        let length = usize::from(u16::from_le_bytes([l0, l1]));
        if u16::from_le_bytes([k0, k1]) == PAYLOAD {
            return Ok(at + ATTRIBUTE);
        }
        if length < ATTRIBUTE {
            return Err(Skip::NotIp);
        }
        at += length.next_multiple_of(4);
    }
}
