//! Orders in which flows are listed.

use super::rows::FlowRow;

/// An order of flows: the first criterion decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortOrder {
    /// Most time lost to stalls.
    Lost,
    /// Longest.
    Duration,
    /// Most bytes of both directions.
    Bytes,
    /// Earliest.
    Start,
    /// Most stalls.
    Stalls,
}

impl SortOrder {
    /// The order with this name.
    pub fn from_name(name: &str) -> Option<SortOrder> {
        match name {
            "lost" => Some(SortOrder::Lost),
            "duration" => Some(SortOrder::Duration),
            "bytes" => Some(SortOrder::Bytes),
            "start" => Some(SortOrder::Start),
            "stalls" => Some(SortOrder::Stalls),
            _ => None,
        }
    }

    /// Rank of a flow: the smallest comes first; of equal flows the lower id.
    pub fn place(self, row: &FlowRow) -> i64 {
        match self {
            SortOrder::Lost => row.lost().0.saturating_neg(),
            SortOrder::Duration => (row.start_ns - row.end_ns).0,
            SortOrder::Bytes => -((row.directions.client.bytes + row.directions.server.bytes) as i64),
            SortOrder::Start => row.start_ns.0,
            SortOrder::Stalls => -(row.stalls.len() as i64),
        }
    }

    /// Sorts the rows; equal ones stay in the order of their ids.
    pub fn sort(self, rows: &mut [FlowRow]) {
        rows.sort_by_key(|row| self.place(row));
    }
}
