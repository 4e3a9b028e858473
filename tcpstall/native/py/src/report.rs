//! Runs over captures, results kept or printed as they come.

use std::ops::ControlFlow;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use tcpstall_core::disguise::Secret;
use tcpstall_core::run::{self, Follower, Options};
use tcpstall_core::tables::services::Services;
use tcpstall_core::tables::{FlowRow, columns};
use tcpstall_core::wire::Segment;

use crate::errors;
use crate::labels::Labels;
use crate::options::Keywords;
use crate::statuses::{CaptureStatus, owned};
use crate::table::Table;

/// All results of one run, held natively.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Report {
    rows: Vec<FlowRow>,
    captures: Vec<run::CaptureStatus>,
}

#[pymethods]
impl Report {
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        Table::new(columns::flows(&self.rows))
    }

    #[getter]
    fn bursts(&self) -> PyResult<Table> {
        Table::new(columns::bursts(&self.rows))
    }

    #[getter]
    fn stalls(&self) -> PyResult<Table> {
        Table::new(columns::stalls(&self.rows))
    }

    #[getter]
    fn exchanges(&self) -> PyResult<Table> {
        Table::new(columns::exchanges(&self.rows))
    }

    #[getter]
    fn services_json(&self) -> PyResult<String> {
        let mut services = Services::default();
        self.rows.iter().for_each(|row| services.add(row));
        errors::json(&services.rows())
    }

    #[getter]
    fn captures(&self) -> Vec<CaptureStatus> {
        owned(&self.captures)
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn flow_json(&self, index: usize) -> PyResult<String> {
        let row = self.rows.get(index).ok_or_else(|| PyIndexError::new_err("no such flow"))?;
        errors::json(row)
    }
}

/// Calls Python back now and then, and lets a signal end the run.
pub(crate) struct Progress {
    callback: Option<Py<PyAny>>,
    /// What the callback or a signal handler raised.
    pub(crate) raised: Option<PyErr>,
}

impl Progress {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Progress {
        Progress { callback, raised: None }
    }

    pub(crate) fn tell(&mut self, read: u64, size: Option<u64>) -> ControlFlow<()> {
        let told = Python::attach(|py| {
            py.check_signals()?;
            self.callback.as_ref().map_or(Ok(()), |callback| callback.call1(py, (read, size)).map(drop))
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

struct Keeper {
    rows: Vec<FlowRow>,
    labels: Labels,
    progress: Progress,
}

impl Follower for Keeper {
    fn flow(&mut self, mut row: FlowRow) -> ControlFlow<()> {
        if let Err(error) = self.labels.put(&mut row) {
            self.progress.raised = Some(error);
            return ControlFlow::Break(());
        }
        self.rows.push(row);
        ControlFlow::Continue(())
    }

    fn progress(&mut self, read: u64, size: Option<u64>) -> ControlFlow<()> {
        self.progress.tell(read, size)
    }
}

/// Runs to the end and gives the rows in the order of their ids.
pub(crate) fn collect(
    py: Python<'_>,
    paths: &[String],
    options: &Options,
    labels: Labels,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<FlowRow>, Vec<run::CaptureStatus>)> {
    let mut keeper = Keeper { rows: Vec::new(), labels, progress: Progress::new(progress) };
    let captures = py.detach(|| {
        let captures = run::run(paths, options, &mut keeper);
        keeper.rows.sort_by_key(|row| row.id);
        captures
    });
    match keeper.progress.raised {
        Some(error) => Err(error),
        None => Ok((keeper.rows, captures)),
    }
}

#[pyfunction]
#[pyo3(signature = (paths, *, flows=vec![], hosts=vec![], ports=vec![], since_ns=None, until_ns=None, min_stall_ns=0, bursts=true, exchanges=true, link_bytes_per_s=None, max_expansion=None, secret=None, label=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn analyze(
    py: Python<'_>,
    paths: Vec<String>,
    flows: Vec<u64>,
    hosts: Vec<String>,
    ports: Vec<u16>,
    since_ns: Option<i64>,
    until_ns: Option<i64>,
    min_stall_ns: i64,
    bursts: bool,
    exchanges: bool,
    link_bytes_per_s: Option<u64>,
    max_expansion: Option<u64>,
    secret: Option<Secret>,
    label: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Report> {
    let keywords = Keywords {
        flows,
        hosts,
        ports,
        since_ns,
        until_ns,
        min_stall_ns,
        bursts,
        exchanges,
        link_bytes_per_s,
        max_expansion,
        secret,
    };
    let options = keywords.into_options()?;
    let (rows, captures) = collect(py, &paths, &options, Labels::new(label), progress)?;
    Ok(Report { rows, captures })
}

#[pyfunction]
#[pyo3(signature = (paths, flows, *, since_ns=None, until_ns=None, max_expansion=None))]
pub(crate) fn samples(
    py: Python<'_>,
    paths: Vec<String>,
    flows: Vec<u64>,
    since_ns: Option<i64>,
    until_ns: Option<i64>,
    max_expansion: Option<u64>,
) -> PyResult<Vec<Table>> {
    let options = Keywords { since_ns, until_ns, max_expansion, ..Keywords::default() }.into_options()?;
    let tables = py.detach(|| run::samples(&paths, &flows, &options)).map_err(|error| errors::of_capture(&error))?;
    tables.iter().map(|rows| Table::new(columns::samples(rows))).collect()
}

#[pyfunction]
pub(crate) fn segments(py: Python<'_>, path: &str) -> PyResult<(Table, CaptureStatus)> {
    let mut rows: Vec<Segment> = Vec::new();
    let mut raised = None;
    let read = py.detach(|| {
        let signalled = || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_some()
        };
        run::segments(path, |segment| rows.push(*segment), signalled)
    });
    if let Some(signal) = raised {
        return Err(signal);
    }
    let status = read.map_err(|error| errors::of_capture(&error))?;
    Ok((Table::new(columns::segments(&rows))?, CaptureStatus(status)))
}

/// What a streamed report came to.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Written {
    pub(crate) captures: Vec<run::CaptureStatus>,
    #[pyo3(get)]
    pub(crate) flows: u64,
    #[pyo3(get)]
    pub(crate) broken_pipe: bool,
}

#[pymethods]
impl Written {
    #[getter]
    fn captures(&self) -> Vec<CaptureStatus> {
        owned(&self.captures)
    }
}
