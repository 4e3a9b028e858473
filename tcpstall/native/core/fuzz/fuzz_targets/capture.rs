//! Any bytes as a capture: read at once and in drips, with signals between, which must come to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpstall_fuzz::taken;

/// How compressed input begins: gzip, zstd and its skippable frames, xz, bzip2, lz4.
const PACKED: [&[u8]; 6] =
    [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18", b"\xfd7zXZ", b"BZh", b"\x04\x22\x4d\x18"];

fuzz_target!(|bytes: &[u8]| {
    let whole = taken(bytes, usize::MAX);
    let few = 1 + usize::from(bytes.last().copied().unwrap_or(0) & 0x3f);
    let drips = taken(bytes, few);
    // How much comes out of damaged compressed data before the damage shows depends on how much was read of it.
    let packed = PACKED
        .iter()
        .any(|magic| bytes.starts_with(magic) || bytes.get(1..).is_some_and(|rest| rest.starts_with(magic)));
    assert!(
        whole == drips || (packed && whole.error.is_some()),
        "the size of reads must not matter: {whole:?}, {drips:?}"
    );
});
