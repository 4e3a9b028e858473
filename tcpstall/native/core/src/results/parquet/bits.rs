//! Small numbers packed into bits: marks of known values, numbers of words, differences.
//!
//! Source: Apache Parquet, `Encodings.md`, run-length encoding and bit-packing hybrid; delta encoding.

use super::marks::Marks;
use super::thrift::{varint, zigzag};

/// Least length of a run that is written as such: a shorter one takes no fewer bytes.
const RUN: usize = 16;
/// Values whose bits are written together.
const GROUP: usize = 8;
/// Differences of a block, which share their least value.
const BLOCK: usize = 128;
/// Differences of a miniblock, which share their width.
const MINIBLOCK: usize = 32;

/// Number of bits that hold each number up to this.
pub(super) fn width(greatest: u64) -> u32 {
    u64::BITS - greatest.leading_zeros()
}

/// Appends the definition levels of a page: 1 where a value is known.
pub(super) fn levels(bytes: &mut Vec<u8>, known: &Marks) {
    let (len, unknown) = (known.len(), known.unknown());
    let mut packed = Vec::new();
    if unknown == 0 || unknown == len {
        run(&mut packed, len, u64::from(unknown == 0), 1);
    } else {
        varint(&mut packed, (len.div_ceil(GROUP) as u64) << 1 | 1);
        packed.extend(known.words().iter().flat_map(|word| word.to_le_bytes()).take(len.div_ceil(GROUP)));
    }
    bytes.extend_from_slice(&(packed.len() as u32).to_le_bytes());
    bytes.append(&mut packed);
}

/// Appends so many times one number.
pub(super) fn run(bytes: &mut Vec<u8>, len: usize, value: u64, width: u32) {
    varint(bytes, (len as u64) << 1);
    bytes.extend_from_slice(value.to_le_bytes().get(..width.div_ceil(8) as usize).unwrap_or_default());
}

/// Appends numbers of so many bits: runs of equal ones as runs, others packed.
pub(super) fn hybrid(bytes: &mut Vec<u8>, values: &[u32], width: u32) {
    let mut begun = 0;
    let mut at = 0;
    while let Some(&value) = values.get(at) {
        let equal = values[at..].iter().take_while(|&&other| other == value).count();
        // Numbers before a run fill whole groups, with some of the run.
        let fill = (at - begun).next_multiple_of(GROUP) - (at - begun);
        if equal >= RUN + fill {
            literals(bytes, &values[begun..at + fill], width);
            run(bytes, equal - fill, value.into(), width);
            begun = at + equal;
        }
        at += equal;
    }
    literals(bytes, &values[begun..], width);
}

fn literals(bytes: &mut Vec<u8>, values: &[u32], width: u32) {
    if !values.is_empty() {
        varint(bytes, (values.len().div_ceil(GROUP) as u64) << 1 | 1);
        packed(bytes, values.iter().map(|&value| value.into()), values.len().next_multiple_of(GROUP), width);
    }
}

/// Appends the lowest bits of `len` numbers; those beyond the given ones are 0.
fn packed(bytes: &mut Vec<u8>, values: impl Iterator<Item = u64>, len: usize, width: u32) {
    if width == 0 {
        return;
    }
    let end = bytes.len() + len * width as usize / 8;
    let (mut held, mut bits) = (0u64, 0u32);
    for value in values {
        held |= value << bits;
        bits += width;
        if bits >= u64::BITS {
            bytes.extend_from_slice(&held.to_le_bytes());
            bits -= u64::BITS;
            held = value.checked_shr(width - bits).unwrap_or_default();
        }
    }
    bytes.extend_from_slice(held.to_le_bytes().get(..bits.div_ceil(8) as usize).unwrap_or_default());
    bytes.resize(end, 0);
}

/// Appends integers as the differences of neighbours (DELTA_BINARY_PACKED). They wrap, so all integers are allowed.
pub(super) fn differences(bytes: &mut Vec<u8>, values: &[i64]) {
    varint(bytes, BLOCK as u64);
    varint(bytes, (BLOCK / MINIBLOCK) as u64);
    varint(bytes, values.len() as u64);
    let Some((&first, rest)) = values.split_first() else { return zigzag(bytes, 0) };
    zigzag(bytes, first);
    let mut before = first;
    for block in rest.chunks(BLOCK) {
        let mut each = [0; BLOCK];
        for (difference, &value) in each.iter_mut().zip(block) {
            *difference = value.wrapping_sub(before);
            before = value;
        }
        let Some(each) = each.get(..block.len()) else { return };
        let least = each.iter().copied().min().unwrap_or_default();
        let over = |difference: &i64| difference.wrapping_sub(least) as u64;
        zigzag(bytes, least);
        let mut widths = [0; BLOCK / MINIBLOCK];
        for (wide, some) in widths.iter_mut().zip(each.chunks(MINIBLOCK)) {
            *wide = width(some.iter().map(over).fold(0, |all, one| all | one));
        }
        bytes.extend(widths.iter().map(|&wide| wide as u8));
        for (wide, some) in widths.into_iter().zip(each.chunks(MINIBLOCK)) {
            packed(bytes, some.iter().map(over), MINIBLOCK, wide);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{differences, hybrid, packed, width};

    #[test]
    fn numbers_of_any_width_are_packed_from_the_lowest_bit() {
        let mut bytes = Vec::new();
        packed(&mut bytes, 0..8, 8, 3);
        assert_eq!(bytes, [0b1000_1000, 0b1100_0110, 0b1111_1010]);
        for wide in [1, 7, 33, 63, 64] {
            let mut bytes = Vec::new();
            packed(&mut bytes, [u64::MAX >> (64 - wide), 0, 1].into_iter(), 32, wide);
            assert_eq!(bytes.len(), 4 * wide as usize);
            let bit = |at: usize| bytes[at / 8] >> (at % 8) & 1;
            let wide = wide as usize;
            assert!((0..wide).all(|at| bit(at) == 1));
            assert!((wide..2 * wide).all(|at| bit(at) == 0));
            assert_eq!((bit(2 * wide), bytes.iter().map(|byte| byte.count_ones()).sum::<u32>()), (1, wide as u32 + 1));
        }
    }

    #[test]
    fn a_run_begins_behind_a_whole_group() {
        let mut bytes = Vec::new();
        let values: Vec<u32> = [1].into_iter().chain([0; 40]).chain([1]).collect();
        hybrid(&mut bytes, &values, 1);
        assert_eq!(bytes, [3, 1, 33 << 1, 0, 3, 1]);
    }

    #[test]
    fn widths_are_those_of_the_greatest() {
        assert_eq!([0, 1, 2, 255, 256, u64::MAX].map(width), [0, 1, 2, 8, 9, 64]);
    }

    #[test]
    fn equal_distances_take_no_bits() {
        let mut bytes = Vec::new();
        differences(&mut bytes, &[7, 5, 3, 1, -1]);
        assert_eq!(bytes, [0x80, 1, 4, 5, 14, 3, 0, 0, 0, 0]);
    }
}
