//! TCP sequence number: 32 bits that wrap, so a type without an order.

/// A position in a sender's sequence space (RFC 9293 §3.4). The type has no `Ord`: [`SeqNo::since`] gives the distance
/// between two positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SeqNo(pub u32);

impl SeqNo {
    /// Signed distance from `earlier` to `self`; correct while the two are within 2 GiB of each other.
    #[inline]
    pub const fn since(self, earlier: SeqNo) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }

    /// The number `length` positions further on.
    #[inline]
    pub const fn plus(self, length: u32) -> SeqNo {
        SeqNo(self.0.wrapping_add(length))
    }
}

#[cfg(test)]
mod tests {
    use super::SeqNo;

    #[test]
    fn distance_survives_the_wrap() {
        assert_eq!(SeqNo(5).since(SeqNo(u32::MAX)), 6);
        assert_eq!(SeqNo(u32::MAX).since(SeqNo(5)), -6);
        assert_eq!(SeqNo(u32::MAX).plus(6), SeqNo(5));
    }
}
