//! Judges flows that are over.

use crate::anonymise::Pseudonyms;
use crate::causes::Limits;
use crate::engine::table::entry::{Ended, Over};
use crate::engine::table::spare::{Spare, TOGETHER};
use crate::engine::{Filter, RunOptions};
use crate::results::{FlowRow, SpareLists, Wanted, add_row};

/// Options on which a flow's row depends.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Judging<'a> {
    filter: &'a Filter,
    limits: &'a Limits,
    wanted: Wanted,
    names: Option<&'a Pseudonyms>,
}

impl<'a> Judging<'a> {
    /// Judges as those options say.
    pub(in crate::engine) fn by(options: &'a RunOptions) -> Judging<'a> {
        let RunOptions { filter, limits, wanted, names, .. } = options;
        Judging { filter, limits, wanted: *wanted, names: names.as_ref() }
    }

    /// Adds the flow's row, if its ends are selected. A row takes kilobytes and is filled in where it lies.
    pub(in crate::engine) fn judge(&self, over: &Over, rows: &mut Vec<FlowRow>, lists: &mut SpareLists) {
        let Over { id, capture, interface, at_end, goes_on, flow } = over;
        if !self.filter.wants_ends([flow.connection().client, flow.connection().server]) {
            return;
        }
        add_row(rows, flow, (*id, *capture), self.limits, self.wanted, lists);
        if let Some(row) = rows.last_mut() {
            (row.at_end, row.goes_on, row.interface_number) = (*at_end, *goes_on, *interface);
            if let Some(names) = self.names {
                row.anonymise(names);
            }
        }
    }

    /// Finishes flows and adds the rows of those whose ends are selected.
    pub(in crate::engine) fn judge_all(&self, mut ended: Vec<Ended>, rows: &mut Vec<FlowRow>, spare: &mut Spare) {
        // A row takes kilobytes: nothing of that size is moved because the list grows. An empty list is not moved either.
        if rows.is_empty() && rows.capacity() < ended.len() {
            *rows = Vec::with_capacity(ended.len());
        }
        rows.reserve(ended.len());
        Ended::together(&mut ended).for_each(|ended| self.judge_together(ended, rows, spare));
    }

    /// Finishes a group of flows and adds the rows of those whose ends are selected.
    pub(in crate::engine) fn judge_together(&self, ended: &mut [Ended], rows: &mut Vec<FlowRow>, spare: &mut Spare) {
        let mut some = Vec::with_capacity(TOGETHER);
        Ended::all_over(ended, false, spare, &mut some);
        some.iter().for_each(|over| self.judge(over, rows, &mut spare.lists));
        some.drain(..).for_each(|over| spare.takes(over.flow));
    }
}
