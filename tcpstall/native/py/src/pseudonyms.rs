//! Pseudonyms of addresses that Python has.

use std::net::IpAddr;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tcpstall_core::anonymise::{Pseudonyms, Secret};
use tcpstall_core::wire::Address;

#[pyfunction]
pub(crate) fn pseudonyms(secret: Secret, addresses: Vec<String>) -> PyResult<Vec<String>> {
    let names = Pseudonyms::new(&secret);
    let named = |text: &String| {
        let address: IpAddr = text.parse().map_err(|_| PyValueError::new_err(format!("no IP address: {text}")))?;
        let bits = match address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        Ok(names.address(Address(bits.to_bits())).to_string())
    };
    addresses.iter().map(named).collect()
}
