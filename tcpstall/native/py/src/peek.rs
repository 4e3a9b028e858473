//! Identifies an input from its beginning.

use std::ffi::OsString;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tcpstall_core::capture::{Expansion, as_text};
use tcpstall_core::engine;

use crate::source::{Raised, opener};

/// Findings from the beginning of an input.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Peek(engine::Peek);

#[pymethods]
impl Peek {
    #[getter]
    fn format(&self) -> Option<&'static str> {
        self.0.status.format
    }

    #[getter]
    fn compression(&self) -> Option<&'static str> {
        self.0.status.compression
    }

    #[getter]
    fn head<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.head)
    }

    #[getter]
    fn first_ns(&self) -> Option<i64> {
        self.0.first().map(|first| first.0)
    }

    #[getter]
    fn link_types(&self) -> Vec<String> {
        self.0.status.link_types.clone()
    }

    #[getter]
    fn error(&self) -> Option<&str> {
        self.0.status.error.as_deref()
    }

    #[getter]
    fn exit_code(&self) -> u8 {
        self.0.status.exit_code
    }
}

#[pyfunction]
#[pyo3(signature = (path, *, open=None, max_expansion=None))]
pub(crate) fn peek(
    py: Python<'_>,
    path: OsString,
    open: Option<Py<PyAny>>,
    max_expansion: Option<u64>,
) -> PyResult<Peek> {
    let (raised, expansion) = (Raised::default(), max_expansion.map_or_else(Expansion::default, Expansion::times));
    let opener = opener(open, &raised);
    let mut signal = None;
    let peek = py.detach(|| {
        let signalled = || {
            signal = raised.take().or_else(|| Python::attach(|py| py.check_signals()).err());
            signal.is_some()
        };
        engine::peek(&as_text(path), &opener, expansion, signalled)
    });
    signal.or_else(|| raised.take()).map_or(Ok(Peek(peek)), Err)
}
