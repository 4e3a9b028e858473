//! Tests of packets built byte by byte: through every link layer, cut at every byte, and hostile.

mod ip;
mod link;
mod tcp;
mod tunnel;

use super::{Address, Endpoint, Flags, SackBlock, Segment, Skip, Timestamps, VlanId, decode_into, plain};
use crate::capture::{Frame, LinkType};
use crate::packet_no::PacketNo;
use crate::seq::SeqNo;
use crate::time::Nanos;

const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9];

/// A TCP header with these options, followed by a payload.
fn tcp(flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
    assert_eq!(options.len() % 4, 0);
    let offset = (20 + options.len()) as u8 / 4 * 16;
    let fixed = [0x30, 0x39, 0, 80, 0, 0, 1, 0, 0, 0, 2, 0, offset, flags, 0x10, 0, 0, 0, 0, 0];
    [&fixed[..], options, &vec![0xab; payload]].concat()
}

/// `segment` in an IPv4 packet without options.
fn ipv4(segment: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + segment.len() as u16).to_be_bytes();
    let header = [0x45, 0, high, low, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&header[..], segment].concat()
}

/// `segment` in an IPv6 packet after these extension headers, the first of which is of type `next`.
fn ipv6(next: u8, extensions: &[u8], segment: &[u8]) -> Vec<u8> {
    let [high, low] = ((extensions.len() + segment.len()) as u16).to_be_bytes();
    let mut header = [0; 40];
    header[..8].copy_from_slice(&[0x60, 0, 0, 0, high, low, next, 63]);
    header[8..10].copy_from_slice(&[0xfd, 1]);
    header[39] = 2;
    [&header[..], extensions, segment].concat()
}

/// `packet` in an Ethernet frame.
fn ethernet(packet: &[u8]) -> Vec<u8> {
    let kind = if packet[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] };
    [&[0; 12], &kind[..], packet].concat()
}

/// A segment in VXLAN in GRE.
fn outer_vxlan() -> Vec<u8> {
    let inside = ethernet(&ipv4(&tcp(0x18, &TIMESTAMPS, 8)));
    let vxlan = [&[8, 0, 0, 0, 0, 0, 42, 0][..], &inside].concat();
    let udp = [&[0, 9, 0x12, 0xb5, 0, 8 + vxlan.len() as u8, 0, 0][..], &vxlan].concat();
    let mut middle = ipv4(&udp);
    middle[9] = 17;
    let mut outer = ipv4(&[&[0, 0, 8, 0][..], &middle].concat());
    outer[9] = 47;
    outer
}

/// The segment in a frame, by value.
fn decode(frame: &Frame<'_>) -> Result<Segment, Skip> {
    let mut segment = Segment::default();
    decode_into(frame, &mut segment).map(|_| segment)
}

/// Decodes the first `kept` bytes of a frame.
fn cut(link: LinkType, bytes: &[u8], kept: usize) -> Result<Segment, Skip> {
    let frame =
        Frame { packet: PacketNo(1), time: Nanos(5), link, bytes: &bytes[..kept], wire_length: bytes.len() as u32 };
    // A reused place must give the same result as a fresh one.
    let mut used = used();
    let decoded = decode(&frame);
    assert_eq!(decode_into(&frame, &mut used).map(|_| used), decoded);
    at_one_look(&frame);
    decoded
}

/// Checks that the fast path gives the same result as the general one; true if it reads the frame.
fn at_one_look(frame: &Frame<'_>) -> bool {
    let mut look = used();
    let Some(payload) = plain::read(frame, &mut look) else { return false };
    let mut whole = used();
    assert_eq!(decode_into(frame, &mut whole), Ok(payload));
    assert_eq!(look, whole);
    true
}

/// A segment in which every field differs from that of a fresh one.
fn used() -> Segment {
    let end = Endpoint { address: Address(7), port: 7 };
    Segment {
        packet: PacketNo(7),
        time: Nanos(7),
        source: end,
        destination: end,
        seq: SeqNo(7),
        ack: SeqNo(7),
        flags: Flags(7),
        window: 7,
        payload: 7,
        ip_id: Some(7),
        ttl: Some(7),
        vlan: VlanId::new(7),
        timestamps: Some(Timestamps { value: 7, echo: 7 }),
        mss: Some(7),
        window_scale: Some(7),
        sack_permitted: true,
        multipath: true,
        tunnelled: true,
        fragmented: true,
        goes_on: true,
        options_cut: true,
        sack_count: 4,
        sack: [SackBlock { left: SeqNo(7), right: SeqNo(7) }; 4],
    }
}

fn whole(link: LinkType, bytes: &[u8]) -> Result<Segment, Skip> {
    cut(link, bytes, bytes.len())
}

/// Cuts the frame at every byte: first nothing can be read, then the options are cut, then the result is that of the
/// whole frame.
fn cuts_change_nothing(link: LinkType, bytes: &[u8], before_tcp: usize) {
    let expected = whole(link, bytes).expect("the whole frame is read");
    let header = usize::from(bytes[before_tcp + 12] >> 4) * 4;
    for kept in 0..bytes.len() {
        match cut(link, bytes, kept) {
            Err(skip) => {
                assert_eq!(skip, Skip::CutShort, "{kept} bytes");
                assert!(kept < before_tcp + 20, "{kept} bytes");
            }
            Ok(segment) if kept < before_tcp + header => {
                let unread = Segment {
                    timestamps: segment.timestamps,
                    mss: segment.mss,
                    window_scale: segment.window_scale,
                    sack_permitted: segment.sack_permitted,
                    multipath: segment.multipath,
                    sack_count: segment.sack_count,
                    sack: segment.sack,
                    options_cut: true,
                    ..expected
                };
                assert_eq!(segment, unread, "{kept} bytes");
            }
            Ok(segment) => assert_eq!(segment, expected, "{kept} bytes"),
        }
    }
}

#[test]
fn hostile_bytes_never_panic() {
    // xorshift: the same bytes on every machine
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let seeds = [
        ethernet(&ipv4(&tcp(0x12, &TIMESTAMPS, 8))),
        ethernet(&outer_vxlan()),
        ethernet(&ipv6(0, &[43, 0, 1, 4, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0], &tcp(0x10, &TIMESTAMPS, 8))),
    ];
    let links = [0, 1, 9, 10, 12, 51, 104, 105, 108, 113, 127, 192, 239, 276].map(LinkType);
    for round in 0..200_000 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..1 + random() % 4 {
            let at = random() as usize % bytes.len();
            bytes[at] = random() as u8;
        }
        let link = links[random() as usize % links.len()];
        let kept = random() as usize % (bytes.len() + 1);
        let frame =
            Frame { packet: PacketNo(1), time: Nanos(0), link, bytes: &bytes[..kept], wire_length: random() as u32 };
        if let Ok(segment) = decode(&frame) {
            assert_eq!(segment.tunnelled, super::tunnel::tunnel(&frame).is_some());
            assert!(segment.sack_count <= 4);
        }
    }
}
