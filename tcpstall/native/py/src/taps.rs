//! Captures taken at two points of one path.

use std::ffi::OsString;

use pyo3::prelude::*;
use tcpstall_core::engine;

use crate::options::{Keywords, names};

/// Two captures by their numbers, and the ends of a connection that both hold.
type Found = ([usize; 2], [(String, u16); 2]);

#[pyfunction]
#[pyo3(signature = (paths, *, hosts=vec![], ports=vec![], since_ns=None, until_ns=None, max_expansion=None))]
pub(crate) fn two_taps(
    py: Python<'_>,
    paths: Vec<OsString>,
    hosts: Vec<String>,
    ports: Vec<u16>,
    since_ns: Option<i64>,
    until_ns: Option<i64>,
    max_expansion: Option<u64>,
) -> PyResult<Option<Found>> {
    let paths = names(paths);
    let keywords = Keywords { hosts, ports, since_ns, until_ns, max_expansion, ..Keywords::default() };
    let options = keywords.into_options(paths.len())?;
    let mut raised = None;
    let found = py.detach(|| {
        let signalled = || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_some()
        };
        engine::two_taps(&paths, &options, signalled)
    });
    match raised {
        Some(signal) => Err(signal),
        None => Ok(found.map(|found| (found.captures, found.ends.map(|end| (end.address.to_string(), end.port))))),
    }
}
