//! Comparison of two captures of the same traffic, taken at both ends.

use std::ffi::OsString;

use pyo3::prelude::*;
use tcpstall_core::capture::as_text;
use tcpstall_core::pair::{Paired, delays, events, recoveries};

use crate::errors;
use crate::statuses::{CaptureStatus, owned};
use crate::table::Table;

/// Result for two captures, held natively.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Pairing(Paired);

#[pymethods]
impl Pairing {
    #[getter]
    fn json(&self) -> PyResult<String> {
        errors::json(&self.0.pairing)
    }

    #[getter]
    fn events(&self) -> PyResult<Table> {
        Table::new(events(&self.0.pairing.events))
    }

    #[getter]
    fn delays(&self) -> PyResult<Table> {
        Table::new(delays(&self.0.pairing.delays))
    }

    #[getter]
    fn recoveries(&self) -> PyResult<Table> {
        Table::new(recoveries(&self.0.pairing.recoveries))
    }

    #[getter]
    fn captures(&self) -> Vec<CaptureStatus> {
        owned(&self.0.captures)
    }
}

#[pyfunction]
#[pyo3(signature = (client_side, server_side, *, same_clock=false))]
pub(crate) fn pair(
    py: Python<'_>,
    client_side: OsString,
    server_side: OsString,
    same_clock: bool,
) -> PyResult<Pairing> {
    let mut raised = None;
    let paired = py.detach(|| {
        let signalled = || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_some()
        };
        tcpstall_core::pair::pair([&as_text(client_side), &as_text(server_side)], same_clock, signalled)
    });
    if let Some(signal) = raised {
        return Err(signal);
    }
    paired.map(Pairing).map_err(|error| errors::of_capture(&error))
}
