//! Columns handed to Python: as an Arrow stream without a copy, as lists, or as raw integers.

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use tcpstall_core::tables::columns::{Column, Columns, Values};

/// Columns of equal length.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Table {
    batch: RecordBatch,
    columns: Columns,
}

impl Table {
    pub(crate) fn new(columns: Columns) -> PyResult<Table> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.iter().map(arrow_column).unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| refuse(&error))?;
        Ok(Table { batch, columns })
    }

    fn find(&self, name: &str) -> PyResult<&Column> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

fn refuse(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

fn arrow_column(column: &Column) -> (Field, ArrayRef) {
    let array: ArrayRef = match &column.values {
        Values::Integers(values) => Arc::new(values.iter().copied().collect::<Int64Array>()),
        Values::Reals(values) => Arc::new(values.iter().copied().collect::<Float64Array>()),
        Values::Flags(values) => Arc::new(BooleanArray::from(values.clone())),
        Values::Texts(values) => Arc::new(values.iter().map(Option::as_deref).collect::<StringArray>()),
    };
    (Field::new(&column.name, array.data_type().clone(), true), array)
}

#[pymethods]
impl Table {
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        match &self.find(name)?.values {
            Values::Integers(values) => PyList::new(py, values),
            Values::Reals(values) => PyList::new(py, values),
            Values::Flags(values) => PyList::new(py, values),
            Values::Texts(values) => PyList::new(py, values),
        }
    }

    fn int64<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let Values::Integers(values) = &self.find(name)?.values else {
            return Err(PyTypeError::new_err(format!("{name} holds no integers")));
        };
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.unwrap_or(i64::MIN).to_ne_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(|error| refuse(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol allows a producer to ignore the request; a consumer then casts.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}
