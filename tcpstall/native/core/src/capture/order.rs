//! Byte order of a capture file.

/// Byte order of the numbers in a file's own headers; packets are always in network order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    #[inline]
    pub(crate) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            ByteOrder::Little => u16::from_le_bytes(bytes),
            ByteOrder::Big => u16::from_be_bytes(bytes),
        }
    }

    #[inline]
    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        }
    }

    #[inline]
    pub(super) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The two 16-bit fields that share one word, in the order of the file.
    pub(super) fn halves(self, word: u32) -> [u16; 2] {
        match self {
            ByteOrder::Little => [word as u16, (word >> 16) as u16],
            ByteOrder::Big => [(word >> 16) as u16, word as u16],
        }
    }

    /// The first `N` 32-bit words, `None` where there are fewer.
    #[inline]
    pub(crate) fn words<const N: usize>(self, bytes: &[u8]) -> Option<[u32; N]> {
        let (words, _) = bytes.as_chunks::<4>();
        Some(words.first_chunk::<N>()?.map(|word| self.u32(word)))
    }

    /// The bytes of a 32-bit number in this order.
    pub(crate) fn bytes(self, number: u32) -> [u8; 4] {
        match self {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        }
    }

    /// The bytes of a 16-bit number in this order.
    pub(crate) fn short_bytes(self, number: u16) -> [u8; 2] {
        match self {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        }
    }
}
