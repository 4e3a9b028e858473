//! Limits the growth of compressed input, to stop a decompression bomb.

/// The largest accepted growth. Memory is bounded whatever the input grows to; this limit bounds the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// Largest ratio to the compressed size.
    pub(super) most: u64,
    /// Size to which every input may grow, bytes.
    pub(super) always: u64,
}

impl Expansion {
    /// Amount that takes a second or less to read, bytes.
    const ALWAYS: u64 = 1 << 30;

    /// Growth to `most` times the compressed size, and to a gigabyte in any case.
    pub const fn times(most: u64) -> Expansion {
        Expansion { most, always: Expansion::ALWAYS }
    }

    /// True if `unpacked` bytes are more than `packed` bytes may become.
    pub(super) fn exceeded(self, unpacked: u64, packed: u64) -> bool {
        unpacked > self.always.max(packed.saturating_mul(self.most))
    }
}

impl Default for Expansion {
    /// Captures of headers shrink to a tenth, transfers of zeros to a hundredth or less; the limit of gzip is 1032.
    fn default() -> Expansion {
        Expansion::times(1_000)
    }
}
