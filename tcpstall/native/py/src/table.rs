//! Hands columns to Python: as an Arrow stream without a copy, as lists, or as raw integers.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use tcpstall_core::results::columns::known::Known;
use tcpstall_core::results::columns::values::Values;
use tcpstall_core::results::columns::{Column, Columns};

/// Columns of equal length, in batches of rows.
#[pyclass(frozen, module = "tcpstall._core")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(columns: Columns) -> PyResult<Table> {
        batch(columns).map(|batch| Table { schema: batch.schema(), batches: vec![batch] })
    }

    fn find(&self, name: &str) -> PyResult<Vec<&ArrayRef>> {
        let (index, _) = self.schema.column_with_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Ok(self.batches.iter().map(|batch| batch.column(index)).collect())
    }
}

fn refuse(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// The columns in Arrow's format, without a copy of their numbers and texts.
fn batch(columns: Columns) -> PyResult<RecordBatch> {
    let arrays =
        columns.into_iter().map(arrow_column).collect::<Result<Vec<_>, _>>().map_err(|error| refuse(&error))?;
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = arrays.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| refuse(&error))
}

fn arrow_column(column: Column) -> Result<(Field, ArrayRef), ArrowError> {
    let array: ArrayRef = match column.values {
        Values::Integers(numbers) => {
            let (all, known) = numbers.into_parts();
            Arc::new(Int64Array::try_new(all.into(), nulls(known))?)
        }
        Values::Reals(numbers) => {
            let (all, known) = numbers.into_parts();
            Arc::new(Float64Array::try_new(all.into(), nulls(known))?)
        }
        Values::Flags(values) => Arc::new(BooleanArray::from(values)),
        Values::Texts(texts) => {
            let (all, ends, known) = texts.into_parts();
            let last = ends.last().copied().unwrap_or_default();
            i32::try_from(last).map_err(|_| ArrowError::OffsetOverflowError(last))?;
            let offsets: Vec<i32> = std::iter::once(0).chain(ends).map(|end| end as i32).collect();
            let all = Buffer::from_vec(all.into_bytes());
            Arc::new(StringArray::try_new(OffsetBuffer::new(offsets.into()), all, nulls(known))?)
        }
    };
    Ok((Field::new(column.name.as_ref(), array.data_type().clone(), true), array))
}

fn nulls(known: Known) -> Option<NullBuffer> {
    let len = known.len();
    Some(NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(known.into_words()?), 0, len)))
}

fn append<'py>(list: &Bound<'py, PyList>, array: &ArrayRef) -> PyResult<()> {
    match array.data_type() {
        DataType::Int64 => array.as_primitive::<Int64Type>().iter().try_for_each(|value| list.append(value)),
        DataType::Float64 => array.as_primitive::<Float64Type>().iter().try_for_each(|value| list.append(value)),
        DataType::Boolean => array.as_boolean().iter().try_for_each(|value| list.append(value)),
        _ => array.as_string::<i32>().iter().try_for_each(|value| list.append(value)),
    }
}

#[pymethods]
impl Table {
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        self.find(name)?.into_iter().try_for_each(|array| append(&list, array))?;
        Ok(list)
    }

    fn int64<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::with_capacity(self.__len__() * size_of::<i64>());
        for array in self.find(name)? {
            let values = array
                .as_primitive_opt::<Int64Type>()
                .ok_or_else(|| PyTypeError::new_err(format!("{name} holds no integers")))?;
            bytes.extend(values.iter().flat_map(|value| value.unwrap_or(i64::MIN).to_ne_bytes()));
        }
        Ok(PyBytes::new(py, &bytes))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|error| refuse(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol allows a producer to ignore the request; the consumer then casts.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new(self.batches.clone().into_iter().map(Ok), self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}
