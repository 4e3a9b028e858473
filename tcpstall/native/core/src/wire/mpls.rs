//! MPLS label stacks (RFC 3032).

use super::Skip;

/// Length of the stack, bytes. The stack does not state the next protocol; the IP version shows whether it is IP.
pub(super) fn header(stack: &[u8]) -> Result<usize, Skip> {
    const BOTTOM: u8 = 1;
    let (labels, _) = stack.as_chunks::<4>();
    let above = labels.iter().position(|label| label[2] & BOTTOM != 0);
    above.map(|above| (above + 1) * 4).ok_or(Skip::CutShort)
}

/// The Ethernet frame of a pseudowire after its control word (RFC 4448 §4.6): its EtherType and the offset after it. A
/// control word begins with a zero, where IP has its version.
pub(super) fn bridged(frame: &[u8], at: usize) -> Result<Option<(u16, usize)>, Skip> {
    const CONTROL_WORD: usize = 4;
    const TYPE: usize = 12;
    if frame.get(at).ok_or(Skip::CutShort)? >> 4 != 0 {
        return Ok(None);
    }
    let at = at + CONTROL_WORD + TYPE;
    let kind = frame.get(at..).and_then(<[u8]>::first_chunk).ok_or(Skip::CutShort)?;
    Ok(Some((u16::from_be_bytes(*kind), at + kind.len())))
}
