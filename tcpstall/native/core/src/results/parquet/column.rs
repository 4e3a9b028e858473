//! One column of a row group: its values so far, and the pages that they become.

use hashbrown::HashTable;

use super::bits::{differences, hybrid, levels, run, width};
use super::marks::Marks;
use super::same::Same;
use super::words::{Words, put};
use crate::results::columns::known::Known;
use crate::results::columns::values::Values;

/// Different numbers up to which each row has a number among them: beyond, differences take fewer bytes.
const MOST: usize = 1_000;
/// Rows of each different number that make numbers worth a dictionary.
const ROWS_OF_EACH: usize = 2;
/// Fewer numbers than two miniblocks are written as they are.
const FEW: usize = 64;
/// Longest text that is told as the least or greatest of its column.
const LONGEST_END: usize = 64;

/// Encodings of Parquet, by their numbers in its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Plain = 0,
    Runs = 3,
    Differences = 5,
    Dictionary = 8,
}

/// Types of Parquet, by their numbers in its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Flag = 0,
    Integer = 2,
    Real = 5,
    Text = 6,
}

/// Values of a column.
#[derive(Debug)]
enum Begun {
    Integers(Same<i64>),
    /// By their bits, so that they are equal only where they are the same.
    Reals(Same<i64>),
    Flags(Vec<bool>),
    Texts(Words),
}

/// A column of rows that are not encoded yet.
#[derive(Debug)]
pub(super) struct Column {
    known: Marks,
    begun: Begun,
}

/// Encoded values of a column.
pub(super) struct Pages {
    /// The different values and their number, where the rows have numbers among them.
    pub(super) dictionary: Option<(Vec<u8>, usize)>,
    pub(super) data: Vec<u8>,
    pub(super) encoding: Encoding,
    pub(super) unknown: usize,
    /// Least and greatest value.
    pub(super) ends: Option<[Vec<u8>; 2]>,
}

impl Column {
    /// A column for values like these.
    pub(super) fn like(values: &Values) -> Column {
        let begun = match values {
            Values::Integers(_) => Begun::Integers(Same::default()),
            Values::Reals(_) => Begun::Reals(Same::default()),
            Values::Flags(_) => Begun::Flags(Vec::new()),
            Values::Texts(_) => Begun::Texts(Words::default()),
        };
        Column { known: Marks::default(), begun }
    }

    pub(super) fn kind(&self) -> Type {
        match self.begun {
            Begun::Integers(_) => Type::Integer,
            Begun::Reals(_) => Type::Real,
            Begun::Flags(_) => Type::Flag,
            Begun::Texts(_) => Type::Text,
        }
    }

    /// Appends values; values of another type are left out.
    pub(super) fn add(&mut self, values: &Values) {
        match (&mut self.begun, values) {
            (Begun::Integers(same), Values::Integers(numbers)) => {
                match numbers.known().unknown() {
                    0 => same.extend_from_slice(numbers.all()),
                    unknown if unknown == numbers.len() => (),
                    _ => same.extend(numbers.iter().flatten()),
                }
                self.known.append(numbers.known());
            }
            (Begun::Reals(same), Values::Reals(numbers)) => {
                same.extend(numbers.iter().flatten().map(|number| number.to_bits() as i64));
                self.known.append(numbers.known());
            }
            (Begun::Flags(all), Values::Flags(flags)) => {
                let known = flags.iter().map(Option::is_some).collect::<Known>();
                match known.unknown() {
                    0 => all.extend(flags.iter().map(|flag| flag.unwrap_or_default())),
                    _ => all.extend(flags.iter().flatten()),
                }
                self.known.append(&known);
            }
            (Begun::Texts(words), Values::Texts(texts)) => {
                words.add(texts);
                self.known.append(texts.known());
            }
            (begun, values) => debug_assert!(false, "{values:?} are not like {begun:?}"),
        }
    }

    /// Memory, bytes.
    pub(super) fn size(&self) -> usize {
        match &self.begun {
            Begun::Integers(same) | Begun::Reals(same) => same.size(),
            Begun::Flags(all) => all.len(),
            Begun::Texts(words) => words.size(),
        }
    }

