//! Streams a report to a file descriptor while captures are read.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tcpstall_core::anonymise::Secret;
use tcpstall_core::engine::{self, Follower, RunOptions};
use tcpstall_core::results::FlowRow;
use tcpstall_core::results::findings::FindingRow;
use tcpstall_core::results::report::{ReportWriter, Shape};
use tcpstall_core::results::sort::SortOrder;

use crate::errors::of_system;
use crate::keep::{Keep, order};
use crate::labels::Labels;
use crate::options::{Keywords, names};
use crate::report::{Keeper, Progress, Report, Written, collect};

/// Bytes per write call: enough to make Python's part in it negligible.
pub(crate) const CHUNK: usize = 256 * 1024;

/// Writes to a descriptor: to standard output itself, to any other through Python's `os.write`, the only access to a
/// bare descriptor without unsafe code, which copies all that it is given.
pub(crate) enum Descriptor {
    /// Standard output, under a number of its own.
    Standard(File),
    /// Any other.
    Bare { write: Py<PyAny>, fd: i32 },
}

impl Descriptor {
    pub(crate) fn new(py: Python<'_>, fd: i32) -> PyResult<Descriptor> {
        Ok(match standard(fd) {
            Some(file) => Descriptor::Standard(file),
            None => Descriptor::Bare { write: py.import("os")?.getattr("write")?.unbind(), fd },
        })
    }
}

#[cfg(unix)]
fn standard(fd: i32) -> Option<File> {
    use std::os::fd::{AsFd, AsRawFd};
    let output = io::stdout();
    if output.as_raw_fd() != fd {
        return None;
    }
    output.as_fd().try_clone_to_owned().ok().map(File::from)
}

#[cfg(not(unix))]
fn standard(_fd: i32) -> Option<File> {
    None
}

impl Write for Descriptor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Descriptor::Standard(file) => match file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    // A signal that raises, such as Ctrl-C, ends the run; after any other the write is tried again.
                    Python::attach(|py| py.check_signals())?;
                    Err(error)
                }
                written => Ok(written.map_err(|error| of_system(&error))?),
            },
            Descriptor::Bare { write, fd } => Python::attach(|py| {
                let written = write.call1(py, (*fd, PyBytes::new(py, bytes)))?;
                Ok(written.extract::<usize>(py)?)
            }),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Printer {
    writer: ReportWriter<BufWriter<Descriptor>>,
    labels: Labels,
    progress: Progress,
    failed: Option<io::Error>,
}

impl Follower for Printer {
    fn flow(&mut self, row: &mut FlowRow) -> ControlFlow<()> {
        if let Err(error) = self.labels.put(row) {
            self.progress.raised = Some(error);
            return ControlFlow::Break(());
        }
        match self.writer.flow(row) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn progress(&mut self, read: u64, size: Option<u64>) -> ControlFlow<()> {
        self.progress.tell(read, size)
    }
}

#[pyfunction]
#[pyo3(signature = (paths, fd, *, format="json", sort=None, top=None, flows=vec![], hosts=vec![], ports=vec![], since_ns=None, until_ns=None, min_stall_ns=0, bursts=true, exchanges=true, link_bytes_per_s=None, max_expansion=None, secret=None, label=None, progress=None, sets=vec![], missing_before=vec![], findings=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn write(
    py: Python<'_>,
    paths: Vec<OsString>,
    fd: i32,
    format: &str,
    sort: Option<&str>,
    top: Option<usize>,
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
    findings: Option<Py<PyAny>>,
) -> PyResult<Written> {
    let paths = names(paths);
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
        ..Keywords::default()
    };
    let options = keywords.into_options(paths.len())?;
    let shape = Shape::from_name(format).ok_or_else(|| PyValueError::new_err(format!("no such format: {format}")))?;
    let order = sort.map(order).transpose()?;
    let out = BufWriter::with_capacity(CHUNK, Descriptor::new(py, fd)?);
    let (written, captures, flows) = match (order, top) {
        (None, None) => stream(py, &paths, &options, shape, out, (Labels::new(label), findings), progress)?,
        (order, top) => {
            let order = order.unwrap_or(SortOrder::Lost);
            let keep = top.map_or_else(Keep::all, |top| Keep::first(top, &[order]));
            let keeper = Keeper::new(keep, Labels::new(label), Progress::new(progress));
            let Report { rows, captures, .. } = collect(py, &paths, &options, keeper, None)?;
            let mut rows = Arc::unwrap_or_clone(rows);
            order.sort(&mut rows);
            let count = rows.len() as u64;
            (py.detach(|| print(&rows, &captures, shape, out, findings)), captures, count)
        }
    };
    match written {
        Ok(()) => Ok(Written { captures, flows, broken_pipe: false }),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Written { captures, flows, broken_pipe: true }),
        Err(error) => Err(error.into()),
    }
}

type Outcome = (io::Result<()>, Vec<engine::CaptureStatus>, u64);

fn stream(
    py: Python<'_>,
    paths: &[String],
    options: &RunOptions,
    shape: Shape,
    out: BufWriter<Descriptor>,
    (labels, findings): (Labels, Option<Py<PyAny>>),
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let (written, captures, flows, raised) = py.detach(|| {
        let writer = match ReportWriter::begin(out, shape) {
            Ok(writer) => writer,
            Err(error) => return (Err(error), Vec::new(), 0, None),
        };
        let mut printer = Printer { writer, labels, progress: Progress::new(progress), failed: None };
        let captures = engine::run(paths, options, &mut printer);
        let flows = printer.writer.flows();
        let written = match printer.failed {
            Some(error) => Err(error),
            None => printer.writer.end(&captures, &mut told(findings)),
        };
        (written, captures, flows, printer.progress.raised)
    });
    raised.map_or(Ok((written, captures, flows)), Err)
}

/// Hands findings to Python, which ranks and phrases them.
fn told(findings: Option<Py<PyAny>>) -> impl FnMut(Vec<FindingRow>, u64) -> io::Result<Option<String>> {
    move |rows, flows| {
        let Some(findings) = &findings else { return Ok(None) };
        let facts = serde_json::to_string(&rows)?;
        Ok(Some(Python::attach(|py| findings.call1(py, (facts, flows))?.extract::<String>(py))?))
    }
}

fn print(
    rows: &[FlowRow],
    captures: &[engine::CaptureStatus],
    shape: Shape,
    out: BufWriter<Descriptor>,
    findings: Option<Py<PyAny>>,
) -> io::Result<()> {
    let mut writer = ReportWriter::begin(out, shape)?;
    rows.iter().try_for_each(|row| writer.flow(row))?;
    writer.end(captures, &mut told(findings))
}
