//! Marks of the known values of a column.

use std::mem;

/// Marks of a word.
pub(super) const WORD: usize = u64::BITS as usize;

/// A bit a value, 1 where it is known. The first value has the lowest bit, as in Arrow. Most columns have all values: such
/// marks are no more than their number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Nothing where all values are known.
    words: Vec<u64>,
    len: usize,
}

impl Known {
    /// No marks yet, with memory for so many.
    pub(super) fn with_room(values: usize) -> Known {
        Known { words: Vec::with_capacity(values.div_ceil(WORD)), len: 0 }
    }

    /// Marks of so many values, by words of 64.
    pub(super) fn of(words: Vec<u64>, len: usize) -> Known {
        let known = Known { words, len };
        if known.unknown() > 0 { known } else { Known::all(len) }
    }

    /// Marks of so many known values.
    pub(in super::super) fn all(len: usize) -> Known {
        Known { words: Vec::new(), len }
    }

    /// Marks of so many unknown values.
    pub(in super::super) fn none(len: usize) -> Known {
        Known { words: vec![0; len.div_ceil(WORD)], len }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Marks a further value.
    #[inline]
    pub fn push(&mut self, is_known: bool) {
        if !is_known || !self.words.is_empty() {
            self.has_words();
            let bit = self.len % WORD;
            if bit == 0 {
                self.words.push(0);
            }
            if let Some(word) = self.words.last_mut() {
                *word |= u64::from(is_known) << bit;
            }
        }
        self.len += 1;
    }

    /// Writes the marks as words.
    fn has_words(&mut self) {
        if self.words.is_empty() {
            self.words.resize(self.len.div_ceil(WORD), u64::MAX);
            if let (Some(last), 1..) = (self.words.last_mut(), self.len % WORD) {
                *last = (1 << (self.len % WORD)) - 1;
            }
        }
    }

    /// Appends the marks of a further column, a word at once.
    pub fn append(&mut self, further: &Known) {
        if self.words.is_empty() && further.words.is_empty() {
            self.len += further.len;
            return;
        }
        self.has_words();
        let begun = self.len % WORD;
        let mut append = |word: u64| match self.words.last_mut() {
            Some(last) if begun > 0 => {
                *last |= word << begun;
                self.words.push(word >> (WORD - begun));
            }
            _ => self.words.push(word),
        };
        further.each_word(&mut append);
        self.len += further.len;
        self.words.truncate(self.len.div_ceil(WORD));
    }

    /// Calls with each word.
    fn each_word(&self, mut call: impl FnMut(u64)) {
        if self.words.is_empty() {
            let (whole, rest) = (self.len / WORD, self.len % WORD);
            (0..whole).for_each(|_| call(u64::MAX));
            if rest > 0 {
                call((1 << rest) - 1);
            }
        } else {
            self.words.iter().for_each(|&word| call(word));
        }
    }

    fn is_known(&self, index: usize) -> bool {
        self.words.is_empty() || self.words.get(index / WORD).is_some_and(|word| word >> (index % WORD) & 1 == 1)
    }

    /// The marks in order.
    pub fn iter(&self) -> impl Iterator<Item = bool> {
        (0..self.len).map(|index| self.is_known(index))
    }

    /// Number of unknown values.
    pub fn unknown(&self) -> usize {
        if self.words.is_empty() {
            return 0;
        }
        let known: usize = self.words.iter().map(|word| word.count_ones() as usize).sum();
        self.len - known
    }

    /// The marks of these values, by their indices.
    pub(super) fn select(&self, rows: &[usize]) -> Known {
        rows.iter().map(|&row| self.is_known(row)).collect()
    }

    /// The bits in words of 64; none where all values are known.
    pub(in super::super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The bits in words of 64; nothing where all values are known.
    pub fn into_words(self) -> Option<Vec<u64>> {
        (!self.words.is_empty()).then_some(self.words)
    }
}

impl FromIterator<bool> for Known {
    fn from_iter<I: IntoIterator<Item = bool>>(marks: I) -> Known {
        let mut words = Vec::new();
        // A word is kept in a register until it is full: to mark each value in the vector takes as long as the value.
        let (mut word, mut len, mut are_known) = (0, 0, true);
        for is_known in marks {
            word = word >> 1 | u64::from(is_known) << (WORD - 1);
            len += 1;
            if len % WORD == 0 {
                are_known &= word == u64::MAX;
                keep(&mut words, mem::take(&mut word), len, are_known);
            }
        }
        let rest = len % WORD;
        if rest > 0 {
            let word = word >> (WORD - rest);
            are_known &= word.count_ones() as usize == rest;
            keep(&mut words, word, len, are_known);
        }
        Known { words, len }
    }
}

/// Adds the last word of so many marks, unless all of them are known.
fn keep(words: &mut Vec<u64>, word: u64, len: usize, are_known: bool) {
    if !are_known {
        words.resize(len.div_ceil(WORD) - 1, u64::MAX);
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::Known;

    fn marked(marks: &[bool]) -> Known {
        let mut known = Known::default();
        marks.iter().for_each(|&is_known| known.push(is_known));
        known
    }

    #[test]
    fn marks_go_on_in_the_next_word() {
        let marks: Vec<bool> = (0..130).map(|index| index % 3 == 0).collect();
        let mut known = marked(&marks[..63]);
        known.append(&marked(&marks[63..]));
        assert_eq!((known.len(), known.iter().collect::<Vec<_>>()), (130, marks));
        assert_eq!(known.into_words().map(|words| words[2]), Some(0b10));
    }

    #[test]
    fn marks_are_the_same_one_by_one_and_together() {
        for len in [0, 1, 63, 64, 65, 128, 130] {
            let marks: Vec<bool> = (0..len).map(|index| index % 5 < 2).collect();
            assert_eq!(marks.iter().copied().collect::<Known>(), marked(&marks));
            assert_eq!(Known::all(len), marked(&vec![true; len]));
        }
    }

    #[test]
    fn marks_of_some_values_are_theirs() {
        assert_eq!(marked(&[true, false]).select(&[1, 0, 1]), marked(&[false, true, false]));
    }

    #[test]
    fn nothing_is_handed_over_where_all_are_known() {
        assert_eq!(marked(&[true; 65]).into_words(), None);
        assert_eq!(marked(&[]).into_words(), None);
        assert_eq!(marked(&[true, false]).into_words(), Some(vec![1]));
    }
}
