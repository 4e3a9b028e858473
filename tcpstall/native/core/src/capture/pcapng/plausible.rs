//! Recognises blocks of a pcapng file among other bytes.

use super::{HEAD, ORDER_MAGIC, PcapngReader, SECTION, TAIL};
use crate::capture::error::CaptureError;
use crate::capture::losses::have;
use crate::capture::order::ByteOrder;
use crate::capture::stream::Stream;

/// Consecutive plausible blocks that are accepted, fewer where the last one ends with the file: each states its length
/// twice.
const IN_A_ROW: usize = 2;

/// Longest plausible block of a packet, bytes; this much is read to check a block.
const LONGEST: u32 = 1 << 20;

/// Block types in use: interfaces, packets, names, statistics, journal entries, secrets, custom blocks.
const KINDS: [u32; 10] = [1, 2, 3, 4, 5, 6, 9, 10, 0xbad, 0x4000_0bad];

impl PcapngReader {
    /// True if several consecutive plausible blocks begin at `at` in the buffer.
    pub(super) fn resumes(&self, stream: &mut Stream, mut at: usize) -> Result<bool, CaptureError> {
        let mut order = self.order;
        for count in 0..IN_A_ROW {
            if !have(stream, at + HEAD + TAIL)? {
                return Ok(count > 0 && stream.buffered().len() == at);
            }
            let Some((next, length)) = plausible(stream.buffered().get(at..).unwrap_or_default(), order) else {
                return Ok(false);
            };
            order = next;
            if !have(stream, at + length as usize)? {
                return Ok(false);
            }
            at += length as usize;
            if order.words(stream.buffered().get(at - TAIL..).unwrap_or_default()) != Some([length]) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Length of the block that begins with these bytes, and the byte order from there on.
fn plausible(block: &[u8], order: ByteOrder) -> Option<(ByteOrder, u32)> {
    let [kind, _, magic] = ByteOrder::Little.words(block)?;
    let order = match (kind, magic) {
        (SECTION, ORDER_MAGIC) => ByteOrder::Little,
        (SECTION, magic) if magic.swap_bytes() == ORDER_MAGIC => ByteOrder::Big,
        (SECTION, _) => return None,
        _ => order,
    };
    let [kind, length] = order.words(block)?;
    let fits = length % 4 == 0 && ((HEAD + TAIL) as u32..=LONGEST).contains(&length);
    (fits && (kind == SECTION || KINDS.contains(&kind))).then_some((order, length))
}
