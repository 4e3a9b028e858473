//! Any bytes through everything: read, followed, judged, written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpstall_fuzz::analyse;

fuzz_target!(|bytes: &[u8]| analyse(bytes));
