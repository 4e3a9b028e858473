//! Python's file objects as inputs.

use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyException, PyOSError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tcpstall_core::capture::{Capture, CaptureError, Expansion, file, shown, unpacked};
use tcpstall_core::engine::Opener;

/// Bytes per read: each call waits for the GIL.
const CHUNK: usize = 1 << 20;

/// Exceptions that end a run but are no error of an input: KeyboardInterrupt, SystemExit.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Takes the exception, once.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Converts an error of the input into text; any other exception is kept, to be raised.
    fn judge(&self, py: Python<'_>, error: PyErr) -> io::Error {
        if error.is_instance_of::<PyException>(py) {
            return io::Error::other(in_words(py, &error));
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        // The run looks for signals then, and for this exception.
        ErrorKind::Interrupted.into()
    }
}

/// An exception in one line.
fn in_words(py: Python<'_>, error: &PyErr) -> String {
    let text = error.value(py).to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() { error.get_type(py).to_string() } else { words.join(" ") }
}

/// A binary file object: `read(n)` returns at most `n` bytes, and none at the end. It is closed once it is read.
struct Object {
    object: Py<PyAny>,
    /// The last chunk, and the size of the part that was handed on.
    chunk: Option<Py<PyBytes>>,
    at: usize,
    raised: Raised,
}

impl Object {
    fn give(&mut self, py: Python<'_>, to: &mut [u8]) -> PyResult<usize> {
        if self.chunk.is_none() {
            let most = to.len().max(CHUNK);
            let read = self.object.bind(py).call_method1(intern!(py, "read"), (most,))?;
            let bytes = match read.cast_into::<PyBytes>() {
                Ok(bytes) => bytes,
                Err(other) => PyBytes::new(py, &other.into_inner().extract::<Vec<u8>>()?),
            };
            (self.chunk, self.at) = (Some(bytes.unbind()), 0);
        }
        let Some(chunk) = &self.chunk else { return Ok(0) };
        let rest = &chunk.as_bytes(py)[self.at..];
        let count = rest.len().min(to.len());
        to[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        if count == rest.len() {
            self.chunk = None;
        }
        Ok(count)
    }
}

impl Read for Object {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.raised.is_some() {
            return Err(io::Error::other("the run was ended"));
        }
        Python::attach(|py| {
            let given = self.give(py, to);
            given.map_err(|error| self.raised.judge(py, error))
        })
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // Everything was read; an error on closing changes nothing.
        Python::attach(|py| drop(self.object.call_method0(py, intern!(py, "close"))));
    }
}

/// Opens names with Python's `open(name)`; where that returns None, the name is a file's.
pub(crate) fn opener(open: Option<Py<PyAny>>, raised: &Raised) -> Opener {
    let Some(open) = open else { return Opener::default() };
    let raised = raised.clone();
    Opener::new(move |name| {
        let refuse = |reason: String| CaptureError::Open { path: shown(name), reason };
        if raised.is_some() {
            return Err(refuse("the run was ended".into()));
        }
        let object = Python::attach(|py| {
            let object = open.call1(py, (&*file(name),)).map_err(|error| match raised.judge(py, error) {
                other if other.kind() == ErrorKind::Interrupted => refuse("the run was ended".into()),
                other => refuse(other.to_string()),
            })?;
            let size = object.getattr(py, intern!(py, "size")).and_then(|size| size.extract::<u64>(py));
            Ok((!object.is_none(py)).then_some((object, size.ok())))
        })?;
        let Some((object, size)) = object else { return Capture::open(name) };
        let object = Object { object, chunk: None, at: 0, raised: raised.clone() };
        Ok(Capture::from_reader(Box::new(object)).with_size(size))
    })
}

/// Content of a compressed file, as a file object without seek.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Unpacked {
    source: Mutex<Option<Box<dyn Read + Send>>>,
    raised: Raised,
}

#[pymethods]
impl Unpacked {
    #[new]
    #[pyo3(signature = (source, *, max_expansion=None))]
    fn new(py: Python<'_>, source: Py<PyAny>, max_expansion: Option<u64>) -> PyResult<Unpacked> {
        let raised = Raised::default();
        let packed: Box<dyn Read + Send> = match source.extract::<std::path::PathBuf>(py) {
            Ok(path) => Box::new(std::fs::File::open(path)?),
            Err(_) => Box::new(Object { object: source, chunk: None, at: 0, raised: raised.clone() }),
        };
        let expansion = max_expansion.map_or_else(Expansion::default, Expansion::times);
        let source = py.detach(|| unpacked(packed, expansion)).map_err(|error| one_of(&raised, &error))?;
        Ok(Unpacked { source: Mutex::new(Some(source)), raised })
    }

    #[pyo3(signature = (size=-1), text_signature = "($self, size=-1)")]
    fn read<'py>(&self, py: Python<'py>, size: i64) -> PyResult<Bound<'py, PyBytes>> {
        let read = py.detach(|| {
            let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(source) = source.as_mut() else { return Err(io::Error::other("it is closed")) };
            let mut bytes = Vec::new();
            let most = u64::try_from(size).unwrap_or(u64::MAX);
            source.take(most).read_to_end(&mut bytes).map(|_| bytes)
        });
        read.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| one_of(&self.raised, &error))
    }

    fn close(&self, py: Python<'_>) {
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(source));
    }
}

/// The exception raised by Python, or the error as text.
fn one_of(raised: &Raised, error: &io::Error) -> PyErr {
    raised.take().unwrap_or_else(|| PyOSError::new_err(error.to_string()))
}
