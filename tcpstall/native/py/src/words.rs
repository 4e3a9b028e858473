//! The core's vocabulary, each list as the core has it.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use tcpstall_core::capture::{Compression, Format, LinkType};
use tcpstall_core::replay::change::NAMES;
use tcpstall_core::replay::recover::Refusal;
use tcpstall_core::replay::{forecast, record};
use tcpstall_core::results::rows::trust::Reason;
use tcpstall_core::wire::tunnel::TunnelProtocol;

#[pyfunction]
pub(crate) fn vocabulary() -> BTreeMap<&'static str, Vec<String>> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    BTreeMap::from([
        ("changes", owned(&NAMES)),
        ("compressions", Compression::ALL.iter().map(|one| one.name().to_owned()).collect()),
        ("formats", Format::ALL.iter().map(|one| one.name().to_owned()).collect()),
        ("link_types", LinkType::ALL.iter().map(|one| one.name().into_owned()).collect()),
        ("refusals", Refusal::ALL.iter().map(|one| one.name().to_owned()).collect()),
        ("trust_reasons", Reason::ALL.iter().map(|one| one.name().to_owned()).collect()),
        ("tunnels", TunnelProtocol::ALL.iter().map(|one| one.name().to_owned()).collect()),
    ])
}

#[pyfunction]
pub(crate) fn replay_limits() -> (usize, usize, u64) {
    (record::MOST_KEPT, record::MOST_KEPT_TOGETHER, forecast::MOST_EVENTS)
}
