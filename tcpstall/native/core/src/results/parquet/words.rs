//! Texts of one column, each different one kept once.

use std::hash::BuildHasher;
use std::mem;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::same::Same;
use crate::results::columns::texts::Texts;

/// Different texts up to which each row has a number: beyond, numbers save little.
const MOST: usize = 1 << 14;

/// Texts as they will be written.
#[derive(Debug)]
pub(super) enum Words {
    Numbered(Numbered),
    /// Each text behind its length: too many are different.
    Plain(Vec<u8>),
}

/// Different texts, and the number that each row's text has among them.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    all: Vec<u8>,
    ends: Vec<usize>,
    found: HashTable<u32>,
    hasher: DefaultHashBuilder,
    pub(super) which: Same<u32>,
}

impl Default for Words {
    fn default() -> Words {
        Words::Numbered(Numbered::default())
    }
}

impl Words {
    pub(super) fn add(&mut self, texts: &Texts) {
        if let Words::Numbered(numbered) = self {
            numbered.add(texts);
            if numbered.ends.len() > MOST {
                *self = Words::Plain(mem::take(numbered).plain());
            }
        } else if let Words::Plain(bytes) = self {
            texts.iter().flatten().for_each(|text| put(bytes, text.as_bytes()));
        }
    }

    /// Memory, bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Words::Numbered(numbered) => numbered.all.len() + numbered.which.size(),
            Words::Plain(bytes) => bytes.len(),
        }
    }
}

impl Numbered {
    fn add(&mut self, texts: &Texts) {
        let numbers: Vec<u32> = texts.words().map(|word| self.number(word.as_bytes())).collect();
        if let [number] = *numbers {
            return self.which.repeat(number, texts.len() - texts.known().unknown());
        }
        let known = texts.numbered().flatten();
        self.which.extend(known.filter_map(|word| numbers.get(word as usize).copied()));
    }

    fn number(&mut self, word: &[u8]) -> u32 {
        let Numbered { all, ends, found, hasher, .. } = self;
        let hash = |word: &[u8]| hasher.hash_one(word);
        let at = |number: u32| text(all, ends, number as usize);
        if let Some(&number) = found.find(hash(word), |&number| at(number) == word) {
            return number;
        }
        let number = ends.len() as u32;
        found.insert_unique(hash(word), number, |&number| hash(at(number)));
        all.extend_from_slice(word);
        ends.push(all.len());
        number
    }

    /// Number of different texts.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The different texts, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|number| text(&self.all, &self.ends, number))
    }

    fn plain(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.which.each(|number| put(&mut bytes, text(&self.all, &self.ends, number as usize)));
        bytes
    }
}

fn text<'a>(all: &'a [u8], ends: &[usize], number: usize) -> &'a [u8] {
    let start = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or_default();
    ends.get(number).and_then(|&end| all.get(start..end)).unwrap_or_default()
}

/// Appends a text behind its length, as pages and dictionaries have them.
pub(super) fn put(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text);
}
