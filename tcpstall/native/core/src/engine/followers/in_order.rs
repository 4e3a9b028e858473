//! Puts the flows that followers have done into one order.

use std::vec;

use super::Done;
use crate::results::FlowRow;

/// Rows of one follower, in the order in which their flows ended. Rows stay where they are: each takes kilobytes.
pub(super) struct Part {
    ended: vec::IntoIter<(u64, u64)>,
    rows: Vec<FlowRow>,
    /// Number of rows that were handed on.
    told: usize,
}

impl Part {
    pub(super) fn of(done: Done) -> Part {
        Part { ended: done.ended.into_iter(), rows: done.rows, told: 0 }
    }

    fn first(&self) -> Option<(u64, u64)> {
        self.ended.as_slice().first().copied()
    }
}

/// Returns further flows of the follower with that number.
pub(in super::super) trait More: FnMut(usize) -> Option<Done> {}

impl<F: FnMut(usize) -> Option<Done>> More for F {}

/// Puts flows of several followers into one order. `more` returns a follower's further flows.
pub(in super::super) struct InOrder<F> {
    pub(super) parts: Vec<Part>,
    pub(super) more: F,
}

impl<F: More> InOrder<F> {
    /// The rows, for their memory.
    pub(in super::super) fn into_rows(self) -> Vec<Vec<FlowRow>> {
        let mut lists: Vec<_> = self.parts.into_iter().map(|part| part.rows).collect();
        lists.iter_mut().flatten().for_each(FlowRow::drops_long_lists);
        lists
    }

    /// The next flow that is over: the number of the segment that opened it, and its row if it is selected.
    pub(in super::super) fn next(&mut self) -> Option<(u64, Option<&mut FlowRow>)> {
        for (line, part) in self.parts.iter_mut().enumerate() {
            if part.first().is_none()
                && let Some(done) = (self.more)(line)
            {
                *part = Part::of(done);
            }
        }
        let part = self.parts.iter_mut().filter(|part| part.first().is_some()).min_by_key(|part| part.first())?;
        let (_, opened) = part.ended.next()?;
        let row = part.rows.get_mut(part.told).filter(|row| row.id == opened);
        part.told += usize::from(row.is_some());
        Some((opened, row))
    }
}
