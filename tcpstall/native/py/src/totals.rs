//! Totals of a capture that goes on, and the boundary up to which it can be read.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tcpstall_core::capture;
use tcpstall_core::results::totals;
use tcpstall_core::time::Nanos;

use crate::errors;
use crate::report::Report;
use crate::table::Table;

/// Sums over the flows of reports so far.
#[pyclass(module = "tcpstall._core")]
pub(crate) struct Totals(totals::Totals);

#[pymethods]
impl Totals {
    #[new]
    fn new(top: usize) -> Totals {
        Totals(totals::Totals::new(top))
    }

    fn copy(&self) -> Totals {
        Totals(self.0.clone())
    }

    #[pyo3(signature = (report, *, whole=true))]
    fn add(&mut self, report: &Report, whole: bool) {
        report.rows().iter().filter(|row| whole || !row.goes_on).for_each(|row| self.0.add(row));
    }

    fn end_flows(&mut self) {
        self.0.end_flows();
    }

    fn forget_services(&mut self, before_ns: i64) {
        self.0.forget_services(Nanos(before_ns));
    }

    #[getter]
    fn services(&self) -> PyResult<Table> {
        Table::new(self.0.services())
    }

    #[getter]
    fn flows(&self) -> u64 {
        self.0.sums.flows
    }

    #[getter]
    fn open_flows(&self) -> u64 {
        self.0.open_flows()
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.0.sums.bytes
    }

    #[getter]
    fn time_ns(&self) -> Vec<(&'static str, i128)> {
        self.0.sums.time_ns().collect()
    }

    #[getter]
    fn further_flows(&self) -> u64 {
        self.0.further_flows()
    }

    #[getter]
    fn parts(&self) -> u64 {
        self.0.parts()
    }

    #[getter]
    fn trust_json(&self) -> PyResult<String> {
        errors::json(&self.0.trust)
    }

    fn worst(&self) -> Report {
        Report::of(self.0.flows())
    }

    fn report(&self) -> Report {
        Report::so_far(self.0.flows(), self.0.sums.clone())
    }
}

#[pyfunction]
pub(crate) fn whole_records(header: &[u8], records: &[u8]) -> PyResult<usize> {
    capture::whole_records(header, records)
        .ok_or_else(|| PyValueError::new_err("the header is not that of a pcap file"))
}
