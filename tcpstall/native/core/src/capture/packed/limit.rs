//! How much a compressed input may grow: what stops a decompression bomb.

/// The largest growth that is believed. Memory is bounded whatever the input grows to; this bounds the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// So many times the compressed size.
    pub(super) most: u64,
    /// Inputs may grow to so many bytes at any rate.
    pub(super) always: u64,
}

impl Expansion {
    /// What takes a second or less to read, bytes.
    const ALWAYS: u64 = 1 << 30;

    /// To `most` times the compressed size, and to a gigabyte whatever it is.
    pub const fn times(most: u64) -> Expansion {
        Expansion { most, always: Expansion::ALWAYS }
    }

    /// True if `unpacked` bytes are more than `packed` ones may become.
    pub(super) fn exceeded(self, unpacked: u64, packed: u64) -> bool {
        unpacked > self.always.max(packed.saturating_mul(self.most))
    }
}

impl Default for Expansion {
    /// Captures of headers shrink to a tenth, transfers of zeros to a hundredth or less; gzip can do no more than 1032.
    fn default() -> Expansion {
        Expansion::times(1_000)
    }
}
