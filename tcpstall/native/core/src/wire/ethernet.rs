//! Ethernet II and IEEE 802.3 frames.

use super::{Skip, ethertype};

/// Length of everything before the IP header, bytes.
#[inline]
pub(super) fn header(frame: &[u8]) -> Result<usize, Skip> {
    const HEADER: usize = 14;
    let header: &[u8; HEADER] = frame.first_chunk().ok_or(Skip::CutShort)?;
    ethertype::follow(frame, u16::from_be_bytes([header[12], header[13]]), HEADER)
}
