//! Numbers as JSON text, the same as `serde_json` writes.

use super::{Name, Print, Text};

const EIGHT_DIGITS: u64 = 100_000_000;
/// Five decimals are enough for most shares and confidences.
const DECIMALS: f64 = 1e5;
/// Eight times the digit zero.
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
/// The digits of each byte, and a dot behind them.
const DOTTED: [[u8; 4]; 256] = {
    let mut dotted = [[b'.'; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut rest, mut place) = (byte, digits_of(byte));
        while place > 0 {
            place -= 1;
            (dotted[byte][place], rest) = (b'0' + (rest % 10) as u8, rest / 10);
        }
        byte += 1;
    }
    dotted
};

const fn digits_of(byte: usize) -> usize {
    1 + (byte >= 10) as usize + (byte >= 100) as usize
}

impl Text<'_> {
    /// Appends a number of two digits or more.
    #[inline(never)]
    fn digits(&mut self, value: u64) {
        let Some(place) = self.place::<8>() else { return self.digits_overleaf(value) };
        let zeros = if value < 10_000 {
            let digits = four(value as u32);
            let zeros = (digits ^ ZEROS as u32).trailing_zeros() / 8;
            *place = u64::from(digits >> (8 * zeros)).to_le_bytes();
            4 + zeros
        } else if value < EIGHT_DIGITS {
            without_zeros(value, place)
        } else {
            return self.many_digits(value);
        };
        self.at += 8 - zeros;
    }

    /// Appends a number of more than eight digits. The times of a flow begin with the same digits.
    #[inline(never)]
    fn many_digits(&mut self, value: u64) {
        let (high, low) = (value / EIGHT_DIGITS, value % EIGHT_DIGITS);
        let leading = self.leading;
        if high != leading.value {
            return self.other_digits(value);
        }
        let Some(place) = self.place::<24>() else { return self.digits_overleaf(value) };
        place[..16].copy_from_slice(&leading.digits);
        let length = leading.length.min(16);
        place[length..length + 8].copy_from_slice(&eight(low).to_le_bytes());
        self.at += length as u32 + 8;
    }

    /// Appends a number of more than eight digits that does not begin as the last one did.
    #[inline(never)]
    fn other_digits(&mut self, value: u64) {
        let (high, low) = (value / EIGHT_DIGITS, value % EIGHT_DIGITS);
        if high < EIGHT_DIGITS {
            self.digits(high);
            return self.bytes(&eight(low).to_le_bytes());
        }
        self.leading = Leading::of(high);
        self.many_digits(value);
    }

    /// Appends a number on the next page.
    #[cold]
    #[inline(never)]
    fn digits_overleaf(&mut self, value: u64) {
        self.goes_out();
        self.digits(value);
    }

    /// Appends an IPv4 address. Each row has two.
    #[inline(never)]
    pub(crate) fn dotted(&mut self, bytes: [u8; 4]) {
        let Some(place) = self.place::<20>() else {
            self.goes_out();
            return self.dotted(bytes);
        };
        place[0] = b'"';
        let mut at = 1;
        for byte in bytes.map(usize::from) {
            place[at..at + 4].copy_from_slice(&DOTTED[byte]);
            at += digits_of(byte) + 1;
        }
        place[at - 1] = b'"';
        self.at += at as u32;
    }

    /// Appends a number of five decimals, without zeros at its end but the first.
    fn decimals(&mut self, value: u64) {
        (value / DECIMALS as u64).print(self);
        if value.is_multiple_of(DECIMALS as u64) {
            return self.constant(".0");
        }
        let digits = eight(value % DECIMALS as u64 * 1_000);
        let zeros = ((digits ^ ZEROS).leading_zeros() / 8).min(7);
        let Some(place) = self.place::<9>() else {
            self.push(b'.');
            return self.bytes(&digits.to_le_bytes()[..8 - zeros as usize]);
        };
        place[0] = b'.';
        place[1..].copy_from_slice(&digits.to_le_bytes());
        self.at += 9 - zeros;
    }
}

/// Digits of a number of up to sixteen.
#[derive(Clone, Copy, Default)]
pub(super) struct Leading {
    value: u64,
    digits: [u8; 16],
    length: usize,
}

