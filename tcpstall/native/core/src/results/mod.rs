//! Results as rows, JSON, CSV and columns.

mod anonymise;
mod busy;
pub mod capture_trust;
mod ceiling;
mod climb;
pub mod columns;
pub mod compared;
pub mod days;
pub mod findings;
mod flow_row;
mod json;
pub mod known;
pub mod ledger;
mod lists;
mod notes;
pub mod numbers;
mod outcome;
mod outcome_advice;
mod pace;
pub mod parquet;
pub mod path;
mod receiver;
pub mod repair;
pub mod report;
pub mod room;
pub mod round_trip;
pub mod rows;
pub mod services;
pub mod sort;
pub mod stored;
pub mod sums;
mod sweep;
mod swing;
pub mod syn;
pub mod texts;
pub mod top_flows;
pub mod totals;
pub mod trust;
pub mod values;

pub use ceiling::Ceiling;
pub use flow_row::{Wanted, add_row, flow_row};
pub use lists::SpareLists;
pub use receiver::Receiver;
pub use rows::{BurstRow, Evidence, FlowRow, StallRow};

pub use crate::flow::{End, roles};
