//! Numbers of one column, value after value.

use std::mem;

use super::known::Known;

/// Numbers without a gap, 0 in the place of unknown ones: half the memory of as many options, and Arrow's own form.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers<T> {
    all: Vec<T>,
    known: Known,
}

impl<T: Copy> Numbers<T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// True without values.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Appends the values of a further column.
    pub fn append(&mut self, further: &Numbers<T>) {
        self.all.extend_from_slice(&further.all);
        self.known.append(&further.known);
    }

    /// The values in order; `None` where unknown.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> {
        self.all.iter().zip(self.known.iter()).map(|(&value, is_known)| is_known.then_some(value))
    }

    /// The numbers, 0 in the place of unknown ones.
    pub fn all(&self) -> &[T] {
        &self.all
    }

    /// Marks of the known numbers.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// These numbers, by their indices.
    pub fn select(&self, rows: &[usize]) -> Numbers<T> {
        let all = rows.iter().filter_map(|&row| self.all.get(row).copied()).collect();
        Numbers { all, known: self.known.select(rows) }
    }

    /// The numbers, and the marks of the known ones.
    pub fn into_parts(self) -> (Vec<T>, Known) {
        (self.all, self.known)
    }
}

impl<T: Copy + Default> FromIterator<Option<T>> for Numbers<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(values: I) -> Numbers<T> {
        let values = values.into_iter();
        let room = values.size_hint().0;
        let (mut all, mut words) = (Vec::with_capacity(room), Vec::with_capacity(room.div_ceil(64)));
        // A word is kept in a register until it is full: to mark each value in the vector takes as long as the value.
        let mut word = 0;
        for value in values {
            let bit = all.len() % 64;
            word |= u64::from(value.is_some()) << bit;
            if bit == 63 {
                words.push(mem::take(&mut word));
            }
            all.push(value.unwrap_or_default());
        }
        if all.len() % 64 > 0 {
            words.push(word);
        }
        let known = Known::of(words, all.len());
        Numbers { all, known }
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    #[test]
    fn unknown_numbers_and_zeros_are_told_apart() {
        let mut numbers: Numbers<i64> = [Some(0), None].into_iter().collect();
        numbers.append(&[Some(-1), None].into_iter().collect());
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [Some(0), None, Some(-1), None]);
        assert_eq!(numbers.into_parts().0, [0, 0, -1, 0]);
    }
}
