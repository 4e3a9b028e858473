//! Linux cooked capture, version 2.

use super::{Skip, sll};

/// Number that the capturing host has for the interface (`sll2_if_index`), 0 where the frame is cut before it.
#[inline]
pub(super) fn interface(frame: &[u8]) -> u32 {
    frame.get(4..8).and_then(|field| field.first_chunk()).map_or(0, |field| u32::from_be_bytes(*field))
}

/// Length of everything before the IP header, bytes.
#[inline]
pub(super) fn header(frame: &[u8]) -> Result<usize, Skip> {
    const HEADER: usize = 20;
    let header: &[u8; HEADER] = frame.first_chunk().ok_or(Skip::CutShort)?;
    sll::cooked(frame, u16::from_be_bytes([header[0], header[1]]), HEADER)
}
