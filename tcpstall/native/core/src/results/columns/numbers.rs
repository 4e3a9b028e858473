//! Numbers of one column, value after value.

use super::known::{Known, WORD};

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

impl<T: Copy + Default> Numbers<T> {
    /// The number of each row.
    pub(super) fn of<R>(rows: &[R], number: impl Fn(&R) -> Option<T>) -> Numbers<T> {
        let mut all = Vec::with_capacity(rows.len());
        // Each number goes to its place and its mark into a register: `push` would ask for room and for the bit each time.
        let marks = rows.chunks(WORD).map(|rows| {
            let mut word = 0;
            all.extend(rows.iter().map(|row| {
                let number = number(row);
                word = word >> 1 | u64::from(number.is_some()) << (WORD - 1);
                number.unwrap_or_default()
            }));
            word >> (WORD - rows.len())
        });
        let marks = marks.collect();
        Numbers { known: Known::of(marks, all.len()), all }
    }
}

impl<T: Copy + Default> FromIterator<Option<T>> for Numbers<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(values: I) -> Numbers<T> {
        Numbers::of(&values.into_iter().collect::<Vec<_>>(), |value| *value)
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
