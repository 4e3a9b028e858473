//! The Python extension module `tcpstall._core`: conversion only, no decision.

mod compared;
mod copy;
mod errors;
mod gathered;
mod keep;
mod labels;
mod options;
mod pair;
mod peek;
mod report;
mod source;
mod statuses;
mod table;
mod taps;
mod totals;
mod whatif;
mod write;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::compared::{Compared, compared};
    #[pymodule_export]
    use super::copy::{Copied, copy};
    #[pymodule_export]
    use super::gathered::Gathered;
    #[pymodule_export]
    use super::pair::{Pairing, pair};
    #[pymodule_export]
    use super::peek::{Peek, peek};
    #[pymodule_export]
    use super::report::{Report, Written, analyze, samples, segments, stream_captures};
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
    use super::whatif::whatif;
    #[pymodule_export]
    use super::write::write;
}
