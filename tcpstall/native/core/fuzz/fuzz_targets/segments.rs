//! Segments of two connections in any order, at any time, with any numbers, through everything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpstall_fuzz::{analyse, capture_of};

fuzz_target!(|bytes: &[u8]| analyse(&capture_of(bytes)));
