//! Lists a folder of captures.

use std::ffi::OsString;

use pyo3::prelude::*;
use tcpstall_core::capture::Folder;

use crate::errors::of_system;

/// Plain files with size and time of change, and the names of all else.
type Content = (Vec<(OsString, u64, i64)>, Vec<OsString>);

#[pyfunction]
pub(crate) fn folder(py: Python<'_>, path: OsString) -> PyResult<Content> {
    let read = py.detach(|| Folder::read(path.as_ref())).map_err(|error| of_system(&error))?;
    let plain = read.plain.into_iter().map(|file| (file.name, file.size, file.changed_ns));
    Ok((plain.collect(), read.others))
}
