//! Any bytes as a frame of every link type there is, with possible and impossible lengths on the wire.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpstall_core::capture::{Frame, LinkType};
use tcpstall_core::packet_no::PacketNo;
use tcpstall_core::time::Nanos;
use tcpstall_core::wire;

/// Above the numbers that the registry has given out.
const LINK_TYPES: u16 = 320;

fuzz_target!(|bytes: &[u8]| {
    let mut segment = wire::Segment::default();
    for link in 0..LINK_TYPES {
        for wire_length in [bytes.len() as u32, u32::MAX] {
            let frame = Frame { packet: PacketNo(1), time: Nanos(0), link: LinkType(link), bytes, wire_length };
            if let Ok(payload) = wire::decode_into(&frame, &mut segment) {
                assert!(payload.len() <= bytes.len());
                assert!(segment.sequence_length() >= segment.payload);
            }
        }
    }
});
