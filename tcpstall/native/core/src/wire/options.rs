//! TCP options (RFC 9293 §3.1, RFC 2018, RFC 7323).

use super::segment::{Flags, SackBlock, Segment, Timestamps};
use crate::seq::SeqNo;

/// Two bytes of padding, then kind and length of the timestamps: Linux, the BSDs and Windows lay out nearly every segment
/// this way (RFC 7323, appendix A).
const USUAL: [u8; 4] = [1, 1, 8, 10];

/// Reads the options of a header into `segment`, whose flags are set already.
#[inline(always)]
pub(super) fn read(options: &[u8], segment: &mut Segment) {
    segment.timestamps = None;
    segment.mss = None;
    segment.window_scale = None;
    segment.sack_permitted = false;
    segment.multipath = false;
    segment.sack_count = 0;
    segment.sack = [SackBlock { left: SeqNo(0), right: SeqNo(0) }; 4];
    if options.len() == 12 && options.starts_with(&USUAL) {
        segment.timestamps = options.last_chunk().map(timestamps);
    } else if !options.is_empty() {
        walk(options, segment);
    }
}

fn walk(mut options: &[u8], segment: &mut Segment) {
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    loop {
        options = match options {
            [] | [END, ..] => return,
            [NO_OPERATION, rest @ ..] => rest,
            [kind, length, rest @ ..] if *length >= 2 => {
                let Some((value, rest)) = rest.split_at_checked(usize::from(*length) - 2) else {
                    return;
                };
                note(*kind, value, segment);
                rest
            }
            _ => return,
        };
    }
}

fn note(kind: u8, value: &[u8], segment: &mut Segment) {
    const MSS: u8 = 2;
    const WINDOW_SCALE: u8 = 3;
    const SACK_PERMITTED: u8 = 4;
    const SACK: u8 = 5;
    const TIMESTAMPS: u8 = 8;
    const MULTIPATH: u8 = 30;
    // The options of the handshake are invalid outside of it, and stacks ignore them there.
    let syn = segment.flags.has(Flags::SYN);
    match (kind, value) {
        (MSS, [high, low]) if syn => segment.mss = Some(u16::from_be_bytes([*high, *low])),
        (WINDOW_SCALE, [shift]) if syn => segment.window_scale = Some(*shift),
        (SACK_PERMITTED, []) if syn => segment.sack_permitted = true,
        (MULTIPATH, _) if syn => segment.multipath = true,
        (TIMESTAMPS, value) => {
            if let Ok(fields) = value.try_into() {
                segment.timestamps = Some(timestamps(fields));
            }
        }
        (SACK, value) => note_sack(value, segment),
        _ => {}
    }
}

fn note_sack(value: &[u8], segment: &mut Segment) {
    let (blocks, rest) = value.as_chunks::<8>();
    if !rest.is_empty() {
        return;
    }
    // Forty bytes of options have room for four blocks, but a segment can repeat the option.
    let free = segment.sack.iter_mut().skip(usize::from(segment.sack_count));
    for (place, [l0, l1, l2, l3, r0, r1, r2, r3]) in free.zip(blocks) {
        let left = SeqNo(u32::from_be_bytes([*l0, *l1, *l2, *l3]));
        let right = SeqNo(u32::from_be_bytes([*r0, *r1, *r2, *r3]));
        *place = SackBlock { left, right };
        segment.sack_count += 1;
    }
}

#[inline]
fn timestamps(fields: &[u8; 8]) -> Timestamps {
    let [v0, v1, v2, v3, e0, e1, e2, e3] = *fields;
    Timestamps { value: u32::from_be_bytes([v0, v1, v2, v3]), echo: u32::from_be_bytes([e0, e1, e2, e3]) }
}
