//! Any bytes as a capture written again: whole, without payload, and such that it may be shared. What was written is read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpstall_fuzz::copied;

fuzz_target!(|bytes: &[u8]| copied(bytes));
