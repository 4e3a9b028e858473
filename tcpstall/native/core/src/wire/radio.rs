//! IEEE 802.11 data frames, bare or after the headers that capture drivers put before them.

use super::{Skip, ethernet, ethertype};

/// Length of everything before the IP header in a frame with a radiotap header (radiotap.org), bytes.
pub(super) fn radiotap(frame: &[u8]) -> Result<usize, Skip> {
    /// Flag of a header that was padded, so that the body begins at a multiple of four.
    const PADDED: u8 = 0x20;
    let [0, _, l0, l1, ..] = frame else {
        return Err(if frame.len() < 4 { Skip::CutShort } else { Skip::NotIp });
    };
    let length = usize::from(u16::from_le_bytes([*l0, *l1]));
    let padded = flags(frame.get(..length).ok_or(Skip::CutShort)?).is_some_and(|flags| flags & PADDED != 0);
    wireless(frame, length, padded)
}

/// The flags field in a radiotap header: after the words that list the present fields, and after the clock.
fn flags(header: &[u8]) -> Option<u8> {
    const WORDS_START: usize = 4;
    const CLOCK: u32 = 1;
    const FLAGS: u32 = 2;
    const ANOTHER: u32 = 1 << 31;
    let (words, _) = header.get(WORDS_START..)?.as_chunks::<4>();
    let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
    let first = words.next()?;
    let mut at = WORDS_START + 4;
    let mut last = first;
    while last & ANOTHER != 0 {
        last = words.next()?;
        at += 4;
    }
    if first & CLOCK != 0 {
        // Fields are aligned to their own size, counted from the start of the header.
        at = at.next_multiple_of(8) + 8;
    }
    (first & FLAGS != 0).then(|| header.get(at).copied()).flatten()
}

/// Length of everything before the IP header in a frame with a PPI header, which names the next header's type, bytes.
pub(super) fn ppi(frame: &[u8]) -> Result<usize, Skip> {
    const ETHERNET: u32 = 1;
    const WIRELESS: u32 = 105;
    let [_, _, l0, l1, k0, k1, k2, k3, ..] = frame else { return Err(Skip::CutShort) };
    let length = usize::from(u16::from_le_bytes([*l0, *l1]));
    match u32::from_le_bytes([*k0, *k1, *k2, *k3]) {
        ETHERNET => Ok(length + ethernet::header(frame.get(length..).ok_or(Skip::CutShort)?)?),
        WIRELESS => wireless(frame, length, false),
        _ => Err(Skip::NotIp),
    }
}

/// Length of everything before the IP header in a frame whose 802.11 header begins at `at`, bytes.
pub(super) fn wireless(frame: &[u8], at: usize, padded: bool) -> Result<usize, Skip> {
    const TYPE_AND_VERSION: u8 = 0x0f;
    const DATA: u8 = 0x08;
    const WITHOUT_DATA: u8 = 0x40;
    const QUALITY: u8 = 0x80;
    const BOTH_SYSTEMS: u8 = 0x03;
    const ENCRYPTED: u8 = 0x40;
    const ORDERED: u8 = 0x80;
    /// Flag of a frame with several packets; the first packet's addresses and length come before it.
    const AGGREGATE: u8 = 0x80;
    const SUBFRAME: usize = 14;
    const FIXED: usize = 24;
    const ADDRESS: usize = 6;
    let header: &[u8; FIXED] = frame.get(at..).and_then(<[u8]>::first_chunk).ok_or(Skip::CutShort)?;
    let [kind, control, ..] = *header;
    let fragment = header[22] & 0x0f;
    if kind & TYPE_AND_VERSION != DATA || kind & WITHOUT_DATA != 0 || control & ENCRYPTED != 0 || fragment != 0 {
        return Err(Skip::NotIp);
    }
    let mut end = at + FIXED + if control & BOTH_SYSTEMS == BOTH_SYSTEMS { ADDRESS } else { 0 };
    let mut subframe = 0;
    if kind & QUALITY != 0 {
        let quality = frame.get(end).ok_or(Skip::CutShort)?;
        subframe = if quality & AGGREGATE != 0 { SUBFRAME } else { 0 };
        end += if control & ORDERED != 0 { 6 } else { 2 };
    }
    if padded {
        end = at + (end - at).next_multiple_of(4);
    }
    ethertype::follow_llc(frame, end + subframe)
}
