//! TCP options (RFC 9293 §3.1, RFC 2018, RFC 7323).

use super::segment::{SackBlock, Timestamps};
use crate::seq::SeqNo;

/// The options of one header that mean something to the flow layer.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    pub(super) timestamps: Option<Timestamps>,
    pub(super) mss: Option<u16>,
    pub(super) window_scale: Option<u8>,
    pub(super) sack_permitted: bool,
    pub(super) sack_count: u8,
    pub(super) sack: [SackBlock; 4],
}

/// The timestamps of options that hold nothing else, as Linux, the BSDs and Windows lay out nearly every segment
/// (RFC 7323, appendix A).
#[inline]
pub(super) fn only_timestamps(options: &[u8]) -> Option<Timestamps> {
    match <&[u8; 12]>::try_from(options) {
        Ok([1, 1, 8, 10, fields @ ..]) => Some(timestamps(fields)),
        _ => None,
    }
}

/// Reads whatever options there are; `syn` says that this is a SYN.
pub(super) fn read(mut options: &[u8], syn: bool) -> Options {
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    let mut found = Options::default();
    loop {
        options = match options {
            [] | [END, ..] => return found,
            [NO_OPERATION, rest @ ..] => rest,
            [kind, length, rest @ ..] if *length >= 2 => {
                let Some((value, rest)) = rest.split_at_checked(usize::from(*length) - 2) else {
                    return found;
                };
                found.note(*kind, value, syn);
                rest
            }
            _ => return found,
        };
    }
}

impl Options {
    fn note(&mut self, kind: u8, value: &[u8], syn: bool) {
        const MSS: u8 = 2;
        const WINDOW_SCALE: u8 = 3;
        const SACK_PERMITTED: u8 = 4;
        const SACK: u8 = 5;
        const TIMESTAMPS: u8 = 8;
        // The options of the handshake are void outside of it, and stacks ignore them there.
        match (kind, value) {
            (MSS, [high, low]) if syn => self.mss = Some(u16::from_be_bytes([*high, *low])),
            (WINDOW_SCALE, [shift]) if syn => self.window_scale = Some(*shift),
            (SACK_PERMITTED, []) if syn => self.sack_permitted = true,
            (TIMESTAMPS, value) => {
                if let Ok(fields) = value.try_into() {
                    self.timestamps = Some(timestamps(fields));
                }
            }
            (SACK, value) => self.note_sack(value),
            _ => {}
        }
    }

    fn note_sack(&mut self, value: &[u8]) {
        let (blocks, rest) = value.as_chunks::<8>();
        if !rest.is_empty() {
            return;
        }
        // Forty bytes of options have room for four, but a segment can repeat the option.
        let free = self.sack.iter_mut().skip(usize::from(self.sack_count));
        for (place, [l0, l1, l2, l3, r0, r1, r2, r3]) in free.zip(blocks) {
            let left = SeqNo(u32::from_be_bytes([*l0, *l1, *l2, *l3]));
            let right = SeqNo(u32::from_be_bytes([*r0, *r1, *r2, *r3]));
            *place = SackBlock { left, right };
            self.sack_count += 1;
        }
    }
}

#[inline]
fn timestamps(fields: &[u8; 8]) -> Timestamps {
    let [v0, v1, v2, v3, e0, e1, e2, e3] = *fields;
    Timestamps { value: u32::from_be_bytes([v0, v1, v2, v3]), echo: u32::from_be_bytes([e0, e1, e2, e3]) }
}
