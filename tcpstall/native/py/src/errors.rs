//! Converts the core's errors into Python's; no other file does.

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use tcpstall_core::capture::CaptureError;

/// OSError for an error of the system, ValueError for unusable input.
pub(crate) fn of_capture(error: &CaptureError) -> PyErr {
    match error {
        CaptureError::Open { .. } | CaptureError::Read { .. } | CaptureError::Interrupted => {
            PyOSError::new_err(error.to_string())
        }
        CaptureError::NotACapture { .. } | CaptureError::Damaged { .. } => PyValueError::new_err(error.to_string()),
    }
}

/// OSError with the system's number and words.
pub(crate) fn of_system(error: &std::io::Error) -> PyErr {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or_default().to_owned();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, words)),
        None => PyOSError::new_err(text),
    }
}

/// JSON text of a row; rows always have one.
pub(crate) fn json(row: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(row).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
