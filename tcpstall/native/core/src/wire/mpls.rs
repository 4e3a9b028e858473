//! MPLS label stacks (RFC 3032).

use super::Skip;

/// Length of the stack, bytes. What follows is not said; the IP version shows whether it is IP.
pub(super) fn header(stack: &[u8]) -> Result<usize, Skip> {
    const BOTTOM: u8 = 1;
    let (labels, _) = stack.as_chunks::<4>();
    let above = labels.iter().position(|label| label[2] & BOTTOM != 0);
    above.map(|above| (above + 1) * 4).ok_or(Skip::CutShort)
}
