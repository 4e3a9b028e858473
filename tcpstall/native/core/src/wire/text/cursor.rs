//! A reading position in one line; each step can fail, and none panics.

/// The rest of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    /// The bytes not read yet.
    pub(super) rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Cursor<'a> {
        Cursor { rest }
    }

    /// Skips `text` if it comes next.
    pub(super) fn take(&mut self, text: &[u8]) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Skips every byte that `wanted` accepts, and returns them.
    pub(super) fn run(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| !wanted(byte)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }

    /// A decimal number that fits 32 bits.
    pub(super) fn number(&mut self) -> Option<u32> {
        decimal(self.run(|byte| byte.is_ascii_digit()))
    }

    /// Skips past the next `stop` and returns the text before it; without a `stop`, the whole rest of the line.
    pub(super) fn past(&mut self, stop: u8) -> &'a [u8] {
        let before = self.run(|byte| byte != stop);
        self.rest = self.rest.get(1..).unwrap_or_default();
        before
    }
}

/// The value of a run of digits; `None` where there is none or it exceeds 32 bits.
pub(super) fn decimal(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 10 {
        return None;
    }
    let mut value = 0_u64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + u64::from(digit - b'0');
    }
    u32::try_from(value).ok()
}

/// Position of the first `wanted` in `text`.
pub(super) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let (&first, _) = wanted.split_first()?;
    let mut from = 0;
    while let Some(step) = text.get(from..)?.iter().position(|&byte| byte == first) {
        if text[from + step..].starts_with(wanted) {
            return Some(from + step);
        }
        from += step + 1;
    }
    None
}

/// The decimal number that follows the first `label` in `text`.
pub(super) fn labelled(text: &[u8], label: &[u8]) -> Option<u32> {
    let mut cursor = Cursor::new(&text[find(text, label)? + label.len()..]);
    cursor.run(|byte| byte == b' ');
    cursor.number()
}
