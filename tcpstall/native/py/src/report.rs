//! Runs over captures; keeps their results or passes them on.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use tcpstall_core::anonymise::Secret;
use tcpstall_core::capture::as_text;
use tcpstall_core::engine::{self, Follower, RunOptions, StreamState};
use tcpstall_core::results::findings::{FindingRow, Findings, waited_and_idle};
use tcpstall_core::results::services::{ServiceRow, Services};
use tcpstall_core::results::sort::SortOrder;
use tcpstall_core::results::totals::sums::Sums;
use tcpstall_core::results::{FlowRow, columns};
use tcpstall_core::state::StateError;
use tcpstall_core::wire::Segment;

use crate::errors;
use crate::keep::{Keep, orders};
use crate::labels::Labels;
use crate::options::{Keywords, names};
use crate::source::{Raised, opener};
use crate::statuses::{CaptureStatus, owned};
use crate::table::Table;

/// Rows that are handed over at once: some tens of megabytes.
const CHUNK: usize = 1 << 16;

/// All results of one run, held natively.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Report {
    pub(crate) rows: Arc<Vec<FlowRow>>,
    pub(crate) captures: Vec<engine::CaptureStatus>,
    /// Sums over all flows, where some rows were dropped.
    whole: Option<Whole>,
    /// The serialised stream after its last file.
    stream: Option<Vec<u8>>,
}

/// Sums over all flows of a run.
pub(crate) struct Whole {
    flows: u64,
    time_ns: Vec<(&'static str, i128)>,
    services: Vec<ServiceRow>,
    findings: Vec<FindingRow>,
    bytes: u64,
}

impl From<Sums> for Whole {
    fn from(sums: Sums) -> Whole {
        Whole {
            flows: sums.flows,
            time_ns: sums.time_ns().collect(),
            services: sums.services.rows(),
            findings: sums.findings.rows(),
            bytes: sums.bytes,
        }
    }
}

impl Report {
    /// A report with rows of a run that is still going on.
    pub(crate) fn of(rows: Vec<FlowRow>) -> Report {
        Report::sharing(Arc::new(rows))
    }

    /// The same, of rows whose memory is used again once nobody else has them.
    pub(crate) fn sharing(rows: Arc<Vec<FlowRow>>) -> Report {
        Report { rows, captures: Vec::new(), whole: None, stream: None }
    }

    /// Rows of a run that goes on, and what all of its flows come to.
    pub(crate) fn so_far(rows: Vec<FlowRow>, sums: Sums) -> Report {
        Report { whole: Some(Whole::from(sums)), ..Report::of(rows) }
    }

    pub(crate) fn rows(&self) -> &[FlowRow] {
        &self.rows
    }
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
    fn flows_begun(&self) -> BTreeMap<u32, u64> {
        let mut begun = BTreeMap::new();
        self.rows.iter().for_each(|row| *begun.entry(row.capture).or_default() += 1);
        begun
    }

    #[getter]
    fn open_since_ns(&self) -> Option<i64> {
        self.rows.iter().filter(|row| row.at_end).map(|row| row.start_ns.0).min()
    }

    #[getter]
    fn services_json(&self) -> PyResult<String> {
        if let Some(whole) = &self.whole {
            return errors::json(&whole.services);
        }
        errors::json(&Services::of(&self.rows).rows())
    }

    #[getter]
    fn findings_json(&self) -> PyResult<String> {
        if let Some(whole) = &self.whole {
            return errors::json(&whole.findings);
        }
        errors::json(&Findings::of(&self.rows).rows())
    }

    #[getter]
    fn bytes(&self) -> u64 {
        let of = |row: &FlowRow| row.directions.client.bytes + row.directions.server.bytes;
        self.whole.as_ref().map_or_else(|| self.rows.iter().map(of).sum(), |whole| whole.bytes)
    }

