//! Lists a folder of captures.

use std::ffi::OsString;

use pyo3::prelude::*;
use tcpstall_core::capture::Folder;

use crate::errors::of_system;

#[pyfunction]
pub(crate) fn folder(py: Python<'_>, path: OsString) -> PyResult<(Vec<(OsString, u64, i64)>, Vec<OsString>)> {
    let read = py.detach(|| Folder::read(path.as_ref())).map_err(|error| of_system(&error))?;
    let plain = read.plain.into_iter().map(|file| (file.name, file.size, file.changed_ns));
    Ok((plain.collect(), read.others))
}
