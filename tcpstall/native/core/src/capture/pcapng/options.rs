//! Options at the end of a pcapng block.

use crate::capture::order::ByteOrder;

/// Iterates code and value of each option; stops at the end mark or where an option does not fit its block.
pub(super) struct BlockOptions<'a> {
    order: ByteOrder,
    rest: &'a [u8],
}

impl<'a> BlockOptions<'a> {
    /// The options in `body` after its first `fixed` bytes.
    pub(super) fn after(fixed: usize, order: ByteOrder, body: &'a [u8]) -> BlockOptions<'a> {
        BlockOptions { order, rest: body.get(fixed..).unwrap_or_default() }
    }
}

impl<'a> Iterator for BlockOptions<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        const END: u16 = 0;
        let (code, rest) = self.rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (code, length) = (self.order.u16(*code), usize::from(self.order.u16(*length)));
        if code == END {
            return None;
        }
        let value = rest.get(..length)?;
        self.rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    }
}
