//! Tests of the compact form of frozen pauses.

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

/// A structure with more than eight fields, so that its bits take two bytes.
#[derive(Debug, PartialEq)]
struct Ten {
    mark: bool,
    other: bool,
    number: u64,
    time: Nanos,
    none: Option<u64>,
    some: Option<Nanos>,
    pair: Option<(Nanos, i64)>,
    inner: Inner,
    last: u32,
    least: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Inner {
    mark: bool,
    number: u32,
}

packed!(Ten { mark, other, number, time, none, some, pair, inner, last, least });
packed!(Inner { mark, number });

fn ten(with: impl Fn(u32) -> bool) -> Ten {
    Ten {
        mark: with(0),
        other: with(1),
        number: if with(2) { 7 } else { 0 },
        time: if with(3) { Nanos(1_700_000_000_000_000_000) } else { Nanos::ZERO },
        none: with(4).then_some(0),
        some: with(5).then_some(Nanos::ZERO),
        pair: with(6).then_some((Nanos(1_700_000_000_000_000_009), 0)),
        inner: Inner { mark: with(7), number: if with(7) { 9 } else { 0 } },
        last: if with(8) { 1 << 31 } else { 0 },
        least: if with(9) { i64::MIN } else { 0 },
    }
}

#[test]
fn a_structure_comes_back_whatever_is_blank_in_it_and_is_no_value_if_it_is_cut() {
    for bits in 0..1 << 10 {
        let (one, mut packer) = (ten(|bit| bits >> bit & 1 == 1), Packer::behind(Vec::new()));
        packer.add(&one);
        packer.add(&3_u64);
        let bytes = packer.bytes();
        let mut unpacker = Unpacker::of(&bytes);
        assert_eq!((unpacker.next(), unpacker.next(), unpacker.next::<u64>()), (Some(one), Some(3_u64), None));
        for cut in 0..bytes.len() - 1 {
            assert_eq!(Unpacker::of(&bytes[..cut]).next::<Ten>(), None);
        }
    }
}

#[test]
fn what_is_blank_takes_a_bit() {
    let mut packer = Packer::behind(Vec::new());
    packer.add(&ten(|_| false));
    assert_eq!(packer.bytes(), [0x80, 0, 0], "the structure within always takes its own bits");
}
