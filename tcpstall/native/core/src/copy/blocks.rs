//! Parses and builds pcapng blocks.

use crate::capture::ByteOrder;

pub(super) const SECTION: u32 = 0x0a0d_0d0a;
pub(super) const INTERFACE: u32 = 1;
pub(super) const SIMPLE_PACKET: u32 = 3;
pub(super) const STATISTICS: u32 = 5;
pub(super) const PACKET: u32 = 6;

/// Code of a comment, the same in every block.
pub(super) const COMMENT: u16 = 1;
/// Code of an interface's time resolution.
pub(super) const RESOLUTION: u16 = 9;
/// Time resolution where an interface states none: microseconds.
pub(super) const MICROSECONDS: u8 = 6;
pub(super) const NANOSECONDS: u8 = 9;

/// Magic number that shows a section's byte order.
pub(super) const ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Type and length before a block's body, bytes.
const HEAD: usize = 8;
/// Repeated length after a block's body, bytes.
const TAIL: usize = 4;

/// Largest size of an option's value, bytes.
const LONGEST: usize = u16::MAX as usize;

/// True for a section's header, which begins with the same bytes in both byte orders.
pub(super) fn is_header(block: &[u8]) -> bool {
    block.starts_with(&SECTION.to_be_bytes())
}

/// Blocks in the byte order of their section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    order: ByteOrder,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { order: ByteOrder::Little }
    }
}

impl Blocks {
    /// Blocks of a section in that order.
    pub(super) fn of(order: ByteOrder) -> Blocks {
        Blocks { order }
    }

    pub(super) fn kind(self, block: &[u8]) -> u32 {
        self.order.words(block).map_or(0, |[kind]| kind)
    }

    /// The bytes between the block's lengths.
    pub(super) fn body(self, block: &[u8]) -> &[u8] {
        block.get(HEAD..block.len().saturating_sub(TAIL)).unwrap_or_default()
    }

    pub(super) fn number(self, body: &[u8], at: usize) -> Option<u32> {
        body.get(at..).and_then(<[u8]>::first_chunk).map(|bytes| self.order.u32(*bytes))
    }

    /// Code and all bytes of each option that is whole in `body` after its first `fixed` bytes, without the end mark.
    pub(super) fn options(self, body: &[u8], fixed: usize) -> impl Iterator<Item = (u16, &[u8])> {
        const END: u16 = 0;
        let mut rest = body.get(fixed..).unwrap_or_default();
        std::iter::from_fn(move || {
            let [c0, c1, l0, l1] = *rest.first_chunk()?;
            let length = 4 + usize::from(self.order.u16([l0, l1]));
            let code = self.order.u16([c0, c1]);
            let option = rest.get(..length).filter(|_| code != END)?;
            let padded = length.next_multiple_of(4).min(rest.len());
            let whole = &rest[..padded];
            rest = &rest[padded..];
            Some((code, if padded % 4 == 0 { whole } else { option }))
        })
    }

    /// Time resolution in an interface's description, if it states one.
    pub(super) fn resolution(self, block: &[u8]) -> Option<u8> {
        const FIXED: usize = 8;
        let resolution = self.options(self.body(block), FIXED).find(|(code, _)| *code == RESOLUTION);
        resolution.and_then(|(_, option)| option.get(4).copied())
    }

    /// Appends an option; a text that is too long is cut.
    pub(super) fn put_option(self, body: &mut Vec<u8>, code: u16, value: &[u8]) {
        let mut length = value.len().min(LONGEST);
        // The cut is not inside a character.
        while length < value.len() && value[length] & 0xc0 == 0x80 {
            length -= 1;
        }
        body.extend_from_slice(&self.order.short_bytes(code));
        body.extend_from_slice(&self.order.short_bytes(length as u16));
        body.extend_from_slice(&value[..length]);
        body.resize(body.len().next_multiple_of(4), 0);
    }

    /// Decodes a 16-bit number in this order.
    pub(super) fn short(self, bytes: [u8; 2]) -> u16 {
        self.order.u16(bytes)
    }

    /// Encodes a 16-bit number in this order.
    pub(super) fn short_bytes(self, number: u16) -> [u8; 2] {
        self.order.short_bytes(number)
    }

    pub(super) fn put_number(self, body: &mut Vec<u8>, number: u32) {
        body.extend_from_slice(&self.order.bytes(number));
    }

    /// Appends the end mark of options, if there are any after `fixed` bytes.
    pub(super) fn close_options(self, body: &mut Vec<u8>, fixed: usize) {
        if body.len() > fixed {
            body.extend_from_slice(&[0; 4]);
        }
    }

    /// The head and tail of a block with that body.
    pub(super) fn around(self, kind: u32, body: &[u8]) -> ([u8; HEAD], [u8; TAIL]) {
        let length = self.order.bytes((HEAD + body.len() + TAIL) as u32);
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&self.order.bytes(kind));
        head[4..].copy_from_slice(&length);
        (head, length)
    }
}
