//! Sums of a capture's flows by service, for a comparison.

use std::ffi::OsString;
use std::ops::ControlFlow;

use pyo3::prelude::*;
use tcpstall_core::anonymise::Secret;
use tcpstall_core::capture::as_text;
use tcpstall_core::engine::{self, Follower};
use tcpstall_core::results::FlowRow;
use tcpstall_core::results::compared::Compared as Sums;
use tcpstall_core::wire::Endpoint;

use crate::errors;
use crate::options::Keywords;
use crate::report::Progress;
use crate::statuses::{CaptureStatus, owned};

/// Sums by service, held natively.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Compared {
    sums: Sums,
    services: Vec<Endpoint>,
    captures: Vec<engine::CaptureStatus>,
}

#[pymethods]
impl Compared {
    #[getter]
    fn services(&self) -> Vec<(String, u16)> {
        self.services.iter().map(|end| (end.address.to_string(), end.port)).collect()
    }

    #[getter]
    fn dropped_flows(&self) -> u64 {
        self.sums.dropped()
    }

    #[getter]
    fn captures(&self) -> Vec<CaptureStatus> {
        owned(&self.captures)
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python hands over a list")]
    fn facts_json(&self, services: Vec<usize>) -> PyResult<String> {
        errors::json(&self.sums.facts(services.iter().filter_map(|index| self.services.get(*index))))
    }
}

struct Adding<'a> {
    sums: Sums,
    beside: Option<&'a Sums>,
    progress: Progress,
}

impl Follower for Adding<'_> {
    fn flow(&mut self, row: &mut FlowRow) -> ControlFlow<()> {
        self.sums.add(row, self.beside);
        ControlFlow::Continue(())
    }

    fn progress(&mut self, read: u64, size: Option<u64>) -> ControlFlow<()> {
        self.progress.tell(read, size)
    }
}

#[pyfunction]
#[pyo3(signature = (path, *, secret=None, progress=None, beside=None))]
pub(crate) fn compared(
    py: Python<'_>,
    path: OsString,
    secret: Option<Secret>,
    progress: Option<Py<PyAny>>,
    beside: Option<Py<Compared>>,
) -> PyResult<Compared> {
    let path = as_text(path);
    let options = Keywords { secret, ..Keywords::default() }.into_options(1)?;
    let beside = beside.as_ref().map(|other| &other.get().sums);
    let (sums, captures, raised) = py.detach(|| {
        let mut adding = Adding { sums: Sums::default(), beside, progress: Progress::new(progress) };
        let captures = engine::run(&[path], &options, &mut adding);
        (adding.sums, captures, adding.progress.raised)
    });
    raised.map_or(Ok(()), Err)?;
    Ok(Compared { services: sums.services(), sums, captures })
}
