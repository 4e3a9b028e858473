//! FDDI frames.

use super::{Skip, ethertype};

/// Length of everything before the IP header, bytes.
pub(super) fn header(frame: &[u8]) -> Result<usize, Skip> {
    /// Length of the frame control and two addresses, bytes.
    const HEADER: usize = 13;
    ethertype::follow_llc(frame, HEADER)
}
