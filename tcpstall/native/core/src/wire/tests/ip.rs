//! Tests of lengths, fragments and extension headers of both IP versions.

use super::*;
use crate::wire::fragment::{Followed, Fragments};

fn payload(packet: &[u8]) -> Result<u32, Skip> {
    whole(LinkType::RAW, packet).map(|segment| segment.payload)
}

#[test]
fn any_frame_is_the_same_at_one_look_or_is_left_to_the_whole_way() {
    let sacks = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 9];
    for options in [&[][..], &TIMESTAMPS, &sacks] {
        let bytes = ethernet(&ipv4(&tcp(0x18, options, 9)));
        for kept in 0..=bytes.len() {
            for at in 0..kept {
                for byte in [0, 1, 0x20, 0x40, 0x45, 0x55, 0x80, bytes[at] ^ 1, bytes[at] ^ 0x10, 0xff] {
                    let mut other = bytes.clone();
                    other[at] = byte;
                    _ = cut(LinkType::ETHERNET, &other, kept);
                }
            }
        }
        let version_6 = ethernet(&ipv6(6, &[], &tcp(0x18, options, 9)));
        for (bytes, plain) in [(&bytes[..], true), (&bytes[..53], false), (&version_6[..], false)] {
            let (packet, time, link) = (PacketNo(1), Nanos(5), LinkType::ETHERNET);
            assert_eq!(at_one_look(&Frame { packet, time, link, bytes, wire_length: 99 }), plain);
        }
    }
}

#[test]
fn ipv4_fields_arrive_in_the_segment() {
    let segment = whole(LinkType::RAW, &ipv4(&tcp(0x10, &[], 9))).expect("TCP");
    assert_eq!(segment.source.address, Address::v4([10, 0, 0, 1]));
    assert_eq!(segment.destination.address.to_string(), "10.0.0.2");
    assert_eq!((segment.ip_id, segment.ttl, segment.payload), (Some(0x1234), Some(64), 9));
}

#[test]
fn ipv6_fields_arrive_in_the_segment() {
    let segment = whole(LinkType::RAW, &ipv6(6, &[], &tcp(0x10, &[], 9))).expect("TCP");
    assert_eq!(segment.source.address.to_string(), "fd01::");
    assert_eq!(segment.destination.address.to_string(), "::2");
    assert_eq!((segment.ip_id, segment.ttl, segment.payload), (None, Some(63), 9));
}

#[test]
fn ipv4_options_are_no_part_of_the_segment() {
    let mut packet = ipv4(&tcp(0x10, &TIMESTAMPS, 5));
    packet.splice(20..20, [1; 8]);
    packet[0] = 0x47;
    packet[3] += 8;
    cuts_change_nothing(LinkType::RAW, &packet, 28);
    assert_eq!(payload(&packet), Ok(5));
}

#[test]
fn offload_and_big_tcp_leave_the_length_to_the_frame() {
    for mut packet in [ipv4(&tcp(0x10, &TIMESTAMPS, 0)), ipv6(6, &[], &tcp(0x10, &TIMESTAMPS, 0))] {
        let (field, ip_header) = if packet[0] == 0x45 { (2..4, 20) } else { (4..6, 40) };
        packet[field].fill(0);
        let mut frame = ethernet(&packet);
        frame.resize(frame.len() + 200_000, 0);
        let segment = whole(LinkType::ETHERNET, &frame).expect("TCP");
        assert_eq!(segment.payload, 200_000);
        assert_eq!(cut(LinkType::ETHERNET, &frame, 14 + ip_header + 32), Ok(segment));
    }
}

#[test]
fn a_jumbogram_says_its_length_in_an_option() {
    let hop_by_hop = [6, 0, 0xc2, 4, 0, 1, 0x86, 0xa0];
    let mut packet = ipv6(0, &hop_by_hop, &tcp(0x10, &[], 0));
    packet[4..6].fill(0);
    assert_eq!(payload(&packet), Ok(100_000 - 8 - 20));
    packet[42..46].copy_from_slice(&[0, 1, 1, 0]);
    assert_eq!(payload(&packet), Ok(0), "padding is no jumbo length");
}

