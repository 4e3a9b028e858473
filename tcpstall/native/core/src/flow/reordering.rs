//! Segments that came later than segments sent after them, without having been sent again.

use crate::time::Nanos;

/// How many, and how far out of order at worst (RFC 4737 §4.2 measures the extent in the same ways).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reordering {
    /// Frames that were overtaken.
    pub segments: u32,
    /// Most bytes that overtook one.
    pub extent_bytes: i64,
    /// Longest time by which one came after the first frame that overtook it.
    pub extent: Nanos,
}

impl Reordering {
    /// A frame came after `overtaken_by` bytes sent later, the first of them `late` ago.
    pub fn record(&mut self, overtaken_by: i64, late: Option<Nanos>) {
        self.segments = self.segments.saturating_add(1);
        self.extent_bytes = self.extent_bytes.max(overtaken_by);
        self.extent = self.extent.max(late.unwrap_or_default());
    }
}
