//! Replays of flows, unchanged and with changes.

use std::ffi::OsString;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tcpstall_core::engine;
use tcpstall_core::replay::{Change, OnLine, among, forecast, forecast_together};

use crate::errors;
use crate::options::{Keywords, names};

/// Changes by name, with values in base units; `None` for `auto`.
type Changes = Vec<(String, Option<i64>)>;

#[pyfunction]
#[pyo3(signature = (paths, flows, changes=vec![], *, since_ns=None, until_ns=None, max_expansion=None, sets=vec![], missing_before=vec![]))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn whatif(
    py: Python<'_>,
    paths: Vec<OsString>,
    flows: Vec<u64>,
    changes: Vec<Changes>,
    since_ns: Option<i64>,
    until_ns: Option<i64>,
    max_expansion: Option<u64>,
    sets: Vec<u32>,
    missing_before: Vec<usize>,
) -> PyResult<Vec<Option<String>>> {
    let paths = names(paths);
    let changes = changes.into_iter().map(known).collect::<PyResult<Vec<Vec<Change>>>>()?;
    let options = Keywords { since_ns, until_ns, max_expansion, sets, missing_before, ..Keywords::default() };
    let options = options.into_options(paths.len())?;
    let forecasts = py.detach(|| {
        let mut records = engine::records(&paths, &flows, &options)?;
        among(&mut records.iter_mut().flatten().collect::<Vec<_>>());
        Ok(records.iter().map(|record| record.as_ref().map(|record| forecast(record, &changes))).collect::<Vec<_>>())
    });
    let forecasts = forecasts.map_err(|error| errors::of_capture(&error))?;
    forecasts.iter().map(|forecast| forecast.as_ref().map(errors::json).transpose()).collect()
}

/// Replays of flows together that share a line: forecasts of those that are `changed`.
#[pyfunction]
#[pyo3(signature = (paths, flows, changed, changes, *, since_ns=None, until_ns=None, max_expansion=None, sets=vec![], missing_before=vec![]))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn whatif_together(
    py: Python<'_>,
    paths: Vec<OsString>,
    flows: Vec<u64>,
    changed: Vec<bool>,
    changes: Vec<Changes>,
    since_ns: Option<i64>,
    until_ns: Option<i64>,
    max_expansion: Option<u64>,
    sets: Vec<u32>,
    missing_before: Vec<usize>,
) -> PyResult<Vec<String>> {
    let paths = names(paths);
    let changes = changes.into_iter().map(known).collect::<PyResult<Vec<Vec<Change>>>>()?;
    let options = Keywords { since_ns, until_ns, max_expansion, sets, missing_before, ..Keywords::default() };
    let options = options.into_options(paths.len())?;
    let forecasts = py.detach(|| {
        let records = engine::records(&paths, &flows, &options)?;
        let both = records.iter().zip(&changed);
        let flows: Vec<OnLine<'_>> =
            both.filter_map(|(record, changed)| Some(OnLine { record: record.as_ref()?, changed: *changed })).collect();
        Ok(forecast_together(&flows, &changes))
    });
    let forecasts = forecasts.map_err(|error| errors::of_capture(&error))?;
    forecasts.iter().map(errors::json).collect()
}

fn known(changes: Changes) -> PyResult<Vec<Change>> {
    let one = |(name, value): (String, Option<i64>)| {
        Change::new(&name, value).ok_or_else(|| PyValueError::new_err(format!("no such change: {name}={value:?}")))
    };
    changes.into_iter().map(one).collect()
}