    #[getter]
    fn whole(&self) -> Option<(u64, Vec<(&'static str, i128)>)> {
        self.whole.as_ref().map(|whole| (whole.flows, whole.time_ns.clone()))
    }

    #[getter]
    fn captures(&self) -> Vec<CaptureStatus> {
        owned(&self.captures)
    }

    #[getter]
    fn stream(&self) -> Option<&[u8]> {
        self.stream.as_deref()
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn flow_json(&self, index: usize) -> PyResult<String> {
        self.rows.get(index).map(FlowRow::to_json).ok_or_else(|| PyIndexError::new_err("no such flow"))
    }

    fn idle_ns(&self, index: usize) -> Option<i64> {
        self.rows.get(index).map(|row| waited_and_idle(row).1.0)
    }

    fn by_lost(&self) -> Vec<usize> {
        SortOrder::Lost.order(&self.rows)
    }
}

/// Calls Python back from time to time, and lets a signal end the run.
pub(crate) struct Progress {
    callback: Option<Py<PyAny>>,
    /// Exception of the callback or of a signal handler.
    pub(crate) raised: Option<PyErr>,
    /// Exception raised while the inputs were read.
    inputs: Raised,
}

impl Progress {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Progress {
        Progress { callback, raised: None, inputs: Raised::default() }
    }

    /// The same for a run that reads Python's file objects.
    fn with_inputs(self, inputs: Raised) -> Progress {
        Progress { inputs, ..self }
    }

    pub(crate) fn tell(&mut self, read: u64, size: Option<u64>) -> ControlFlow<()> {
        let told = Python::attach(|py| {
            self.inputs.take().map_or(Ok(()), Err)?;
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

/// Follows a run and keeps its rows.
pub(crate) struct Keeper {
    keep: Keep,
    labels: Labels,
    progress: Progress,
    stream: Option<Vec<u8>>,
}

impl Keeper {
    pub(crate) fn new(keep: Keep, labels: Labels, progress: Progress) -> Keeper {
        Keeper { keep, labels, progress, stream: None }
    }
}

impl Follower for Keeper {
    fn flow(&mut self, row: &mut FlowRow) -> ControlFlow<()> {
        match self.keep.take(row, &self.labels) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.progress.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn progress(&mut self, read: u64, size: Option<u64>) -> ControlFlow<()> {
        self.progress.tell(read, size)
    }

    fn put_down(&mut self, stream: Vec<u8>) {
        self.stream = Some(stream);
    }
}

fn taken_up(bytes: &[u8]) -> PyResult<StreamState> {
    StreamState::taken_up(bytes).map_err(not_continued)
}

fn not_continued(error: StateError) -> PyErr {
    PyValueError::new_err(format!("the stream cannot be continued: {error}"))
}

/// The captures of a serialised stream, by the names that they had then.
#[pyfunction]
pub(crate) fn stream_captures(stream: &[u8]) -> PyResult<Vec<String>> {
    StreamState::names(stream).map_err(not_continued)
}

/// Runs to the end and returns the kept rows in the order of their ids, with sums over all rows where some were not
/// kept.
pub(crate) fn collect(
    py: Python<'_>,
    paths: &[String],
    options: &RunOptions,
    mut keeper: Keeper,
    before: Option<StreamState>,
) -> PyResult<Report> {
    py.detach(|| {
        let captures = engine::go_on(paths, options, &mut keeper, before);
        let Keeper { keep, labels, progress, stream } = keeper;
        if let Some(error) = progress.raised.or_else(|| progress.inputs.take()) {
            return Err(error);
        }
        let (rows, sums) = keep.end(&labels)?;
        Ok(Report { rows: Arc::new(rows), captures, whole: sums.map(Whole::from), stream })
    })
}

#[pyfunction]
#[pyo3(signature = (paths, *, flows=vec![], hosts=vec![], ports=vec![], since_ns=None, until_ns=None, min_stall_ns=0, bursts=true, exchanges=true, link_bytes_per_s=None, max_expansion=None, secret=None, label=None, progress=None, sets=vec![], missing_before=vec![], new_from=0, packets_before=0, known_packets=0, stream=None, puts_down=false, most_past=None, threads=None, open=None, each=None, chunk=CHUNK, sort=None, top=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn analyze(
    py: Python<'_>,
    paths: Vec<OsString>,
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
    sets: Vec<u32>,
    missing_before: Vec<usize>,
    new_from: usize,
    packets_before: u64,
    known_packets: u64,
    stream: Option<&[u8]>,
    puts_down: bool,
    most_past: Option<usize>,
    threads: Option<usize>,
    open: Option<Py<PyAny>>,
    each: Option<Py<PyAny>>,
    chunk: usize,
    sort: Option<&str>,
    top: Option<usize>,
) -> PyResult<Report> {
    let paths = names(paths);
    let stream = stream.map(taken_up).transpose()?;
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
        sets,
        missing_before,
        new_from,
        packets_before,
        known_packets,
        names_only: stream.as_ref().map_or(0, |stream| stream.captures().len()),
        puts_down,
        most_past,
        threads,
    };
    let raised = Raised::default();
    let options = RunOptions { opener: opener(open, &raised), ..keywords.into_options(paths.len())? };
    let progress = Progress::new(progress).with_inputs(raised);
    let keep = match (each, top) {
        (Some(_), Some(_)) => return Err(PyValueError::new_err("flows are handed over or held: give each or top")),
        (Some(each), None) => Keep::chunks(each, chunk),
        (None, Some(top)) => Keep::first(top, &orders(sort)?).with_sums(),
        (None, None) => Keep::all(),
    };
    collect(py, &paths, &options, Keeper::new(keep, Labels::new(label), progress), stream)
}

#[pyfunction]
#[pyo3(signature = (paths, flows, *, since_ns=None, until_ns=None, max_expansion=None, sets=vec![], missing_before=vec![]))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn samples(
    py: Python<'_>,
    paths: Vec<OsString>,
    flows: Vec<u64>,
    since_ns: Option<i64>,
    until_ns: Option<i64>,
    max_expansion: Option<u64>,
    sets: Vec<u32>,
    missing_before: Vec<usize>,
) -> PyResult<Vec<Table>> {
    let paths = names(paths);
    let keywords = Keywords { since_ns, until_ns, max_expansion, sets, missing_before, ..Keywords::default() };
    let options = keywords.into_options(paths.len())?;
    let tables = py.detach(|| engine::samples(&paths, &flows, &options)).map_err(|error| errors::of_capture(&error))?;
    tables.iter().map(|rows| Table::new(columns::samples(rows))).collect()
}

#[pyfunction]
pub(crate) fn segments(py: Python<'_>, path: OsString) -> PyResult<(Table, CaptureStatus)> {
    let mut rows: Vec<Segment> = Vec::new();
    let mut raised = None;
    let read = py.detach(|| {
        let signalled = || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_some()
        };
        engine::segments(&as_text(path), |segment| rows.push(*segment), signalled)
    });
    if let Some(signal) = raised {
        return Err(signal);
    }
    let status = read.map_err(|error| errors::of_capture(&error))?;
    Ok((Table::new(columns::segments(&rows))?, CaptureStatus(status)))
}

/// Result of a streamed report.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Written {
    pub(crate) captures: Vec<engine::CaptureStatus>,
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
