//! Gathers rows of many runs until a store writes them.

use std::mem::take;

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use tcpstall_core::results::columns::Columns;
use tcpstall_core::results::stored::Origin;

use crate::report::Report;
use crate::table::{Table, batch};

/// Rows of a batch: smaller batches would have headers larger than their content.
const BATCH: usize = 2_048;

/// Rows of the tables of a store.
#[pyclass(module = "tcpstall._core")]
#[derive(Default)]
pub(crate) struct Gathered {
    flows: Rows,
    stalls: Rows,
    exchanges: Rows,
    findings: Rows,
}

/// Rows of one table: full batches, and the present one.
#[derive(Default)]
struct Rows {
    whole: Vec<RecordBatch>,
    whole_bytes: usize,
    begun: Columns,
}

impl Rows {
    fn begun(&self) -> usize {
        self.begun.first().map_or(0, |column| column.values.len())
    }

    fn len(&self) -> usize {
        self.begun() + self.whole.iter().map(RecordBatch::num_rows).sum::<usize>()
    }

    fn add(&mut self, columns: Columns) -> PyResult<()> {
        if self.begun.is_empty() {
            self.begun = columns;
        } else {
            self.begun.iter_mut().zip(columns).for_each(|(column, further)| column.values.append(further.values));
        }
        if self.begun() < BATCH { Ok(()) } else { self.close() }
    }

    fn close(&mut self) -> PyResult<()> {
        let batch = batch(take(&mut self.begun))?;
        self.whole_bytes += batch.get_array_memory_size();
        self.whole.push(batch);
        Ok(())
    }

    fn table(mut self) -> PyResult<Table> {
        let is_without_rows = self.whole.is_empty() && !self.begun.is_empty();
        if self.begun() > 0 || is_without_rows {
            self.close()?;
        }
        Ok(Table::of(self.whole))
    }
}

#[pymethods]
impl Gathered {
    #[new]
    fn new() -> Gathered {
        Gathered::default()
    }

    fn __len__(&self) -> usize {
        self.flows.len() + self.stalls.len() + self.exchanges.len() + self.findings.len()
    }

    /// Memory of the rows, but for those of batches that are not full yet.
    #[getter]
    fn nbytes(&self) -> usize {
        [&self.flows, &self.stalls, &self.exchanges, &self.findings].iter().map(|rows| rows.whole_bytes).sum()
    }

    #[pyo3(signature = (report, scan, captures, sensor=None))]
    fn add(&mut self, report: &Report, scan: &str, captures: Vec<String>, sensor: Option<&str>) -> PyResult<()> {
        let origin = Origin { scan, sensor, captures: &captures };
        self.flows.add(origin.flows(report.rows()))?;
        self.stalls.add(origin.stalls(report.rows()))?;
        self.exchanges.add(origin.exchanges(report.rows()))?;
        self.findings.add(origin.findings(report.rows()))
    }

    /// Returns the tables by name, and empties the gathering.
    fn take(&mut self) -> PyResult<Vec<(&'static str, Table)>> {
        let Gathered { flows, stalls, exchanges, findings } = take(self);
        Ok(vec![
            ("flows", flows.table()?),
            ("stalls", stalls.table()?),
            ("exchanges", exchanges.table()?),
            ("findings", findings.table()?),
        ])
    }
}
