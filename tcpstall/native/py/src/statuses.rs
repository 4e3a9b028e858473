//! Statuses of inputs, and the causes, as Python objects.

use pyo3::prelude::*;
use tcpstall_core::causes::details::DETAILS;
use tcpstall_core::causes::{Cause, Limits};
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
        self.0.info().colour
    }

    #[getter]
    fn summary(&self) -> &'static str {
        self.0.info().summary
    }

    #[getter]
    fn documentation(&self) -> String {
        self.0.info().documentation(&Limits::default())
    }

    #[getter]
    fn details(&self) -> Vec<&'static str> {
        DETAILS.iter().filter(|detail| detail.cause == self.0).map(|detail| detail.name).collect()
    }

    #[getter]
    fn advice(&self) -> &'static str {
        self.0.info().advice
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
