//! Text of one column, value after value.

use std::iter;
use std::ptr;

use super::known::Known;

/// Texts in one buffer: a buffer for each value would cost an allocation, and rows have a dozen texts. A text that
/// follows its like is kept once: in most columns most do.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    all: String,
    /// End of each kept text in `all`.
    ends: Vec<usize>,
    /// Number of each value among the kept texts.
    which: Vec<u32>,
    known: Known,
}

/// Most values for which memory is taken before they come.
const ROOM: usize = 256;

impl Texts {
    /// No texts yet, with memory for the marks of so many.
    pub fn with_room(values: usize) -> Texts {
        Texts { which: Vec::with_capacity(values), known: Known::with_room(values), ..Texts::default() }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.which.len()
    }

    /// True without values.
    pub fn is_empty(&self) -> bool {
        self.which.is_empty()
    }

    /// One value, so many times.
    pub fn repeated(value: Option<&str>, len: usize) -> Texts {
        let mut texts = Texts { which: vec![0; len], ..Texts::default() };
        if let Some(text) = value {
            texts.keep(text);
        }
        texts.known = value.map_or_else(|| iter::repeat_n(false, len).collect(), |_| Known::all(len));
        texts
    }

    /// A text of each row, by what it is written from: it is written once where it follows its like.
    pub(in super::super) fn written<R, T: PartialEq>(
        rows: &[R],
        from: impl Fn(&R) -> T,
        write: impl Fn(&T, &mut String),
    ) -> Texts {
        let mut texts =
            Texts { which: Vec::with_capacity(rows.len()), known: Known::all(rows.len()), ..Texts::default() };
        let mut last = None;
        for row in rows {
            let this = Some(from(row));
            if last != this {
                if texts.ends.len() == 1 {
                    texts.makes_room();
                }
                this.iter().for_each(|this| write(this, &mut texts.all));
                texts.ends.push(texts.all.len());
                last = this;
            }
            texts.which.push(texts.ends.len() as u32 - 1);
        }
        texts
    }

    /// A word of this program of each row. Neighbours with the same word have it from one place: the place is compared
    /// before the letters.
    pub(super) fn of_words<R>(rows: &[R], word: impl Fn(&R) -> Option<&'static str>) -> Texts {
        let mut texts = Texts { which: Vec::with_capacity(rows.len()), ..Texts::default() };
        let mut last: Option<&'static str> = None;
        let known = rows.iter().map(|row| {
            let word = word(row);
            if let Some(word) = word
                && !last.is_some_and(|last| ptr::eq(last, word))
            {
                texts.keep(word);
                last = Some(word);
            }
            texts.which.push(texts.ends.len().saturating_sub(1) as u32);
            word.is_some()
        });
        let known = known.collect();
        Texts { known, ..texts }
    }

    /// Makes room behind the first text because another one follows: most will differ then.
    fn makes_room(&mut self) {
        let room = self.which.capacity().min(ROOM);
        self.ends.reserve(room);
        self.all.reserve(room * self.all.len().min(ROOM));
    }

    /// Appends a value; `None` where unknown.
    pub fn push(&mut self, value: Option<impl AsRef<str>>) {
        if let Some(text) = &value {
            self.keep(text.as_ref());
        }
        self.end(value.is_some());
    }

    fn keep(&mut self, text: &str) {
        if self.ends.is_empty() || self.last() != text {
            if self.ends.len() == 1 {
                self.makes_room();
            }
            self.all.push_str(text);
            self.ends.push(self.all.len());
        }
    }

    /// Appends a value made of these words, with a separator between them.
    pub fn push_joined<T: AsRef<str>>(&mut self, words: impl IntoIterator<Item = T>, separator: &str) {
        let start = self.all.len();
        for (index, word) in words.into_iter().enumerate() {
            self.all.push_str(if index == 0 { "" } else { separator });
            self.all.push_str(word.as_ref());
        }
        if !self.ends.is_empty() && self.all.get(start..) == Some(self.last()) {
            self.all.truncate(start);
        } else {
            self.ends.push(self.all.len());
        }
        self.end(true);
    }

