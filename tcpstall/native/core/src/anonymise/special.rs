//! Addresses whose kind may be public: private, loopback, link-local, multicast.

/// A range of addresses that keeps its prefix, and so the path to it in the tree of all addresses.
struct Special {
    /// Its first address; IPv4 in the mapped form (RFC 4291 §2.5.5.2).
    first: u128,
    /// Number of bits that its addresses have in common.
    length: u32,
    /// Number of bits that each of its addresses keeps.
    kept: u32,
}

const fn v4(first: [u8; 4], length: u32, kept: u32) -> Special {
    Special { first: 0xffff_0000_0000 | u32::from_be_bytes(first) as u128, length: 96 + length, kept: 96 + kept }
}

const fn v6(first: u128, length: u32, kept: u32) -> Special {
    Special { first, length, kept }
}

/// Each range costs the addresses near it some bits, so there are few.
const SPECIAL: [Special; 16] = [
    // "This host" (RFC 1122 §3.2.1.3).
    v4([0, 0, 0, 0], 32, 32),
    // Private (RFC 1918 §3).
    v4([10, 0, 0, 0], 8, 8),
    v4([172, 16, 0, 0], 12, 12),
    v4([192, 168, 0, 0], 16, 16),
    // Loopback (RFC 1122 §3.2.1.3).
    v4([127, 0, 0, 0], 8, 32),
    // Link-local (RFC 3927).
    v4([169, 254, 0, 0], 16, 16),
    // Multicast (RFC 5771): the kind, and the well-known groups of the local network.
    v4([224, 0, 0, 0], 4, 4),
    v4([224, 0, 0, 0], 24, 32),
    // Limited broadcast (RFC 919 §7).
    v4([255, 255, 255, 255], 32, 32),
    // IPv4 in its mapped form has 32 bits of its own.
    v6(0xffff_0000_0000, 96, 96),
    // Unspecified and loopback (RFC 4291 §2.5.2, §2.5.3).
    v6(0, 127, 128),
    // Global unicast (RFC 4291 §2.4, as assigned by IANA).
    v6(0x2000 << 112, 3, 3),
    // Unique local (RFC 4193): the next bit shows that the rest is random.
    v6(0xfc00 << 112, 7, 8),
    // Link-local (RFC 4291 §2.5.6): 54 zeros follow the prefix.
    v6(0xfe80 << 112, 64, 64),
    // Multicast (RFC 4291 §2.7): flags and scope too, and the well-known groups of the local network.
    v6(0xff00 << 112, 8, 16),
    v6(0xff02 << 112, 112, 128),
];

/// True if bit `at` of the address stays as it is, which depends on the bits before it alone.
pub(super) fn keeps(address: u128, at: u32) -> bool {
    SPECIAL.iter().any(|special| {
        let alike = (address ^ special.first).leading_zeros();
        if at < special.length { alike >= at } else { alike >= special.length && at < special.kept }
    })
}
