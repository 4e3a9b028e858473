//! Counts reordered segments: they came later than segments sent after them, and are no retransmissions.

use crate::time::Nanos;

/// Number of reordered segments and their largest reordering (RFC 4737 §4.2 measures the extent in the same ways).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reordering {
    /// Frames that were overtaken.
    pub segments: u32,
    /// Largest number of bytes that overtook a frame.
    pub extent_bytes: i64,
    /// Longest delay of a frame behind the first frame that overtook it.
    pub extent: Nanos,
}

impl Reordering {
    /// Takes in a frame that came after `overtaken_by` bytes sent later, the first of them `late` ago.
    pub fn record(&mut self, overtaken_by: i64, late: Option<Nanos>) {
        self.segments = self.segments.saturating_add(1);
        self.extent_bytes = self.extent_bytes.max(overtaken_by);
        self.extent = self.extent.max(late.unwrap_or_default());
    }
}
