//! Sizes to set, for the advice in Python.

use pyo3::prelude::*;
use tcpstall_core::sender::sizes;

#[pyfunction]
#[pyo3(signature = (message_bytes, mss_bytes, *, window_bytes=None, path_bdp_bytes=None))]
pub(crate) fn initial_window(
    message_bytes: u64,
    mss_bytes: u64,
    window_bytes: Option<u64>,
    path_bdp_bytes: Option<u64>,
) -> (u64, &'static str) {
    let (segments, bound) = sizes::initial_window(message_bytes, mss_bytes, window_bytes, path_bdp_bytes);
    (segments, bound.name())
}

#[pyfunction]
pub(crate) fn so_sndbuf(flight_bytes: u64, mss_bytes: u64) -> u64 {
    sizes::so_sndbuf(flight_bytes, mss_bytes)
}

#[pyfunction]
pub(crate) fn faster_link(rate_bytes_per_s: u64) -> u64 {
    sizes::faster_link(rate_bytes_per_s)
}
