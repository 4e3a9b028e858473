//! Numbers as JSON text, the same as `serde_json` writes.

use super::{Print, Text};

const EIGHT_DIGITS: u64 = 100_000_000;
/// Five decimals are enough for most shares and confidences.
const DECIMALS: f64 = 1e5;
/// Eight times the digit zero.
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

impl Text<'_> {
    /// Appends a number of two digits or more.
    #[inline(never)]
    fn digits(&mut self, value: u64) {
        if value < 10_000 {
            let digits = four(value as u32);
            let zeros = (digits ^ ZEROS as u32).trailing_zeros() / 8;
            self.bytes.extend_from_slice(&(digits >> (8 * zeros)).to_le_bytes());
            return self.bytes.truncate(self.bytes.len() - zeros as usize);
        }
        let (high, low) = (value / EIGHT_DIGITS, value % EIGHT_DIGITS);
        if high == 0 {
            return self.without_zeros(low);
        }
        let (highest, middle) = (high / EIGHT_DIGITS, high % EIGHT_DIGITS);
        if highest == 0 {
            self.without_zeros(middle);
        } else {
            self.without_zeros(highest);
            self.bytes.extend_from_slice(&eight(middle).to_le_bytes());
        }
        self.bytes.extend_from_slice(&eight(low).to_le_bytes());
    }

    /// Appends a number of five decimals, without zeros at its end but the first.
    fn decimals(&mut self, value: u64) {
        (value / DECIMALS as u64).print(self);
        self.push(b'.');
        let digits = eight(value % DECIMALS as u64 * 1_000);
        let zeros = ((digits ^ ZEROS).leading_zeros() / 8).min(7);
        self.bytes.extend_from_slice(&digits.to_le_bytes());
        self.bytes.truncate(self.bytes.len() - zeros as usize);
    }

    /// Appends a positive number below 10⁸ without leading zeros.
    #[inline(always)]
    fn without_zeros(&mut self, value: u64) {
        let digits = eight(value);
        let zeros = (digits ^ ZEROS).trailing_zeros() / 8;
        // Eight bytes are one move; those behind the digits are taken back.
        self.bytes.extend_from_slice(&(digits >> (8 * zeros)).to_le_bytes());
        self.bytes.truncate(self.bytes.len() - zeros as usize);
    }
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
}

impl Print for i64 {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        if *self < 0 {
            text.push(b'-');
        }
        self.unsigned_abs().print(text);
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
        match decimals(*self, 1e11).filter(|short| *short as f64 / DECIMALS == *self) {
            Some(short) => text.decimals(short),
            None => text.rare(self),
        }
    }
}

/// The nearest number with five decimals, times 10⁵, if it has so few digits that no other is nearer to the value; none
/// where leading zeros may be written as an exponent.
fn decimals(value: f64, most: f64) -> Option<u64> {
    let short = (value * DECIMALS).round();
    let is_plain = short >= 1_000.0 || short == 0.0;
    (value.is_sign_positive() && is_plain && short < most).then_some(short as u64)
}
