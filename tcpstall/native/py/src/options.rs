//! Converts keyword arguments into the core's options.

use std::ffi::OsString;
use std::net::IpAddr;
use std::num::NonZero;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tcpstall_core::anonymise::{Pseudonyms, Secret};
use tcpstall_core::capture::{Expansion, as_text};
use tcpstall_core::causes::Limits;
use tcpstall_core::engine::{Filter, Opener, RunOptions, Sets};
use tcpstall_core::results::Wanted;
use tcpstall_core::time::Nanos;
use tcpstall_core::wire::Address;

/// Common arguments of `analyze` and `write`.
#[derive(Default)]
pub(crate) struct Keywords {
    pub(crate) flows: Vec<u64>,
    pub(crate) hosts: Vec<String>,
    pub(crate) ports: Vec<u16>,
    pub(crate) since_ns: Option<i64>,
    pub(crate) until_ns: Option<i64>,
    pub(crate) min_stall_ns: i64,
    pub(crate) bursts: bool,
    pub(crate) link_bytes_per_s: Option<u64>,
    pub(crate) exchanges: bool,
    pub(crate) max_expansion: Option<u64>,
    pub(crate) secret: Option<Secret>,
    pub(crate) sets: Vec<u32>,
    pub(crate) missing_before: Vec<usize>,
    pub(crate) new_from: usize,
    pub(crate) packets_before: u64,
    pub(crate) known_packets: u64,
    pub(crate) names_only: usize,
    pub(crate) puts_down: bool,
    pub(crate) most_past: Option<usize>,
    pub(crate) threads: Option<usize>,
}

impl Keywords {
    /// The options for `inputs` inputs.
    pub(crate) fn into_options(self, inputs: usize) -> PyResult<RunOptions> {
        if !self.sets.is_empty() && self.sets.len() != inputs {
            return Err(PyValueError::new_err(format!("{} sets for {inputs} paths", self.sets.len())));
        }
        let threads = self.threads.map(|threads| {
            NonZero::new(threads).ok_or_else(|| PyValueError::new_err("at least one thread does the work"))
        });
        Ok(RunOptions {
            filter: Filter {
                flows: self.flows,
                hosts: self.hosts.iter().map(|host| network(host)).collect::<PyResult<_>>()?,
                ports: self.ports,
                since: self.since_ns.map(Nanos),
                until: self.until_ns.map(Nanos),
            },
            limits: Limits { link_bytes_per_s: self.link_bytes_per_s, ..Limits::default() },
            wanted: Wanted { bursts: self.bursts, exchanges: self.exchanges, least_stall: Nanos(self.min_stall_ns) },
            expansion: self.max_expansion.map_or_else(Expansion::default, Expansion::times),
            names: self.secret.as_ref().map(Pseudonyms::new),
            sets: Sets {
                of: self.sets,
                missing_before: self.missing_before,
                new_from: self.new_from,
                packets_before: self.packets_before,
                known_packets: self.known_packets,
                names_only: self.names_only,
                puts_down: self.puts_down,
                most_past: self.most_past,
            },
            opener: Opener::default(),
            threads: threads.transpose()?,
        })
    }
}

/// Names of inputs as the core takes them: Python represents bytes that are not UTF-8 as lone surrogates, which are
/// kept.
pub(crate) fn names(paths: Vec<OsString>) -> Vec<String> {
    paths.into_iter().map(as_text).collect()
}

/// The first and the last address of a network, `192.0.2.0/24`, or of one address.
pub(crate) fn network(text: &str) -> PyResult<(Address, Address)> {
    let Some((first, length)) = text.split_once('/') else { return address(text).map(|one| (one, one)) };
    let first = address(first)?;
    let (bits, offset) = if first.is_v4() { (32, 96) } else { (128, 0) };
    let length = length.parse::<u32>().ok().filter(|length| *length <= bits);
    let length = length.ok_or_else(|| PyValueError::new_err(format!("not a network: {text}")))?;
    let rest = u128::MAX.checked_shr(offset + length).unwrap_or(0);
    Ok((Address(first.0 & !rest), Address(first.0 | rest)))
}

pub(crate) fn address(text: &str) -> PyResult<Address> {
    match text.parse() {
        Ok(IpAddr::V4(address)) => Ok(Address::v4(address.octets())),
        Ok(IpAddr::V6(address)) => Ok(Address::v6(address.octets())),
        Err(_) => Err(PyValueError::new_err(format!("not an IP address: {text}"))),
    }
}