impl Leading {
    /// The digits of a positive number.
    fn of(value: u64) -> Leading {
        let (high, low) = (value / EIGHT_DIGITS, value % EIGHT_DIGITS);
        let (mut digits, mut first) = ([0; 16], [0; 8]);
        let mut length = 8 - without_zeros(if high > 0 { high } else { low }, &mut first) as usize;
        digits[..8].copy_from_slice(&first);
        if high > 0 {
            digits[length..length + 8].copy_from_slice(&eight(low).to_le_bytes());
            length += 8;
        }
        Leading { value, digits, length }
    }
}

/// Writes the digits of a positive number below 10⁸ without leading zeros; returns the number of those.
#[inline(always)]
fn without_zeros(value: u64, place: &mut [u8; 8]) -> u32 {
    let digits = eight(value);
    let zeros = (digits ^ ZEROS).trailing_zeros() / 8;
    *place = (digits >> (8 * zeros)).to_le_bytes();
    zeros
}

/// The eight digits of a number below 10⁸, the first in the lowest byte: halves are split into halves, all at once. A
/// product and a shift are the quotient by 100, and by 10, for every number that occurs.
#[inline(always)]
fn eight(value: u64) -> u64 {
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    (tens | ((twos - 10 * tens) << 8)) + ZEROS
}

/// The four digits of a number below 10⁴, in the same way.
#[inline(always)]
fn four(value: u32) -> u32 {
    let hundreds = (value * 10_486) >> 20;
    let twos = hundreds | ((value - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f;
    (tens | ((twos - 10 * tens) << 8)) + ZEROS as u32
}

impl Print for u64 {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        if *self < 10 {
            text.push(b'0' + *self as u8);
        } else {
            text.digits(*self);
        }
    }

    #[inline(always)]
    fn field(&self, text: &mut Text<'_>, name: Name) {
        if *self == 0 {
            return text.constant(name.zero);
        }
        text.constant(name.alone);
        self.print(text);
    }
}

impl Print for i64 {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        if *self < 0 {
            text.push(b'-');
        }
        self.unsigned_abs().print(text);
    }

    #[inline(always)]
    fn field(&self, text: &mut Text<'_>, name: Name) {
        if *self == 0 {
            return text.constant(name.zero);
        }
        text.constant(name.alone);
        self.print(text);
    }
}

/// Prints smaller integers as large ones.
macro_rules! through {
    ($($Type:ty),*) => {
        $(
            impl Print for $Type {
                #[inline]
                fn print(&self, text: &mut Text<'_>) {
                    u64::from(*self).print(text);
                }

                #[inline(always)]
                fn field(&self, text: &mut Text<'_>, name: Name) {
                    u64::from(*self).field(text, name);
                }
            }
        )*
    };
}

through!(u16, u32);

impl Print for u8 {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        if *self >= 100 {
            text.push(b'0' + self / 100);
        }
        if *self >= 10 {
            text.push(b'0' + self / 10 % 10);
        }
        text.push(b'0' + self % 10);
    }
}

impl Print for f32 {
    fn print(&self, text: &mut Text<'_>) {
        // A single-precision number has six digits that count.
        match decimals(f64::from(*self), 1e6).filter(|short| (*short as f64 / DECIMALS) as f32 == *self) {
            Some(short) => text.decimals(short),
            None => text.rare(self),
        }
    }
}

impl Print for f64 {
    fn print(&self, text: &mut Text<'_>) {
        if self.to_bits() == 0 {
            return text.constant("0.0");
        }
        match decimals(*self, 1e11).filter(|short| *short as f64 / DECIMALS == *self) {
            Some(short) => text.decimals(short),
            None => text.rare(self),
        }
    }
}

/// The nearest number with five decimals, times 10⁵, if it has so few digits that no other is nearer to the value; none
/// where leading zeros may be written as an exponent. The caller compares, so a half may be rounded either way.
fn decimals(value: f64, most: f64) -> Option<u64> {
    let short = value * DECIMALS + 0.5;
    let is_plain = !(1.0..1_000.0).contains(&short);
    (value.is_sign_positive() && is_plain && short < most).then_some(short as u64)
}
