//! Values of one column, whatever their type.

use super::numbers::Numbers;
use super::texts::Texts;

/// Values of one column; `None` where unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Integers: times in nanoseconds, sizes in bytes, counts.
    Integers(Numbers<i64>),
    /// Shares and confidences.
    Reals(Numbers<f64>),
    /// True or false.
    Flags(Vec<Option<bool>>),
    /// Text.
    Texts(Texts),
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Integers(values) => values.len(),
            Values::Reals(values) => values.len(),
            Values::Flags(values) => values.len(),
            Values::Texts(values) => values.len(),
        }
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends values of a further table; values of another type are left out.
    pub fn append(&mut self, further: Values) {
        match (self, further) {
            (Values::Integers(values), Values::Integers(further)) => values.append(&further),
            (Values::Reals(values), Values::Reals(further)) => values.append(&further),
            (Values::Flags(values), Values::Flags(mut further)) => values.append(&mut further),
            (Values::Texts(values), Values::Texts(further)) => values.append(&further),
            (values, further) => debug_assert!(further.is_empty(), "{values:?} is of another kind"),
        }
    }

    /// The values of these rows, by their indices.
    pub fn select(&self, rows: &[usize]) -> Values {
        match self {
            Values::Integers(values) => Values::Integers(values.select(rows)),
            Values::Reals(values) => Values::Reals(values.select(rows)),
            Values::Flags(values) => Values::Flags(rows.iter().filter_map(|&row| values.get(row).copied()).collect()),
            Values::Texts(values) => Values::Texts(values.select(rows)),
        }
    }
}
