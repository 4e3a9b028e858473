//! Keeps the rows of a run: all of them, the first of an order, or none, handing them over in chunks.

use std::mem::{swap, take};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tcpstall_core::results::FlowRow;
use tcpstall_core::results::sort::SortOrder;
use tcpstall_core::results::totals::sums::Sums;
use tcpstall_core::results::totals::top_flows::TopFlows;

use crate::labels::Labels;
use crate::report::Report;

/// Destination of the rows.
pub(crate) enum Keep {
    All(Vec<FlowRow>),
    Chunks(Chunks),
    First(TopFlows, Option<Box<Sums>>),
}

/// Rows on their way to Python.
pub(crate) struct Chunks {
    each: Py<PyAny>,
    /// Number of rows of flows, stalls and exchanges in a chunk, and number so far.
    chunk: usize,
    kept: usize,
    /// The rows so far, and behind them rows that were handed over and that Python has let go: their memory is used again.
    rows: Vec<FlowRow>,
    count: usize,
}

impl Keep {
    /// Keeps every row.
    pub(crate) fn all() -> Keep {
        Keep::All(Vec::new())
    }

    /// Calls `each` with about `chunk` rows at once.
    pub(crate) fn chunks(each: Py<PyAny>, chunk: usize) -> Keep {
        Keep::Chunks(Chunks { each, chunk, kept: 0, rows: Vec::new(), count: 0 })
    }

    /// Keeps the first `most` rows of each order.
    pub(crate) fn first(most: usize, orders: &[SortOrder]) -> Keep {
        Keep::First(TopFlows::new(most, orders), None)
    }

    /// The same, with sums over all rows.
    pub(crate) fn with_sums(self) -> Keep {
        match self {
            Keep::First(shown, _) => Keep::First(shown, Some(Box::default())),
            other => other,
        }
    }

    /// Takes a row away; what is left there has memory for the rows that follow, and no meaning.
    pub(crate) fn take(&mut self, row: &mut FlowRow, labels: &Labels) -> PyResult<()> {
        match self {
            Keep::All(rows) => {
                labels.put(row)?;
                rows.push(row.take());
                Ok(())
            }
            Keep::Chunks(chunks) => {
                labels.put(row)?;
                chunks.push(row)
            }
            Keep::First(shown, sums) => {
                if let Some(sums) = sums {
                    sums.add(row);
                }
                shown.add(row.take());
                Ok(())
            }
        }
    }

    /// The kept rows, in the order of their ids, and the sums.
    pub(crate) fn end(self, labels: &Labels) -> PyResult<(Vec<FlowRow>, Option<Sums>)> {
        match self {
            Keep::All(mut rows) => {
                rows.sort_by_cached_key(|row| row.id);
                Ok((rows, None))
            }
            Keep::Chunks(mut chunks) => chunks.hand_over().map(|()| (Vec::new(), None)),
            Keep::First(shown, sums) => {
                let mut rows = shown.into_rows();
                // Labels are read only now, because Python reads them and most rows were dropped.
                rows.iter_mut().try_for_each(|row| labels.put(row))?;
                Ok((rows, sums.map(|sums| *sums)))
            }
        }
    }
}

impl Chunks {
    fn push(&mut self, row: &mut FlowRow) -> PyResult<()> {
        self.kept += 1 + row.stalls.len() + row.exchanges.as_ref().map_or(0, Vec::len);
        match self.rows.get_mut(self.count) {
            // Both rows, each of more than a kilobyte, are moved once, and neither gives up the memory of its lists.
            Some(over) => swap(row, over),
            None => self.rows.push(row.take()),
        }
        self.count += 1;
        if self.kept < self.chunk { Ok(()) } else { self.hand_over() }
    }

    fn hand_over(&mut self) -> PyResult<()> {
        let over = self.rows.split_off(self.count);
        let mut rows = take(&mut self.rows);
        (self.kept, self.count) = (0, 0);
        if rows.is_empty() {
            return Ok(());
        }
        if !rows.is_sorted_by_key(|row| row.id) {
            // Each row is moved once: rows take more than a kilobyte, and a sort of themselves moves each a dozen times.
            rows.sort_by_cached_key(|row| row.id);
        }
        let rows = Arc::new(rows);
        Python::attach(|py| self.each.call1(py, (Report::sharing(Arc::clone(&rows)),)).map(drop))?;
        self.rows = Arc::try_unwrap(rows).unwrap_or_default();
        self.rows.extend(over);
        Ok(())
    }
}

/// The order with this name.
pub(crate) fn order(name: &str) -> PyResult<SortOrder> {
    SortOrder::from_name(name).ok_or_else(|| PyValueError::new_err(format!("no such order: {name}")))
}

/// The orders of a report: the requested one, and lost time.
pub(crate) fn orders(name: Option<&str>) -> PyResult<Vec<SortOrder>> {
    let first = name.map_or(Ok(SortOrder::Lost), order)?;
    Ok(if first == SortOrder::Lost { vec![first] } else { vec![first, SortOrder::Lost] })
}
