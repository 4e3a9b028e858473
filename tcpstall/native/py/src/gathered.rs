//! Gathers rows of many runs until a store writes them.

use std::mem::take;
use std::sync::Arc;

use arrow_array::RecordBatch;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use tcpstall_core::results::columns::Columns;
use tcpstall_core::results::rows::FlowRow;
use tcpstall_core::results::stored::{Origin, Origins};

use crate::report::Report;
use crate::table::{Table, batch};

/// Rows of a batch: smaller batches would have headers larger than their content.
const BATCH: usize = 2_048;

/// Flows that are made columns at once: to make the 200 columns costs as much as the values of 20 flows, and most
/// captures of an archive of small files have one flow.
const AT_ONCE: usize = 128;

/// Rows of the tables of a store.
#[pyclass(module = "tcpstall._core")]
#[derive(Default)]
pub(crate) struct Gathered {
    flows: Rows,
    stalls: Rows,
    exchanges: Rows,
    findings: Rows,
    few: Few,
}

/// Flows of small reports that are no columns yet; `capture` is the number of the flow's own origin.
#[derive(Default)]
struct Few {
    rows: Vec<FlowRow>,
    origins: Vec<Origin>,
    /// Their rows in the tables.
    count: usize,
}

impl Few {
    /// There are so few flows, with so few rows, that they need not become columns yet.
    fn are_few(flows: usize, count: usize) -> bool {
        flows < AT_ONCE && count < BATCH
    }

    /// Rows of flows in the tables, but for findings, which are hardly more.
    fn count(rows: &[FlowRow]) -> usize {
        rows.iter().map(|row| 1 + row.stalls.len() + row.exchanges.as_ref().map_or(0, Vec::len)).sum()
    }

    /// Adds the flows of a report, each with its origin: a report of few flows may be of thousands of captures.
    fn add(&mut self, rows: &[FlowRow], origins: &[Origin]) -> PyResult<()> {
        for row in rows {
            let origin =
                origins.get(row.capture as usize).ok_or_else(|| PyIndexError::new_err("a capture has no name"))?;
            self.rows.push(FlowRow { capture: self.origins.len() as u32, ..row.clone() });
            self.origins.push(origin.clone());
        }
        self.count += Few::count(rows);
        Ok(())
    }
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
        if self.begun() == 0 {
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

impl Gathered {
    fn put(&mut self, rows: &[FlowRow], origins: &[Origin]) -> PyResult<()> {
        let origins = Origins(origins);
        self.flows.add(origins.flows(rows))?;
        self.stalls.add(origins.stalls(rows))?;
        self.exchanges.add(origins.exchanges(rows))?;
        self.findings.add(origins.findings(rows))
    }

    fn put_few(&mut self) -> PyResult<()> {
        let Few { rows, origins, count: _ } = take(&mut self.few);
        self.put(&rows, &origins)
    }
}

#[pymethods]
impl Gathered {
    #[new]
    fn new() -> Gathered {
        Gathered::default()
    }

    fn __len__(&mut self) -> PyResult<usize> {
        self.put_few()?;
        Ok(self.flows.len() + self.stalls.len() + self.exchanges.len() + self.findings.len())
    }

    /// Memory of the rows, but for those of batches that are not full yet.
    #[getter]
    fn nbytes(&self) -> usize {
        [&self.flows, &self.stalls, &self.exchanges, &self.findings].iter().map(|rows| rows.whole_bytes).sum()
    }

    #[pyo3(signature = (report, scan, captures, sensor=None))]
    fn add(&mut self, report: &Report, scan: &str, captures: Vec<String>, sensor: Option<&str>) -> PyResult<()> {
        let (scan, sensor) = (Arc::from(scan), sensor.map(Arc::from));
        let origin = |capture| Origin { scan: Arc::clone(&scan), sensor: sensor.clone(), capture };
        let origins: Vec<Origin> = captures.into_iter().map(origin).collect();
        if Few::are_few(report.rows().len(), Few::count(report.rows())) {
            self.few.add(report.rows(), &origins)?;
            return if Few::are_few(self.few.rows.len(), self.few.count) { Ok(()) } else { self.put_few() };
        }
        self.put_few()?;
        self.put(report.rows(), &origins)
    }

    /// Returns the tables by name, and empties the gathering.
    fn take(&mut self) -> PyResult<Vec<(&'static str, Table)>> {
        self.put_few()?;
        let Gathered { flows, stalls, exchanges, findings, few: _ } = take(self);
        Ok(vec![
            ("flows", flows.table()?),
            ("stalls", stalls.table()?),
            ("exchanges", exchanges.table()?),
            ("findings", findings.table()?),
        ])
    }
}
