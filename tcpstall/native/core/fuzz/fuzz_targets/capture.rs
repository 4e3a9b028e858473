//! Any bytes as a capture: read at once and in drips, with signals between, which must come to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpstall_fuzz::taken;

fuzz_target!(|bytes: &[u8]| {
    let whole = taken(bytes, usize::MAX);
    let few = 1 + usize::from(bytes.last().copied().unwrap_or(0) & 0x3f);
    assert_eq!(whole, taken(bytes, few), "the size of reads must not matter");
});
