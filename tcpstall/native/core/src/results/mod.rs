//! Results as rows, JSON, CSV and columns.

mod anonymise;
pub mod capture_trust;
pub mod columns;
pub mod compared;
pub mod days;
pub mod findings;
pub mod flow_row;
mod json;
pub mod ledger;
mod lists;
pub mod parquet;
pub mod report;
pub mod room;
pub mod rows;
pub mod services;
pub mod sort;
pub mod stored;
pub mod totals;

pub use flow_row::{Wanted, add_row, flow_row};
pub use lists::SpareLists;
pub use rows::ceiling::Ceiling;
pub use rows::evidence::{Evidence, RareEvidence};
pub use rows::receiver::Receiver;
pub use rows::{BurstRow, FlowRow, StallRow};

pub use crate::flow::End;
pub use crate::flow::connection::roles;
