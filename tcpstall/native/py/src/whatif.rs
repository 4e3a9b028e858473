//! Replays of flows, unchanged and with changes.

use std::ffi::OsString;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tcpstall_core::engine;
use tcpstall_core::replay::{Change, Forecast, OnLine, Record, among, forecast, forecast_together};

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

/// Replays of flows that share a line together, for each of several `lines` of flows: forecasts of those that are
/// changed. No forecast of the others, and of a flow that is not found.
#[pyfunction]
#[pyo3(signature = (paths, lines, changes, *, since_ns=None, until_ns=None, max_expansion=None, sets=vec![], missing_before=vec![]))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn whatif_together(
    py: Python<'_>,
    paths: Vec<OsString>,
    lines: Vec<Vec<(u64, bool)>>,
    changes: Vec<Changes>,
    since_ns: Option<i64>,
    until_ns: Option<i64>,
    max_expansion: Option<u64>,
    sets: Vec<u32>,
    missing_before: Vec<usize>,
) -> PyResult<Vec<Vec<Option<String>>>> {
    let paths = names(paths);
    let changes = changes.into_iter().map(known).collect::<PyResult<Vec<Vec<Change>>>>()?;
    let options = Keywords { since_ns, until_ns, max_expansion, sets, missing_before, ..Keywords::default() };
    let options = options.into_options(paths.len())?;
    let forecasts = py.detach(|| {
        let flows: Vec<u64> = lines.iter().flatten().map(|(flow, _)| *flow).collect();
        let mut records = engine::records(&paths, &flows, &options)?.into_iter();
        let told = lines.iter().map(|line| {
            let records: Vec<Option<Record>> = records.by_ref().take(line.len()).collect();
            let both = records.iter().zip(line);
            let on_line: Vec<OnLine<'_>> = both
                .filter_map(|(record, (_, changed))| Some(OnLine { record: record.as_ref()?, changed: *changed }))
                .collect();
            let mut told = forecast_together(&on_line, &changes).into_iter();
            let both = records.iter().zip(line);
            both.map(|(record, (_, changed))| if record.is_some() && *changed { told.next() } else { None })
                .collect::<Vec<_>>()
        });
        Ok(told.collect::<Vec<_>>())
    });
    let forecasts = forecasts.map_err(|error| errors::of_capture(&error))?;
    let texts =
        |line: &Vec<Option<Forecast>>| line.iter().map(|one| one.as_ref().map(errors::json).transpose()).collect();
    forecasts.iter().map(texts).collect()
}

fn known(changes: Changes) -> PyResult<Vec<Change>> {
    let one = |(name, value): (String, Option<i64>)| {
        Change::new(&name, value).ok_or_else(|| PyValueError::new_err(format!("no such change: {name}={value:?}")))
    };
    changes.into_iter().map(one).collect()
}