    /// Encodes the values.
    pub(super) fn pages(&self) -> Pages {
        let unknown = self.known.unknown();
        let mut data = Vec::new();
        levels(&mut data, &self.known);
        let pages = Pages { dictionary: None, data, encoding: Encoding::Plain, unknown, ends: None };
        match &self.begun {
            Begun::Integers(same) => {
                let ends = same.ends(Ord::cmp).map(|ends| ends.map(|end| end.to_le_bytes().to_vec()));
                Pages { ends, ..numbers(pages, same, Encoding::Differences) }
            }
            Begun::Reals(same) => {
                let real = |bits: i64| f64::from_bits(bits as u64);
                let ends = same.ends(|one, other| real(*one).total_cmp(&real(*other)));
                // Readers compare NaN in several ways.
                let ends = ends.filter(|ends| !ends.iter().any(|&end| real(end).is_nan()));
                let ends = ends.map(|ends| ends.map(|end| end.to_le_bytes().to_vec()));
                Pages { ends, ..numbers(pages, same, Encoding::Plain) }
            }
            Begun::Flags(all) => flags(pages, all),
            Begun::Texts(words) => texts(pages, words),
        }
    }
}

/// Numbers of rows among the different ones; `otherwise` where there are too many of these. Where no value is known there is
/// nothing to write: readers take a dictionary of no words for damage.
fn numbers(mut pages: Pages, same: &Same<i64>, otherwise: Encoding) -> Pages {
    if same.len() == 0 {
        return pages;
    }
    if let Some(one) = same.one() {
        return numbered(pages, &Same::of(0, same.len()), one.to_le_bytes().to_vec(), 1);
    }
    let values = same.several();
    if let Some((different, which)) = dictionary(values) {
        let all = different.iter().flat_map(|value| value.to_le_bytes()).collect();
        return numbered(pages, &Same::all(which), all, different.len());
    }
    if otherwise == Encoding::Differences && values.len() >= FEW {
        differences(&mut pages.data, values);
        Pages { encoding: otherwise, ..pages }
    } else {
        pages.data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        pages
    }
}

/// Different numbers, and the number of each row's among them; `None` where they are too many.
fn dictionary(values: &[i64]) -> Option<(Vec<i64>, Vec<u32>)> {
    let most = MOST.min(values.len() / ROWS_OF_EACH);
    // The upper bits of a product are as good as random, and the table takes the uppermost.
    let hash = |value: i64| (value as u64 ^ value as u64 >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (mut different, mut found) = (Vec::new(), HashTable::<(i64, u32)>::with_capacity(most));
    let mut which = Vec::with_capacity(values.len());
    let mut last = None;
    for &value in values {
        let number = match last {
            Some((before, number)) if before == value => number,
            _ => match found.find(hash(value), |&(other, _)| other == value) {
                Some(&(_, number)) => number,
                None if different.len() == most => return None,
                None => {
                    let number = different.len() as u32;
                    found.insert_unique(hash(value), (value, number), |&(other, _)| hash(other));
                    different.push(value);
                    number
                }
            },
        };
        last = Some((value, number));
        which.push(number);
    }
    Some((different, which))
}

/// Rows by the numbers of their values among the different ones, which are `all`.
fn numbered(mut pages: Pages, which: &Same<u32>, all: Vec<u8>, different: usize) -> Pages {
    // One bit at least: some readers take none for damage.
    let wide = width(different as u64 - 1).max(1);
    pages.data.push(wide as u8);
    match which.one() {
        Some(one) => run(&mut pages.data, which.len(), one.into(), wide),
        None => hybrid(&mut pages.data, which.several(), wide),
    }
    Pages { dictionary: Some((all, different)), encoding: Encoding::Dictionary, ..pages }
}

fn flags(mut pages: Pages, all: &[bool]) -> Pages {
    let byte = |eight: &[bool]| eight.iter().rev().fold(0, |byte, &flag| byte << 1 | u8::from(flag));
    pages.data.extend(all.chunks(8).map(byte));
    pages
}

fn texts(mut pages: Pages, words: &Words) -> Pages {
    match words {
        Words::Numbered(numbered_words) if numbered_words.which.len() > 0 => {
            let least_and_greatest = numbered_words.iter().min().zip(numbered_words.iter().max());
            let ends = least_and_greatest.map(|(least, greatest)| [least, greatest].map(<[u8]>::to_vec));
            let mut all = Vec::new();
            numbered_words.iter().for_each(|word| put(&mut all, word));
            let pages = numbered(pages, &numbered_words.which, all, numbered_words.len());
            Pages { ends: ends.filter(|ends| ends.iter().all(|end| end.len() <= LONGEST_END)), ..pages }
        }
        Words::Numbered(_) => pages,
        Words::Plain(bytes) => {
            pages.data.extend_from_slice(bytes);
            pages
        }
    }
}
