//! Any bytes as the lines that tcpdump prints.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpstall_core::wire::text::{Paste, TextLine};

fuzz_target!(|bytes: &[u8]| {
    let mut paste = Paste::new();
    let lines = bytes.split(|byte| *byte == b'\n');
    let segments = lines.filter(|line| matches!(paste.line(line), TextLine::Segment(_))).count();
    paste.finish();
    // A tunnel's line can hold two.
    assert!(segments as u64 <= 2 * paste.packets());
});
