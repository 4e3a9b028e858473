//! Compact form of frozen pauses: a number below 200 and an absent value take one byte, a number below 10,952 two, any other as
//! many as it needs and one, and marks a bit each.
//!
//! A general serialiser visits each of 150 values through several calls; here nearly every value is one comparison.

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
pub(super) trait Packed {
    /// Appends the packed form.
    fn pack(&self, to: &mut Packer);
    /// Takes the value from its packed form.
    fn unpack(from: &mut Unpacker<'_>) -> Self;
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
        if self.at == self.bytes.len() {
            self.grow(PAGE);
        }
        self.bytes[self.at] = byte;
        self.at += 1;
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

    /// Appends marks, at most 64, the first as the lowest bit.
    #[inline(always)]
    pub(super) fn marks<const COUNT: usize>(&mut self, marks: [bool; COUNT]) {
        self.number(marks.iter().rev().fold(0, |bits, mark| bits << 1 | u64::from(*mark)));
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
        let (count, wide) = (usize::from(count).min(WIDEST - 1), self.rest.first_chunk());
        let Some((number, rest)) = self.rest.split_at_checked(count) else {
            self.is_cut = true;
            return 0;
        };
        self.rest = rest;
        match wide {
            Some(wide) if count > 0 => u64::from_le_bytes(*wide) & (u64::MAX >> (u64::BITS as usize - 8 * count)),
            _ => number.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
        }
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

    /// Marks, the first as the lowest bit.
    #[inline(always)]
    pub(super) fn marks(&mut self) -> impl FnMut() -> bool + use<> {
        let mut bits = self.number();
        move || {
            let mark = bits & 1 == 1;
            bits >>= 1;
            mark
        }
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

/// Packs a structure: its marks, then its other fields in their order. The compiler refuses a list that lacks a field.
macro_rules! packed {
    ($Type:ident { marks { $($mark:ident),+ $(,)? } $($field:ident),* $(,)? }) => {
        impl $crate::pause::packed::Packed for $Type {
            #[inline(always)]
            fn pack(&self, to: &mut $crate::pause::packed::Packer) {
                let $Type { $($mark,)+ $($field,)* } = self;
                to.marks([$(*$mark),+]);
                $($crate::pause::packed::Packed::pack($field, to);)*
            }

            #[inline(always)]
            fn unpack(from: &mut $crate::pause::packed::Unpacker<'_>) -> $Type {
                let mut mark = from.marks();
                $Type { $($mark: mark(),)+ $($field: $crate::pause::packed::Packed::unpack(from),)* }
            }
        }
    };
    ($Type:ident { $($field:ident),* $(,)? }) => {
        impl $crate::pause::packed::Packed for $Type {
            #[inline(always)]
            fn pack(&self, to: &mut $crate::pause::packed::Packer) {
                let $Type { $($field,)* } = self;
                $($crate::pause::packed::Packed::pack($field, to);)*
            }

            #[inline(always)]
            fn unpack(from: &mut $crate::pause::packed::Unpacker<'_>) -> $Type {
                $Type { $($field: $crate::pause::packed::Packed::unpack(from),)* }
            }
        }
    };
}

pub(super) use packed;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Nanos;

    #[test]
    fn every_number_comes_back_and_a_small_one_takes_a_byte() {
        let near = |number: i64| [number - 1, number, number + 1];
        let edges = (0..63).flat_map(|bits| near(1 << bits)).flat_map(|number| [number, -number]);
        let numbers: Vec<i64> = edges
            .chain(near(100))
            .chain(near(200))
            .chain(near(5_476))
            .chain(near(10_952))
            .chain([0, i64::MIN, i64::MAX])
            .chain(near(1_700_000_000_000_000_000))
            .collect();
        let mut packer = Packer::behind(Vec::new());
        for &number in &numbers {
            packer.add(&Some(number));
            packer.add(&(number as u64, Nanos(number)));
            packer.add(&Option::<i64>::None);
        }
        let bytes = packer.bytes();
        let mut unpacker = Unpacker::of(&bytes);
        for &number in &numbers {
            assert_eq!(unpacker.next(), Some(Some(number)));
            assert_eq!(unpacker.next(), Some((number as u64, Nanos(number))));
            assert_eq!(unpacker.next(), Some(Option::<i64>::None));
        }
        assert_eq!(unpacker.next::<u64>(), None);
        let of = |number: u64| {
            let mut packer = Packer::behind(Vec::new());
            packer.add(&number);
            packer.bytes().len()
        };
        assert_eq!([0, 199, 200, 10_951, 10_952, 1 << 16, u64::MAX].map(of), [1, 1, 2, 2, 3, 4, 9]);
    }

    #[test]
    fn bytes_that_end_too_early_are_no_value() {
        let mut packer = Packer::behind(Vec::new());
        packer.add(&(Nanos(1_700_000_000_000_000_000), (7_u64, 1_u64 << 40)));
        let bytes = packer.bytes();
        for cut in 0..bytes.len() {
            assert_eq!(Unpacker::of(&bytes[..cut]).next::<(Nanos, (u64, u64))>(), None);
        }
    }
}
