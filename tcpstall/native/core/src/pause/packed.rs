//! Compact form of frozen pauses: a mark, an absent value and a 0 take a bit, any other number below 200 one byte more, below
//! 10,952 two, any other as many as it needs and one.
//!
//! A general serialiser visits each of 150 values through several calls; here most of them are one test of a bit.

mod types;

use crate::vec_growth;

/// A smaller byte is a number itself; from here on the first byte of two is.
const TWO: u8 = 200;
/// First byte of an absent value: any smaller one begins a number of one byte or two.
const NONE: u8 = 242;
/// The first byte of a longer number less this is the count of the bytes that follow, 2 to 8.
const LONG: u8 = NONE - 1;
/// The first byte of a number near the last far one less this is the count of the bytes that follow, 1 to 6: they are the
/// difference.
const NEAR: u8 = LONG + 8;
/// Least distance from 0 of a far number: every time since 1970 is one, and the times of a pause are near each other.
const FAR: u64 = 1 << 47;
/// Most bytes of a number.
const WIDEST: usize = 9;
/// Bytes by which the room for packed values grows.
const PAGE: usize = 512;

/// A value with a packed form, of which the first byte is not that of an absent value.
pub(super) trait Packed: Sized {
    /// Appends the packed form.
    fn pack(&self, to: &mut Packer);
    /// Takes the value from its packed form.
    fn unpack(from: &mut Unpacker<'_>) -> Self;

    /// As a field the value takes no more than a bit, which is 0.
    #[inline(always)]
    fn is_blank(&self) -> bool {
        false
    }

    /// Such a value, or one that was cut off.
    #[inline(always)]
    fn blank(from: &mut Unpacker<'_>) -> Self {
        (from.rest, from.is_cut) = (&[], true);
        Self::unpack(from)
    }

    /// Appends the packed form of a field that is not blank.
    #[inline(always)]
    fn pack_field(&self, to: &mut Packer) {
        self.pack(to);
    }

    /// Takes a field that is not blank from its packed form.
    #[inline(always)]
    fn unpack_field(from: &mut Unpacker<'_>) -> Self {
        Self::unpack(from)
    }
}

/// Packs values, one after the other.
pub(super) struct Packer {
    bytes: Vec<u8>,
    at: usize,
    far: i64,
}

impl Packer {
    /// Packs values behind those of `bytes`.
    pub(super) fn behind(bytes: Vec<u8>) -> Packer {
        let at = bytes.len();
        Packer { bytes, at, far: 0 }
    }

    /// The bytes of all values.
    pub(super) fn bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.at);
        self.bytes
    }

    /// Appends a value that can be unpacked on its own.
    pub(super) fn add(&mut self, value: &impl Packed) {
        self.far = 0;
        value.pack(self);
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        match self.bytes.get_mut(self.at) {
            Some(place) => {
                *place = byte;
                self.at += 1;
            }
            None => self.byte_overleaf(byte),
        }
    }

    #[cold]
    #[inline(never)]
    fn byte_overleaf(&mut self, byte: u8) {
        self.grow(PAGE);
        self.byte(byte);
    }

    /// Leaves room for the bits of a structure, and returns their place.
    #[inline(always)]
    pub(super) fn leaves_bits(&mut self, bytes: usize) -> usize {
        let place = self.at;
        if self.bytes.len() < place + bytes {
            self.grow(PAGE);
        }
        self.at += bytes;
        place
    }

    /// Fills in the bits of a structure at their place, the first as the lowest.
    #[inline(always)]
    pub(super) fn fills_in<const BYTES: usize>(&mut self, place: usize, bits: u128) {
        if let (Some(place), Some(bits)) =
            (self.bytes.get_mut(place..place + BYTES), bits.to_le_bytes().first_chunk::<BYTES>())
        {
            place.copy_from_slice(bits);
        }
    }

    #[inline(always)]
    pub(super) fn number(&mut self, number: u64) {
        if number < u64::from(TWO) { self.byte(number as u8) } else { self.long(number) }
    }

    #[inline(never)]
    fn long(&mut self, number: u64) {
        match u8::try_from((number - u64::from(TWO)) >> u8::BITS) {
            Ok(high) if high < NONE - TWO => {
                self.byte(TWO + high);
                self.byte((number - u64::from(TWO)) as u8);
            }
            _ => self.counted(LONG, number),
        }
    }

    /// Appends the count of a number's bytes after a `mark`, and these bytes.
    #[inline(always)]
    fn counted(&mut self, mark: u8, number: u64) {
        if self.bytes.len() < self.at + WIDEST {
            self.grow(PAGE);
        }
        let count = (u64::BITS - number.leading_zeros()).div_ceil(u8::BITS).max(1) as u8;
        let place = &mut self.bytes[self.at..self.at + WIDEST];
        place[0] = mark + count;
        place[1..].copy_from_slice(&number.to_le_bytes());
        self.at += 1 + usize::from(count);
    }

    #[inline(always)]
    fn signed(&mut self, number: i64) {
        if number.unsigned_abs() < FAR { self.number(folded(number)) } else { self.far(number) }
    }

    #[inline(never)]
    fn far(&mut self, number: i64) {
        let apart = number.wrapping_sub(self.far);
        if apart.unsigned_abs() < FAR {
            self.counted(NEAR, folded(apart));
        } else {
            self.counted(LONG, folded(number));
        }
        self.far = number;
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        vec_growth::reserve(&mut self.bytes, more);
        self.bytes.resize(self.bytes.len() + more, 0);
    }

    fn slice(&mut self, slice: &[u8]) {
        self.number(slice.len() as u64);
        self.grow(slice.len());
        self.bytes[self.at..self.at + slice.len()].copy_from_slice(slice);
        self.at += slice.len();
    }
}

