//! Writes columns that Python holds as Parquet.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tcpstall_core::results::columns::Column;
use tcpstall_core::results::columns::values::Values;
use tcpstall_core::results::parquet::File;

#[pyfunction]
pub(crate) fn parquet<'py>(
    py: Python<'py>,
    columns: Vec<(String, bool, Bound<'py, PyAny>)>,
    about: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let columns = columns.into_iter().map(|(name, is_text, given)| {
        let values = if is_text {
            Values::Texts(given.extract::<Vec<Option<String>>>()?.iter().map(Option::as_deref).collect())
        } else {
            Values::Integers(given.extract::<Vec<Option<i64>>>()?.into_iter().collect())
        };
        Ok(Column { name: name.into(), values })
    });
    let columns = columns.collect::<PyResult<Vec<Column>>>()?;
    let content = py.detach(|| {
        let mut file = File::with(about);
        file.add(&columns);
        file.finish()
    });
    Ok(PyBytes::new(py, &content))
}
