//! The Python extension module `tcpstall._core`: conversion only, no decision.

mod compared;
mod copy;
mod errors;
mod folder;
mod gathered;
mod keep;
mod labels;
mod options;
mod pair;
mod parquet;
mod peek;
mod pseudonyms;
mod report;
mod sizes;
mod source;
mod statuses;
mod table;
mod taps;
mod totals;
mod whatif;
mod words;
mod write;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::compared::{Compared, compared};
    #[pymodule_export]
    use super::copy::{Copied, copy};
    #[pymodule_export]
    use super::folder::folder;
    #[pymodule_export]
    use super::gathered::Gathered;
    #[pymodule_export]
    use super::pair::{Pairing, pair};
    #[pymodule_export]
    const BURSTS: &str = tcpstall_core::results::flow_row::loss_advice::BURSTS;
    #[pymodule_export]
    const EARLY_END: &str = tcpstall_core::results::flow_row::loss_advice::EARLY_END;
    #[pymodule_export]
    const FULL_QUEUE: &str = tcpstall_core::results::flow_row::loss_advice::FULL_QUEUE;
    #[pymodule_export]
    const NO_QUEUE: &str = tcpstall_core::results::flow_row::loss_advice::NO_QUEUE;
    #[pymodule_export]
    use super::parquet::parquet;
    #[pymodule_export]
    use super::peek::{Peek, peek};
    #[pymodule_export]
    use super::pseudonyms::pseudonyms;
    #[pymodule_export]
    use super::report::{Report, Written, analyze, samples, segments, stream_captures};
    #[pymodule_export]
    use super::sizes::{faster_link, initial_window, so_sndbuf};
    #[pymodule_export]
    const LEAST_SIZE: u64 = tcpstall_core::sender::sizes::LEAST_SIZE;
    #[pymodule_export]
    const SEGMENT_OVERHEAD: u64 = tcpstall_core::sender::sizes::SEGMENT_OVERHEAD;
    #[pymodule_export]
    use super::source::Unpacked;
    #[pymodule_export]
    use super::statuses::{CaptureStatus, CauseInfo, causes, owners, version};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::taps::two_taps;
    #[pymodule_export]
    use super::totals::{Totals, whole_records};
    #[pymodule_export]
    use super::whatif::{whatif, whatif_together};
    #[pymodule_export]
    use super::words::{replay_limits, vocabulary};
    #[pymodule_export]
    use super::write::write;
}
