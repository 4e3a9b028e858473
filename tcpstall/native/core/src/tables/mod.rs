//! Results as rows, JSON, CSV and columns.

mod build;
mod busy;
mod ceiling;
mod climb;
pub mod columns;
pub mod compared;
mod disguise;
pub mod findings;
mod json;
pub mod ledger;
mod outcome;
mod pace;
pub mod path;
mod receiver;
pub mod repair;
pub mod round_trip;
pub mod rows;
pub mod services;
pub mod shown;
pub mod sort;
pub mod stored;
pub mod stream;
pub mod sums;
mod sweep;
pub mod syn;
pub mod totals;
pub mod trust;

pub use build::{Wanted, flow_row};
pub use ceiling::Ceiling;
pub use receiver::Receiver;
pub use rows::{BurstRow, Evidence, FlowRow, Side, StallRow};