    /// The text that was kept last.
    fn last(&self) -> &str {
        self.kept(self.ends.len().saturating_sub(1))
    }

    fn kept(&self, number: usize) -> &str {
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.ends.get(number).and_then(|&end| self.all.get(start..end)).unwrap_or_default()
    }

    fn end(&mut self, is_known: bool) {
        self.which.push(self.ends.len().saturating_sub(1) as u32);
        self.known.push(is_known);
    }

    /// Appends the values of a further column.
    pub fn append(&mut self, further: &Texts) {
        let (before, kept) = (self.all.len(), self.ends.len() as u32);
        self.all.push_str(&further.all);
        self.ends.extend(further.ends.iter().map(|end| before + end));
        self.which.extend(further.which.iter().map(|number| kept + number));
        self.known.append(&further.known);
    }

    /// These values, by their indices.
    pub fn select(&self, rows: &[usize]) -> Texts {
        let which = rows.iter().filter_map(|&row| self.which.get(row).copied()).collect();
        Texts { which, known: self.known.select(rows), ..self.clone() }
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        self.numbered().map(|number| number.map(|number| self.kept(number as usize)))
    }

    /// The kept texts.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|number| self.kept(number))
    }

    /// Number of each value among the kept texts; `None` where unknown.
    pub fn numbered(&self) -> impl Iterator<Item = Option<u32>> {
        self.which.iter().zip(self.known.iter()).map(|(&number, is_known)| is_known.then_some(number))
    }

    /// Marks of the known values.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// All texts one after another, the end of each in bytes, and the marks of the known ones.
    pub fn into_parts(self) -> (String, Vec<usize>, Known) {
        let (mut all, mut ends) = (String::new(), Vec::with_capacity(self.len()));
        for text in self.iter() {
            all.push_str(text.unwrap_or_default());
            ends.push(all.len());
        }
        (all, ends, self.known)
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Texts) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: AsRef<str>> FromIterator<Option<T>> for Texts {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(values: I) -> Texts {
        let values = values.into_iter();
        let mut texts = Texts { which: Vec::with_capacity(values.size_hint().0), ..Texts::default() };
        let known = values.map(|value| {
            if let Some(text) = &value {
                texts.keep(text.as_ref());
            }
            texts.which.push(texts.ends.len().saturating_sub(1) as u32);
            value.is_some()
        });
        let known = known.collect();
        Texts { known, ..texts }
    }
}

#[cfg(test)]
mod tests {
    use super::Texts;

    #[test]
    fn unknown_and_empty_texts_are_told_apart() {
        let mut texts: Texts = [Some("a"), None, Some("")].into_iter().collect();
        texts.append(&[None, Some("müde")].into_iter().collect());
        assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("a"), None, Some(""), None, Some("müde")]);
        assert_eq!(texts.into_parts().1, [1, 1, 1, 1, 6]);
    }

    #[test]
    fn a_text_that_follows_its_like_is_kept_once() {
        let mut texts: Texts = [Some("a"), Some("a"), None, Some("a"), Some(""), Some("")].into_iter().collect();
        texts.push_joined([""; 0], " ");
        texts.push_joined(["a", "b"], " ");
        assert_eq!(texts.words().collect::<Vec<_>>(), ["a", "", "a b"]);
        assert_eq!(texts.iter().flatten().collect::<Vec<_>>(), ["a", "a", "a", "", "", "", "a b"]);
        assert_eq!(texts.select(&[7, 2, 0]).iter().collect::<Vec<_>>(), [Some("a b"), None, Some("a")]);
    }

    #[test]
    fn a_value_that_is_repeated_is_the_same_as_pushed_each_time() {
        for value in [Some("a"), Some(""), None] {
            let pushed: Texts = [value; 65].into_iter().collect();
            assert_eq!(Texts::repeated(value, 65), pushed);
            assert_eq!(Texts::repeated(value, 0).len(), 0);
        }
    }

    #[test]
    fn words_are_joined_and_no_words_are_an_empty_text() {
        let mut texts = Texts::default();
        texts.push_joined(["a", "b"], "; ");
        texts.push_joined([""; 0], "; ");
        assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("a; b"), Some("")]);
    }
}
