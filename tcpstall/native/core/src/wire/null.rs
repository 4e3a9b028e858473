//! BSD loopback frames, which begin with an address family.

use super::Skip;

/// AF_INET, the same everywhere.
const INET: u32 = 2;
/// AF_INET6 of Linux, of NetBSD and OpenBSD, of FreeBSD, and of Darwin.
const INET6: [u32; 4] = [10, 24, 28, 30];

/// Length of everything before the IP header, bytes.
pub(super) fn header(frame: &[u8]) -> Result<usize, Skip> {
    const HEADER: usize = 4;
    let family = u32::from_be_bytes(*frame.first_chunk::<HEADER>().ok_or(Skip::CutShort)?);
    // The byte order is the capturing host's, which may be neither the reading host's nor the file's; families are
    // small numbers.
    let family = if family > 0xffff { family.swap_bytes() } else { family };
    if family == INET || INET6.contains(&family) { Ok(HEADER) } else { Err(Skip::NotIp) }
}
