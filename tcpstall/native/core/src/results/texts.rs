//! Text of one column, value after value.

use super::known::Known;

/// Texts in one buffer: a buffer for each value would cost an allocation, and rows have a dozen texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    all: String,
    /// End of each value in `all`.
    ends: Vec<usize>,
    known: Known,
}

impl Texts {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True without values.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends a value; `None` where unknown.
    pub fn push(&mut self, value: Option<impl AsRef<str>>) {
        if let Some(text) = &value {
            self.all.push_str(text.as_ref());
        }
        self.end(value.is_some());
    }

    /// Appends a value made of these words, with a separator between them.
    pub fn push_joined<T: AsRef<str>>(&mut self, words: impl IntoIterator<Item = T>, separator: &str) {
        for (index, word) in words.into_iter().enumerate() {
            self.all.push_str(if index == 0 { "" } else { separator });
            self.all.push_str(word.as_ref());
        }
        self.end(true);
    }

    fn end(&mut self, is_known: bool) {
        self.ends.push(self.all.len());
        self.known.push(is_known);
    }

    /// Appends the values of a further column.
    pub fn append(&mut self, further: &Texts) {
        let before = self.all.len();
        self.all.push_str(&further.all);
        self.ends.extend(further.ends.iter().map(|end| before + end));
        self.known.append(&further.known);
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        let mut start = 0;
        self.ends.iter().zip(self.known.iter()).map(move |(&end, is_known)| {
            let text = self.all.get(start..end);
            start = end;
            text.filter(|_| is_known)
        })
    }

    /// All texts one after another, the end of each in bytes, and the marks of the known ones.
    pub fn into_parts(self) -> (String, Vec<usize>, Known) {
        (self.all, self.ends, self.known)
    }
}

impl<T: AsRef<str>> FromIterator<Option<T>> for Texts {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(values: I) -> Texts {
        let values = values.into_iter();
        let mut texts = Texts { ends: Vec::with_capacity(values.size_hint().0), ..Texts::default() };
        values.for_each(|value| texts.push(value));
        texts
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
    fn words_are_joined_and_no_words_are_an_empty_text() {
        let mut texts = Texts::default();
        texts.push_joined(["a", "b"], "; ");
        texts.push_joined([""; 0], "; ");
        assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("a; b"), Some("")]);
    }
}
