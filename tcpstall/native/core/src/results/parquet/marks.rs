//! Marks of the known values of a column: most columns have all values, or none.

use crate::results::columns::known::Known;

/// Marks, no more than their number until some are different from others.
#[derive(Debug, Default)]
pub(super) struct Marks {
    len: usize,
    unknown: usize,
    /// All marks; empty while all are the same.
    all: Known,
}

impl Marks {
    /// Appends the marks of further values.
    pub(super) fn append(&mut self, further: &Known) {
        let unknown = further.unknown();
        let are_known = self.unknown == 0 && unknown == 0;
        let are_unknown = self.unknown == self.len && unknown == further.len();
        if !self.all.is_empty() || !(are_known || are_unknown) {
            if self.all.is_empty() {
                self.all = if self.unknown == 0 { Known::all(self.len) } else { Known::none(self.len) };
            }
            self.all.append(further);
        }
        self.len += further.len();
        self.unknown += unknown;
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Number of unknown values.
    pub(super) fn unknown(&self) -> usize {
        self.unknown
    }

    /// The bits in words of 64, where some are known and some are not.
    pub(super) fn words(&self) -> &[u64] {
        self.all.words()
    }
}

#[cfg(test)]
mod tests {
    use super::Marks;
    use crate::results::columns::known::Known;

    fn appended(pieces: &[&[bool]]) -> Marks {
        let mut marks = Marks::default();
        pieces.iter().for_each(|piece| marks.append(&piece.iter().copied().collect()));
        marks
    }

    #[test]
    fn equal_marks_take_no_memory() {
        for mark in [true, false] {
            let marks = appended(&[&[], &[mark; 70], &[mark; 3]]);
            assert_eq!((marks.len(), marks.unknown(), marks.words()), (73, if mark { 0 } else { 73 }, &[][..]));
        }
    }

    #[test]
    fn marks_that_differ_are_kept_all() {
        let (yes, no) = (&[true; 70][..], &[false; 70][..]);
        for pieces in [[yes, &no[..3], &yes[..1]], [no, &yes[..3], &no[..1]], [&yes[..64], &no[..64], &yes[..64]]] {
            let marks = appended(&pieces);
            let all: Known = pieces.concat().into_iter().collect();
            assert_eq!((marks.len(), marks.unknown(), marks.words()), (all.len(), all.unknown(), all.words()));
        }
    }
}
