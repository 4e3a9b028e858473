//! Linux cooked capture, version 2.

use super::{Skip, sll};

/// Length of everything before the IP header, bytes.
#[inline]
pub(super) fn header(frame: &[u8]) -> Result<usize, Skip> {
    const HEADER: usize = 20;
    let header: &[u8; HEADER] = frame.first_chunk().ok_or(Skip::CutShort)?;
    sll::cooked(frame, u16::from_be_bytes([header[0], header[1]]), HEADER)
}
