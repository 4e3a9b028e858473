//! Copies of captures.

use std::ffi::OsString;
use std::io::BufWriter;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use tcpstall_core::anonymise::{Pseudonyms, Secret};
use tcpstall_core::capture::{Capture, Expansion, as_text};
use tcpstall_core::copy::{self as again, Choice, Failure, Form, Moment, Remarks, Stretch, Wish};
use tcpstall_core::time::Nanos;
use tcpstall_core::wire::Endpoint;

use crate::errors;
use crate::options::address;
use crate::report::Progress;
use crate::write::{CHUNK, Descriptor};

/// Result of a copy.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Copied(again::Copied);

#[pymethods]
impl Copied {
    #[getter]
    fn packets(&self) -> u64 {
        self.0.packets
    }

    #[getter]
    fn written(&self) -> u64 {
        self.0.written
    }

    #[getter]
    fn remarks(&self) -> u64 {
        self.0.remarks
    }

    #[getter]
    fn blanked(&self) -> u64 {
        self.0.blanked
    }

    #[getter]
    fn left_out(&self) -> u64 {
        self.0.left_out
    }

    #[getter]
    fn error(&self) -> Option<String> {
        self.0.error.as_ref().map(ToString::to_string)
    }
}

/// An address and a port.
type AddressPort = (String, u16);

fn ends((one, other): (AddressPort, AddressPort)) -> PyResult<[Endpoint; 2]> {
    let end = |(host, port): AddressPort| Ok::<_, PyErr>(Endpoint { address: address(&host)?, port });
    Ok([end(one)?, end(other)?])
}

fn choice(stretches: Option<Vec<(AddressPort, AddressPort, i64, i64)>>) -> PyResult<Choice> {
    let Some(stretches) = stretches else { return Ok(Choice::Everything) };
    let stretch = |(one, other, from, until)| {
        Ok::<_, PyErr>(Stretch { ends: ends((one, other))?, from: Nanos(from), until: Nanos(until) })
    };
    Ok(Choice::of(stretches.into_iter().map(stretch).collect::<PyResult<_>>()?))
}

#[pyfunction]
#[pyo3(signature = (path, fd, *, form, about="", stretches=None, remarks=vec![], moments=vec![], payload=true, secret=None, max_expansion=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn copy(
    py: Python<'_>,
    path: OsString,
    fd: i32,
    form: &str,
    about: &str,
    stretches: Option<Vec<(AddressPort, AddressPort, i64, i64)>>,
    remarks: Vec<(u64, String)>,
    moments: Vec<(i64, AddressPort, AddressPort, String)>,
    payload: bool,
    secret: Option<Secret>,
    max_expansion: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Copied> {
    let form = Form::from_name(form).ok_or_else(|| PyValueError::new_err(format!("no such form: {form}")))?;
    let mut said = Remarks::default();
    remarks.into_iter().for_each(|(packet, text)| said.at(packet, text));
    for (time, one, other, text) in moments {
        said.when(Moment { time: Nanos(time), ends: ends((one, other))? }, text);
    }
    let names = secret.as_ref().map(Pseudonyms::new);
    let wish = Wish { form, choice: choice(stretches)?, remarks: said, about: about.to_owned(), payload, names };
    let mut out = BufWriter::with_capacity(CHUNK, Descriptor::new(py, fd)?);
    let mut progress = Progress::new(progress);
    let copied = py.detach(|| {
        let expansion = max_expansion.map_or_else(Expansion::default, Expansion::times);
        let capture = Capture::open(&as_text(path)).map_err(Failure::Capture)?.with_expansion(expansion);
        again::copy(capture, wish, &mut out, &mut |read, size| progress.tell(read, size))
    });
    match (progress.raised, copied) {
        (Some(raised), _) => Err(raised),
        (None, Ok(copied)) => Ok(Copied(copied)),
        (None, Err(Failure::Capture(error))) => Err(errors::of_capture(&error)),
        (None, Err(Failure::Form(what))) => Err(PyTypeError::new_err(what)),
        (None, Err(Failure::Write(error))) => Err(error.into()),
        (None, Err(Failure::Stopped)) => Err(PyValueError::new_err("stopped")),
    }
}