/// Unpacks values in the same order.
pub(super) struct Unpacker<'a> {
    rest: &'a [u8],
    far: i64,
    /// Fewer bytes were left than a value needed.
    is_cut: bool,
}

impl<'a> Unpacker<'a> {
    /// Unpacks the values of `bytes`.
    pub(super) fn of(bytes: &'a [u8]) -> Unpacker<'a> {
        Unpacker { rest: bytes, far: 0, is_cut: false }
    }

    /// The next value, if there is another.
    pub(super) fn next<T: Packed>(&mut self) -> Option<T> {
        if self.rest.is_empty() {
            return None;
        }
        self.far = 0;
        let value = T::unpack(self);
        (!self.is_cut).then_some(value)
    }

    #[inline(always)]
    fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.rest.split_first() else {
            self.is_cut = true;
            return 0;
        };
        self.rest = rest;
        *byte
    }

    #[inline(always)]
    pub(super) fn number(&mut self) -> u64 {
        let byte = self.byte();
        if byte < TWO { u64::from(byte) } else { self.long(byte) }
    }

    #[inline(never)]
    fn long(&mut self, first: u8) -> u64 {
        if first >= NONE {
            return self.counted(first - LONG);
        }
        u64::from(TWO) + (u64::from(first - TWO) << u8::BITS | u64::from(self.byte()))
    }

    /// A number of so many bytes, at most 8.
    #[inline(always)]
    fn counted(&mut self, count: u8) -> u64 {
        let count = usize::from(count);
        match self.rest.first_chunk() {
            Some(wide) if (1..WIDEST).contains(&count) => {
                self.rest = &self.rest[count..];
                u64::from_le_bytes(*wide) & (u64::MAX >> (u64::BITS as usize - 8 * count))
            }
            _ => self.counted_at_the_end(count.min(WIDEST - 1)),
        }
    }

    /// The same where fewer bytes are left than the longest number has.
    #[cold]
    #[inline(never)]
    fn counted_at_the_end(&mut self, count: usize) -> u64 {
        let Some((number, rest)) = self.rest.split_at_checked(count) else {
            self.is_cut = true;
            return 0;
        };
        self.rest = rest;
        number.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
    }

    #[inline(always)]
    fn signed(&mut self) -> i64 {
        let byte = self.byte();
        if byte < TWO { unfolded(u64::from(byte)) } else { self.far(byte) }
    }

    #[inline(never)]
    fn far(&mut self, first: u8) -> i64 {
        let number = match first.checked_sub(NEAR) {
            Some(count @ 1..) => unfolded(self.counted(count)).wrapping_add(self.far),
            _ => unfolded(self.long(first)),
        };
        if number.unsigned_abs() >= FAR {
            self.far = number;
        }
        number
    }

    /// The bits of a structure, the first as the lowest.
    #[inline(always)]
    pub(super) fn bits<const BYTES: usize>(&mut self) -> u128 {
        let Some((bits, rest)) = self.rest.split_first_chunk::<BYTES>() else {
            (self.rest, self.is_cut) = (&[], true);
            return 0;
        };
        self.rest = rest;
        let mut whole = [0; 16];
        whole[..BYTES].copy_from_slice(bits);
        u128::from_le_bytes(whole)
    }

    fn slice(&mut self) -> &'a [u8] {
        let length = usize::try_from(self.number()).unwrap_or(usize::MAX);
        let Some((slice, rest)) = self.rest.split_at_checked(length) else {
            self.is_cut = true;
            return &[];
        };
        self.rest = rest;
        slice
    }
}

/// A signed number as an unsigned one: small where it is near 0.
fn folded(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Packs a structure: a bit for each mark and each other field, then the fields that are not blank in their order. The compiler
/// refuses a list that lacks a field.
macro_rules! packed {
    ($Type:ident { marks { $($mark:ident),+ $(,)? } $($field:ident),* $(,)? }) => {
        $crate::pause::packed::packed!($Type { $($mark,)+ $($field,)* });
    };
    ($Type:ident { $($field:ident),* $(,)? }) => {
        impl $crate::pause::packed::Packed for $Type {
            #[inline(always)]
            fn pack(&self, to: &mut $crate::pause::packed::Packer) {
                const BYTES: usize = [$(stringify!($field)),*].len().div_ceil(8);
                let $Type { $($field,)* } = self;
                let place = to.leaves_bits(BYTES);
                let (mut bits, mut bit) = (0_u128, 1_u128);
                $(
                    if !$crate::pause::packed::Packed::is_blank($field) {
                        bits |= bit;
                        $crate::pause::packed::Packed::pack_field($field, to);
                    }
                    bit <<= 1;
                )*
                _ = bit;
                to.fills_in::<BYTES>(place, bits);
            }

            #[inline(always)]
            fn unpack(from: &mut $crate::pause::packed::Unpacker<'_>) -> $Type {
                const BYTES: usize = [$(stringify!($field)),*].len().div_ceil(8);
                let bits = from.bits::<BYTES>();
                let mut bit = 0_u32;
                $(
                    let $field = if bits >> bit & 1 == 1 {
                        $crate::pause::packed::Packed::unpack_field(from)
                    } else {
                        $crate::pause::packed::Packed::blank(from)
                    };
                    bit += 1;
                )*
                _ = bit;
                $Type { $($field,)* }
            }
        }
    };
}

pub(super) use packed;

#[cfg(test)]
mod tests;
