//! Values of which most columns have one: it is kept once until another one follows.

use std::cmp::Ordering;
use std::ops::{BitOr, BitXor};

/// Growth of the memory where it is full, beside the values that lie there: values are copied less often than where memory
/// doubles, and memory that no value has reached costs nothing.
const GROWTH: usize = 3;

/// Values in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Same<T> {
    one: T,
    len: usize,
    /// All values; empty while all are the one.
    all: Vec<T>,
}

impl<T: Copy + Eq + Default + BitXor<Output = T> + BitOr<Output = T>> Same<T> {
    /// Appends values.
    pub(super) fn extend(&mut self, values: impl Iterator<Item = T>) {
        for value in values {
            if self.all.is_empty() && (self.len == 0 || self.one == value) {
                self.one = value;
            } else {
                self.begin(1);
                self.all.push(value);
            }
            self.len += 1;
        }
    }

    /// Appends values that lie in one place.
    pub(super) fn extend_from_slice(&mut self, values: &[T]) {
        let Some(&first) = values.first() else { return };
        // All are looked at, several with one instruction: where bits differ, one is left.
        let are_equal = || values.iter().fold(T::default(), |all, value| all | (*value ^ first)) == T::default();
        if self.all.is_empty() && (self.len == 0 || self.one == first) && are_equal() {
            self.one = first;
        } else {
            self.begin(values.len());
            self.all.extend_from_slice(values);
        }
        self.len += values.len();
    }

    /// Appends so many times one value.
    pub(super) fn repeat(&mut self, value: T, count: usize) {
        if count > 0 && self.all.is_empty() && (self.len == 0 || self.one == value) {
            self.one = value;
        } else if count > 0 {
            self.begin(count);
            self.all.resize(self.len + count, value);
        }
        self.len += count;
    }

    /// Keeps every value from now on; makes room for so many further ones.
    fn begin(&mut self, further: usize) {
        if self.all.is_empty() {
            self.all = vec![self.one; self.len];
        }
        if self.all.capacity() - self.all.len() < further {
            self.all.reserve(further.max(self.all.len() * GROWTH));
        }
    }

    /// So many times one value.
    pub(super) fn of(one: T, len: usize) -> Same<T> {
        Same { one, len, all: Vec::new() }
    }

    /// These values.
    pub(super) fn all(all: Vec<T>) -> Same<T> {
        Same { one: all.first().copied().unwrap_or_default(), len: all.len(), all }
    }

    /// The least and the greatest value.
    pub(super) fn ends(&self, order: impl Fn(&T, &T) -> Ordering) -> Option<[T; 2]> {
        if let Some(one) = self.one() {
            return Some([one; 2]);
        }
        let least = self.all.iter().copied().min_by(&order)?;
        let greatest = self.all.iter().copied().max_by(&order)?;
        Some([least, greatest])
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The one value, where all are that.
    pub(super) fn one(&self) -> Option<T> {
        (self.all.is_empty() && self.len > 0).then_some(self.one)
    }

    /// All values where they differ.
    pub(super) fn several(&self) -> &[T] {
        &self.all
    }

    /// Calls with each value.
    pub(super) fn each(&self, mut call: impl FnMut(T)) {
        match self.one() {
            Some(one) => (0..self.len).for_each(|_| call(one)),
            None => self.all.iter().for_each(|value| call(*value)),
        }
    }

    /// Memory, bytes.
    pub(super) fn size(&self) -> usize {
        size_of_val(self.several())
    }
}

#[cfg(test)]
mod tests {
    use super::Same;

    fn values(same: &Same<i64>) -> Vec<i64> {
        let mut all = Vec::new();
        same.each(|value| all.push(value));
        all
    }

    #[test]
    fn one_value_is_kept_once_until_another_follows() {
        let mut same = Same::default();
        same.extend_from_slice(&[]);
        assert_eq!((same.one(), same.size()), (None, 0));
        same.extend_from_slice(&[7, 7]);
        same.extend([7].into_iter());
        assert_eq!((same.one(), same.len(), same.size(), values(&same)), (Some(7), 3, 0, vec![7; 3]));
        same.repeat(9, 0);
        assert_eq!(same.one(), Some(7));
        same.extend([7, 8].into_iter());
        same.extend_from_slice(&[7]);
        assert_eq!((same.one(), same.len(), values(&same)), (None, 6, vec![7, 7, 7, 7, 8, 7]));
    }

    #[test]
    fn values_that_differ_at_once_are_kept_all() {
        let mut same = Same::default();
        same.extend_from_slice(&[1, 2]);
        assert_eq!((same.len(), values(&same)), (2, vec![1, 2]));
        same.repeat(3, 2);
        assert_eq!((same.len(), values(&same)), (4, vec![1, 2, 3, 3]));
        let mut same = Same::default();
        same.repeat(4, 2);
        same.repeat(5, 1);
        assert_eq!((same.len(), values(&same)), (3, vec![4, 4, 5]));
    }
}
