//! Updates Internet checksums so that they stay as right or as wrong as they were (RFC 1624).

/// A sum of 16-bit words in ones' complement, not yet folded.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let last = rest.first().map_or(0, |last| u64::from(*last) << 8);
    words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum::<u64>() + last
}

fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// A change of the bytes under a checksum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChecksumDelta {
    old: u64,
    new: u64,
}

impl ChecksumDelta {
    /// The change from `old` to `new` bytes.
    pub(super) fn of(old: &[u8], new: &[u8]) -> ChecksumDelta {
        ChecksumDelta { old: sum(old), new: sum(new) }
    }

    /// The sum of both changes.
    pub(super) fn and(self, other: ChecksumDelta) -> ChecksumDelta {
        ChecksumDelta { old: self.old + other.old, new: self.new + other.new }
    }

    /// The checksum after the change: valid if it was, and wrong by the same amount if it was not.
    pub(super) fn on(self, checksum: u16) -> u16 {
        let (old, new) = (folded(self.old), folded(self.new));
        if old == new {
            return checksum;
        }
        // RFC 1624 §3: HC' = ~(~HC + ~m + m').
        !folded(u64::from(!checksum) + u64::from(!old) + u64::from(new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_valid_is_valid_and_what_was_off_is_off_by_as_much() {
        let (old, new) = ([0x45, 0, 0x12, 0x34, 0xff], [0x45, 0, 0xfe, 0xdc, 0x01]);
        let valid = |bytes: &[u8]| !folded(sum(bytes));
        assert_eq!(ChecksumDelta::of(&old, &new).on(valid(&old)), valid(&new));
        assert_eq!(ChecksumDelta::of(&old, &new).on(valid(&old).wrapping_sub(7)), valid(&new).wrapping_sub(7));
        assert_eq!(ChecksumDelta::of(&old, &old).on(0xffff), 0xffff);
    }
}
