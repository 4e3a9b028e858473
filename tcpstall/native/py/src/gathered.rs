//! Gathers rows of many runs until a store writes them.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tcpstall_core::results::days::Days;
use tcpstall_core::results::rows::FlowRow;
use tcpstall_core::results::stored::{Origin, Origins};

use crate::report::Report;

/// Flows that are made columns at once. To make the 260 columns costs as much as the values of 20 flows, and most
/// captures of an archive of small files have one flow; the rows of more flows leave the processor's cache between
/// one column and the next.
const AT_ONCE: usize = 256;

/// Rows up to which such flows stay rows: flows are few where each has thousands of waits.
const ROWS_AT_ONCE: usize = 2_048;

/// A part: its table, its day since 1970, its number of rows, its least and its greatest start, and its content.
type Part<'py> = (&'static str, i64, usize, i64, i64, Bound<'py, PyBytes>);

/// Rows of the tables of a store.
#[pyclass(module = "tcpstall._core")]
#[derive(Default)]
pub(crate) struct Gathered {
    tables: BTreeMap<&'static str, Days>,
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
        flows < AT_ONCE && count < ROWS_AT_ONCE
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

impl Gathered {
    fn put(&mut self, rows: &[FlowRow], origins: &[Origin]) {
        let origins = Origins(origins);
        for rows in rows.chunks(AT_ONCE) {
            for (name, columns) in origins.tables(rows) {
                self.tables.entry(name).or_default().add(&columns);
            }
        }
    }

    fn put_few(&mut self) {
        let Few { rows, origins, count: _ } = take(&mut self.few);
        self.put(&rows, &origins);
    }
}

#[pymethods]
impl Gathered {
    #[new]
    fn new() -> Gathered {
        Gathered::default()
    }

    fn __len__(&mut self) -> usize {
        self.put_few();
        self.tables.values().map(Days::rows).sum()
    }

    /// Memory of the rows, but for those of a few flows.
    #[getter]
    fn nbytes(&self) -> usize {
        self.tables.values().map(Days::size).sum()
    }

    #[pyo3(signature = (report, scan, captures, sensor=None))]
    fn add(&mut self, report: &Report, scan: &str, captures: Vec<String>, sensor: Option<&str>) -> PyResult<()> {
        let (scan, sensor) = (Arc::from(scan), sensor.map(Arc::from));
        let origin = |capture| Origin { scan: Arc::clone(&scan), sensor: sensor.clone(), capture };
        let origins: Vec<Origin> = captures.into_iter().map(origin).collect();
        if !Few::are_few(report.rows().len(), Few::count(report.rows())) {
            self.put_few();
            self.put(report.rows(), &origins);
            return Ok(());
        }
        self.few.add(report.rows(), &origins)?;
        if !Few::are_few(self.few.rows.len(), self.few.count) {
            self.put_few();
        }
        Ok(())
    }

    /// Returns the rows as Parquet, a file for each table and day, and empties the gathering.
    fn take<'py>(&mut self, py: Python<'py>) -> Vec<Part<'py>> {
        let files = py.detach(|| {
            self.put_few();
            let days =
                take(&mut self.tables).into_iter().flat_map(|(name, days)| days.finish().map(move |day| (name, day)));
            days.map(|(name, day)| (name, day.day, day.rows, day.from_ns, day.to_ns, day.finish())).collect::<Vec<_>>()
        });
        let held = |(name, day, rows, from_ns, to_ns, file): (_, _, _, _, _, Vec<u8>)| {
            (name, day, rows, from_ns, to_ns, PyBytes::new(py, &file))
        };
        files.into_iter().map(held).collect()
    }
}
