//! Statuses of inputs, and the causes, as Python objects.

use pyo3::prelude::*;
use tcpstall_core::causes::Cause;
use tcpstall_core::causes::table::info;
use tcpstall_core::engine;
use tcpstall_core::results::ledger::Owner;
use tcpstall_core::results::report::VERSION;

/// Status of one input.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct CaptureStatus(pub(crate) engine::CaptureStatus);

#[pymethods]
impl CaptureStatus {
    #[getter]
    fn path(&self) -> &str {
        &self.0.path
    }

    #[getter]
    fn exit_code(&self) -> u8 {
        self.0.exit_code
    }

    #[getter]
    fn error(&self) -> Option<&str> {
        self.0.error.as_deref()
    }

    #[getter]
    fn json(&self) -> PyResult<String> {
        crate::errors::json(&self.0)
    }
}

/// One row of the table of causes.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct CauseInfo(Cause);

#[pymethods]
impl CauseInfo {
    #[getter]
    fn code(&self) -> u8 {
        self.0.code()
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    #[getter]
    fn colour(&self) -> &'static str {
        info(self.0).colour
    }

    #[getter]
    fn summary(&self) -> &'static str {
        info(self.0).summary
    }

    #[getter]
    fn documentation(&self) -> String {
        info(self.0).documentation()
    }

    #[getter]
    fn advice(&self) -> &'static str {
        info(self.0).advice
    }
}

#[pyfunction]
pub(crate) fn version() -> &'static str {
    VERSION
}

#[pyfunction]
pub(crate) fn causes() -> Vec<CauseInfo> {
    Cause::ALL.into_iter().map(CauseInfo).collect()
}

#[pyfunction]
pub(crate) fn owners() -> Vec<&'static str> {
    Owner::all().map(Owner::name).collect()
}

/// The statuses as Python objects.
pub(crate) fn owned(captures: &[engine::CaptureStatus]) -> Vec<CaptureStatus> {
    captures.iter().cloned().map(CaptureStatus).collect()
}
