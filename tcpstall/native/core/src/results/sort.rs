//! Orders in which flows are listed.

use super::findings::waited_and_idle;
use super::rows::FlowRow;

/// An order of flows: the first criterion decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortOrder {
    /// Most time in which somebody waited; of flows in which nobody did, most time lost.
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
    pub fn place(self, row: &FlowRow) -> (i64, i64) {
        let first = match self {
            SortOrder::Lost => return (-waited_and_idle(row).0.0, -row.lost().0),
            SortOrder::Duration => (row.start_ns - row.end_ns).0,
            SortOrder::Bytes => -((row.directions.client.bytes + row.directions.server.bytes) as i64),
            SortOrder::Start => row.start_ns.0,
            SortOrder::Stalls => -(row.stalls.len() as i64),
        };
        (first, 0)
    }

    /// The same or a smaller rank, which costs next to nothing.
    pub fn at_best(self, row: &FlowRow) -> (i64, i64) {
        let longest = || ((row.start_ns - row.end_ns).0, i64::MIN);
        if self == SortOrder::Lost { longest() } else { self.place(row) }
    }

    /// Places of the rows in that order; equal ones stay in theirs.
    pub fn order(self, rows: &[FlowRow]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_cached_key(|&index| self.place(&rows[index]));
        order
    }

    /// Sorts the rows; equal ones stay in the order of their ids.
    pub fn sort(self, rows: &mut [FlowRow]) {
        rows.sort_by_cached_key(|row| self.place(row));
    }
}
