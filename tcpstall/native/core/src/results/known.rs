//! Marks of the known values of a column.

use std::mem;

/// A bit a value, 1 where it is known. The first value has the lowest bit, as in Arrow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    words: Vec<u64>,
    len: usize,
}

impl Known {
    /// No marks yet, with memory for so many.
    pub(super) fn with_room(values: usize) -> Known {
        Known { words: Vec::with_capacity(values.div_ceil(64)), len: 0 }
    }

    /// Marks of so many values, by words of 64.
    pub(super) fn of(words: Vec<u64>, len: usize) -> Known {
        Known { words, len }
    }

    /// Marks of so many known values.
    pub(super) fn all(len: usize) -> Known {
        let mut words = vec![u64::MAX; len.div_ceil(64)];
        if let (Some(last), 1..) = (words.last_mut(), len % 64) {
            *last = (1 << (len % 64)) - 1;
        }
        Known { words, len }
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
        let bit = self.len % 64;
        if bit == 0 {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(is_known) << bit;
        }
        self.len += 1;
    }

    /// Appends the marks of a further column, a word at once.
    pub fn append(&mut self, further: &Known) {
        let begun = self.len % 64;
        for &word in &further.words {
            match self.words.last_mut() {
                Some(last) if begun > 0 => {
                    *last |= word << begun;
                    self.words.push(word >> (64 - begun));
                }
                _ => self.words.push(word),
            }
        }
        self.len += further.len;
        self.words.truncate(self.len.div_ceil(64));
    }

    /// The marks in order.
    pub fn iter(&self) -> impl Iterator<Item = bool> {
        (0..self.len).map(|index| self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1))
    }

    /// Number of unknown values.
    pub fn unknown(&self) -> usize {
        let known: usize = self.words.iter().map(|word| word.count_ones() as usize).sum();
        self.len - known
    }

    /// The marks of these values, by their indices.
    pub(super) fn select(&self, rows: &[usize]) -> Known {
        let mut known = Known::default();
        rows.iter()
            .for_each(|row| known.push(self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)));
        known
    }

    /// The bits in words of 64.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The bits in words of 64; nothing where all values are known.
    pub fn into_words(self) -> Option<Vec<u64>> {
        (self.unknown() > 0).then_some(self.words)
    }
}

impl FromIterator<bool> for Known {
    fn from_iter<I: IntoIterator<Item = bool>>(marks: I) -> Known {
        let marks = marks.into_iter();
        let mut words = Vec::with_capacity(marks.size_hint().0.div_ceil(64));
        // A word is kept in a register until it is full: to mark each value in the vector takes as long as the value.
        let (mut word, mut len) = (0, 0);
        for is_known in marks {
            let bit = len % 64;
            word |= u64::from(is_known) << bit;
            if bit == 63 {
                words.push(mem::take(&mut word));
            }
            len += 1;
        }
        if len % 64 > 0 {
            words.push(word);
        }
        Known { words, len }
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
