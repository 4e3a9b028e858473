//! The blocks of pcapng taken apart and put together.

use crate::capture::Order;

pub(super) const SECTION: u32 = 0x0a0d_0d0a;
pub(super) const INTERFACE: u32 = 1;
pub(super) const SIMPLE_PACKET: u32 = 3;
pub(super) const STATISTICS: u32 = 5;
pub(super) const PACKET: u32 = 6;

/// The option that stands for itself in every block.
pub(super) const COMMENT: u16 = 1;
/// Of an interface: what it counts time in.
pub(super) const RESOLUTION: u16 = 9;
/// Its value that is understood where there is none.
pub(super) const MICROSECONDS: u8 = 6;
pub(super) const NANOSECONDS: u8 = 9;

/// The number that shows a section's byte order.
pub(super) const ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Type and length before a block's body, bytes.
const HEAD: usize = 8;
/// The length again after it, bytes.
const TAIL: usize = 4;

/// Most bytes of an option's value.
const LONGEST: usize = u16::MAX as usize;

/// True of a section's header, which begins alike in both byte orders.
pub(super) fn is_header(block: &[u8]) -> bool {
    block.starts_with(&SECTION.to_be_bytes())
}

/// Blocks in the byte order of their section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    order: Order,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { order: Order::Little }
    }
}

impl Blocks {
    /// Those of a section in that order.
    pub(super) fn of(order: Order) -> Blocks {
        Blocks { order }
    }

    pub(super) fn kind(self, block: &[u8]) -> u32 {
        self.order.words(block).map_or(0, |[kind]| kind)
    }

    /// What lies between the block's lengths.
    pub(super) fn body(self, block: &[u8]) -> &[u8] {
        block.get(HEAD..block.len().saturating_sub(TAIL)).unwrap_or_default()
    }

    pub(super) fn number(self, body: &[u8], at: usize) -> Option<u32> {
        body.get(at..).and_then(<[u8]>::first_chunk).map(|bytes| self.order.u32(*bytes))
    }

    /// Code and all bytes of each option that stands whole in `body` behind its first `fixed` bytes, its end mark not.
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

    /// What an interface's description says that it counts time in, if it says so.
    pub(super) fn resolution(self, block: &[u8]) -> Option<u8> {
        const FIXED: usize = 8;
        let resolution = self.options(self.body(block), FIXED).find(|(code, _)| *code == RESOLUTION);
        resolution.and_then(|(_, option)| option.get(4).copied())
    }

    /// Appends an option; a text that is too long ends where it must.
    pub(super) fn put_option(self, body: &mut Vec<u8>, code: u16, value: &[u8]) {
        let mut length = value.len().min(LONGEST);
        // Not within a character.
        while length < value.len() && value[length] & 0xc0 == 0x80 {
            length -= 1;
        }
        body.extend_from_slice(&self.order.short_bytes(code));
        body.extend_from_slice(&self.order.short_bytes(length as u16));
        body.extend_from_slice(&value[..length]);
        body.resize(body.len().next_multiple_of(4), 0);
    }

    /// A short number in this order.
    pub(super) fn short(self, bytes: [u8; 2]) -> u16 {
        self.order.u16(bytes)
    }

    /// The bytes of one.
    pub(super) fn short_bytes(self, number: u16) -> [u8; 2] {
        self.order.short_bytes(number)
    }

    pub(super) fn put_number(self, body: &mut Vec<u8>, number: u32) {
        body.extend_from_slice(&self.order.bytes(number));
    }

    /// The end mark behind options, if there are any behind `fixed` bytes.
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
