//! Segments shorter than a full one, with and without the mark of the end of data.

use crate::wire::{Flags, Segment};

/// Segments shorter than a full one among the frames outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Short {
    /// Full segments only.
    #[default]
    None,
    /// None of the short ones has PSH: their sender may have had more to send, and a window cut them.
    Cut,
    /// One of the short ones has PSH: its sender's data ended with it (RFC 9293 §3.9.1.2).
    Ended,
}

impl Short {
    /// Classifies a frame of `bytes` new bytes. A full segment that repeats some data is none of the short ones.
    #[inline]
    pub(in crate::flow) fn of(segment: &Segment, bytes: u32, mss: u32) -> Short {
        match (bytes.is_multiple_of(mss) || segment.payload.is_multiple_of(mss), segment.flags.has(Flags::PSH)) {
            (true, _) => Short::None,
            (false, true) => Short::Ended,
            (false, false) => Short::Cut,
        }
    }

    /// A segment whose length neither a window nor any TCP options explain: a write of its own. What carries a FIN never
    /// waits (Linux `tcp_nagle_test`).
    pub(in crate::flow) fn is_brief(segment: &Segment, bytes: u32, mss: u32) -> bool {
        bytes + MOST_OPTIONS < mss && !segment.flags.has(Flags::FIN)
    }
}

/// Largest size of TCP options, bytes (RFC 9293 §3.1).
const MOST_OPTIONS: u32 = 40;
