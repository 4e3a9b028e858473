//! Text of one column, value after value.

/// Texts in one buffer: a buffer for each value would cost an allocation, and rows have a dozen texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    all: String,
    /// End of each value in `all`, and false for an unknown value.
    ends: Vec<(usize, bool)>,
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
        self.ends.push((self.all.len(), value.is_some()));
    }

    /// Appends the values of a further column.
    pub fn append(&mut self, further: &Texts) {
        let before = self.all.len();
        self.all.push_str(&further.all);
        self.ends.extend(further.ends.iter().map(|&(end, is_known)| (before + end, is_known)));
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, is_known)| {
            let text = self.all.get(start..end);
            start = end;
            text.filter(|_| is_known)
        })
    }
}

impl<T: AsRef<str>> FromIterator<Option<T>> for Texts {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(values: I) -> Texts {
        let mut texts = Texts::default();
        values.into_iter().for_each(|value| texts.push(value));
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
    }
}