#[test]
fn ipv6_extension_headers_are_walked_and_not_counted() {
    let extensions = [
        [43, 0, 1, 4, 0, 0, 0, 0].as_slice(),
        &[60, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[44, 0, 1, 4, 0, 0, 0, 0],
        &[6, 99, 0, 0, 0, 0, 0, 1],
    ]
    .concat();
    let packet = ipv6(0, &extensions, &tcp(0x10, &TIMESTAMPS, 11));
    assert_eq!(payload(&packet), Ok(11));
    cuts_change_nothing(LinkType::RAW, &packet, 40 + extensions.len());
}

#[test]
fn a_first_fragment_is_read_and_a_later_one_is_not() {
    let mut first = ipv4(&tcp(0x18, &[], 12));
    first[6] = 0x20;
    assert_eq!(payload(&first), Ok(12));
    first[7] = 1;
    assert_eq!(payload(&first), Err(Skip::IpFragment));
    let segment = tcp(0x18, &[], 12);
    assert_eq!(payload(&ipv6(44, &[6, 0, 0, 1, 0, 0, 0, 1], &segment)), Ok(12));
    assert_eq!(payload(&ipv6(44, &[6, 0, 0, 9, 0, 0, 0, 1], &segment)), Err(Skip::IpFragment));
    assert_eq!(payload(&ipv6(44, &[17, 0, 0, 9, 0, 0, 0, 1], &segment)), Err(Skip::NotTcp));
}

#[test]
fn a_header_that_goes_on_in_the_next_fragment_has_cut_options() {
    let mut packet = ipv4(&tcp(0x02, &[2, 4, 5, 0xb4, 4, 2, 3, 3, 7, 0, 0, 0], 0));
    packet.truncate(44);
    packet[3] = 44;
    assert_eq!(payload(&packet), Err(Skip::CutShort), "no fragment: the lengths contradict each other");
    packet[6] = 0x20;
    let segment = whole(LinkType::RAW, &packet).expect("TCP");
    assert_eq!((segment.mss, segment.window_scale), (Some(1460), None));
    assert_eq!((segment.payload, segment.options_cut), (0, true));
}

#[test]
fn lengths_without_room_for_the_headers_are_refused() {
    let good = ipv4(&tcp(0x10, &[], 0));
    for (at, value) in [(0, 0x44), (0, 0x40), (0, 0x4f), (3, 1), (3, 19), (3, 39), (32, 0x40), (32, 0x60)] {
        let mut packet = good.clone();
        packet[at] = value;
        assert_eq!(payload(&packet), Err(Skip::CutShort), "{value:#x} at byte {at}");
    }
    let mut packet = ipv6(60, &[6, 0, 0, 0, 0, 0, 0, 0], &tcp(0x10, &[], 0));
    packet[5] = 4;
    assert_eq!(payload(&packet), Err(Skip::CutShort));
}

#[test]
fn other_protocols_are_not_tcp() {
    let mut udp = ipv4(&tcp(0x10, &[], 0));
    udp[9] = 17;
    assert_eq!(payload(&udp), Err(Skip::NotTcp));
    udp[7] = 9;
    assert_eq!(payload(&udp), Err(Skip::NotTcp), "a fragment of UDP is no fragment of TCP");
    assert_eq!(payload(&ipv6(58, &[], &tcp(0x10, &[], 0))), Err(Skip::NotTcp));
}

/// An IPv4 packet in fragments of `size` bytes each.
fn fragments4(packet: &[u8], size: usize) -> Vec<Vec<u8>> {
    let (header, body) = packet.split_at(20);
    let parts: Vec<&[u8]> = body.chunks(size).collect();
    let fragment = |(index, part): (usize, &&[u8])| {
        let mut fragment = [header, part].concat();
        let more = if index + 1 < parts.len() { 0x2000 } else { 0 };
        fragment[2..4].copy_from_slice(&(20 + part.len() as u16).to_be_bytes());
        fragment[6..8].copy_from_slice(&(more | (index * size / 8) as u16).to_be_bytes());
        fragment
    };
    parts.iter().enumerate().map(fragment).collect()
}

/// An IPv6 packet without extension headers in fragments of `size` bytes each.
fn fragments6(packet: &[u8], size: usize) -> Vec<Vec<u8>> {
    let (header, body) = packet.split_at(40);
    let parts: Vec<&[u8]> = body.chunks(size).collect();
    let fragment = |(index, part): (usize, &&[u8])| {
        let [o0, o1] = ((index * size) as u16 | u16::from(index + 1 < parts.len())).to_be_bytes();
        let mut fragment = [header, &[6, 0, o0, o1, 0, 0, 0, 9], part].concat();
        fragment[4..6].copy_from_slice(&(8 + part.len() as u16).to_be_bytes());
        fragment[6] = 44;
        fragment
    };
    parts.iter().enumerate().map(fragment).collect()
}

/// Offset, payload and flags of the segment from each packet.
fn followed(packets: &[Vec<u8>]) -> Vec<(u32, u32, u8)> {
    let (mut fragments, mut segment, mut found) = (Fragments::default(), Segment::default(), Vec::new());
    for bytes in packets {
        let wire_length = bytes.len() as u32;
        let frame = Frame { packet: PacketNo(1), time: Nanos(5), link: LinkType::RAW, bytes, wire_length };
        let brings = match decode_into(&frame, &mut segment) {
            Ok(_) => !segment.fragmented || fragments.begin(&frame, &mut segment),
            Err(Skip::IpFragment) => fragments.follow(&frame, &mut segment) != Followed::Nothing,
            Err(_) => false,
        };
        if brings {
            found.push((segment.seq.0 - 0x100, segment.payload, segment.flags.0));
        }
    }
    found
}

#[test]
fn later_fragments_bring_the_rest_of_the_segment() {
    let whole = tcp(0x19, &TIMESTAMPS, 100);
    for fragments in [fragments4(&ipv4(&whole), 56), fragments6(&ipv6(6, &[], &whole), 56)] {
        // Of 132 bytes each fragment has 56; in the first, 32 of them are the header. FIN and PSH come with the last
        // byte.
        assert_eq!(followed(&fragments), [(0, 24, 0x10), (24, 56, 0x10), (80, 20, 0x19)]);
        assert_eq!(followed(&fragments[1..]), [], "without the first nobody knows whose they are");
        let mut other = fragments.clone();
        let identification = if other[1][0] == 0x45 { 5 } else { 47 };
        other[1][identification] ^= 1;
        assert_eq!(followed(&other), [(0, 24, 0x10), (80, 20, 0x19)], "of another packet");
    }
}

#[test]
fn a_header_in_two_fragments_and_a_syn_with_data_keep_their_places() {
    let expected = [(0, 0, 0x10), (0, 16, 0x10), (16, 24, 0x10), (40, 24, 0x10), (64, 24, 0x10), (88, 12, 0x18)];
    assert_eq!(followed(&fragments4(&ipv4(&tcp(0x18, &TIMESTAMPS, 100)), 24)), expected);
    assert_eq!(followed(&fragments4(&ipv4(&tcp(0x02, &[], 20)), 24)), [(0, 4, 0x02), (5, 16, 0)]);
}

#[test]
fn so_many_segments_are_followed_at_once() {
    let packet = |number: u16| {
        let mut packet = ipv4(&tcp(0x10, &[], 36));
        packet[4..6].copy_from_slice(&number.to_be_bytes());
        fragments4(&packet, 24)
    };
    let (firsts, lasts): (Vec<_>, Vec<_>) = (0..100).map(packet).map(|both| (both[0].clone(), both[1].clone())).unzip();
    assert_eq!(followed(&[firsts, lasts].concat()).len(), 100 + 64);
}

#[test]
fn once_others_are_known_to_pass_a_segment_is_handed_on_when_it_is_whole() {
    let packet = |number: u8| {
        let mut packet = ipv4(&tcp(0x18, &TIMESTAMPS, 100));
        packet[5] = number;
        fragments4(&packet, 56)
    };
    let mut packets = [packet(1), packet(2), packet(3)].concat();
    let whole = (0, 100, 0x18);
    let split = [(0, 24, 0x10), (24, 56, 0x10), (80, 20, 0x18)];
    assert_eq!(followed(&packets), [&split[..], &[whole, whole]].concat());
    packets.swap(4, 5);
    assert_eq!(followed(&packets), [&split[..], &[whole, whole]].concat(), "in whatever order they pass");
    packets.remove(4);
    assert_eq!(followed(&packets), [&split[..], &[whole]].concat(), "what lacks a part is held");
}
