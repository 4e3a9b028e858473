//! Results as rows, JSON, CSV and columns.

mod build;
pub mod columns;
pub mod ledger;
pub mod repair;
pub mod round_trip;
pub mod rows;
pub mod sort;
pub mod stream;
mod sweep;

pub use build::{Wanted, flow_row};
pub use rows::{BurstRow, Evidence, FlowRow, Side, StallRow};
