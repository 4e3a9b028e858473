//! Tests of the same packet in every tunnel, in nested tunnels, cut and hostile.

use super::*;
use crate::wire::tunnel::tunnel;

/// `payload` in an IPv4 packet of that protocol from 192.0.2.1 to 192.0.2.2.
fn outer4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let header = [0x45, 0, high, low, 0, 9, 0, 0, 63, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    [&header[..], payload].concat()
}

/// `payload` in an IPv6 packet of that protocol from fd01:: to ::2.
fn outer6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ipv6(protocol, &[], payload)
}

fn udp(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let ports = [source.to_be_bytes(), destination.to_be_bytes()].concat();
    let length = (8 + payload.len() as u16).to_be_bytes();
    [&ports[..], &length, &[0, 0], payload].concat()
}

fn inner() -> [Vec<u8>; 2] {
    let segment = tcp(0x18, &TIMESTAMPS, 30);
    [ipv4(&segment), ipv6(6, &[], &segment)]
}

/// The reported tunnel path of the segment.
fn way(bytes: &[u8]) -> Option<String> {
    let wire_length = bytes.len() as u32;
    let frame = Frame { packet: PacketNo(1), time: Nanos(5), link: LinkType::RAW, bytes, wire_length };
    tunnel(&frame).map(|tunnel| tunnel.to_string())
}

/// Checks that the inner packet gives the same segment as alone, except for the mark, also where the capture cut it,
/// and that the tunnel path has that name.
fn carries(named: &str, outer: &[u8], packet: &[u8]) {
    let alone = whole(LinkType::RAW, packet).map(|segment| Segment { tunnelled: true, ..segment });
    assert!(alone.is_ok());
    assert_eq!(whole(LinkType::RAW, outer), alone, "{named}");
    assert_eq!(way(outer).as_deref(), Some(named));
    let ip_header = if packet[0] >> 4 == 4 { 20 } else { 40 };
    cuts_change_nothing(LinkType::RAW, outer, outer.len() - packet.len() + ip_header);
}

#[test]
fn ip_in_ip() {
    let [v4, v6] = inner();
    carries("IPIP 192.0.2.1 > 192.0.2.2", &outer4(4, &v4), &v4);
    carries("6in4 192.0.2.1 > 192.0.2.2", &outer4(41, &v6), &v6);
    carries("IPIP fd01:: > ::2", &outer6(4, &v4), &v4);
    carries("IPIP fd01:: > ::2", &outer6(41, &v6), &v6);
}

#[test]
fn gre_with_any_of_its_fields() {
    let [v4, v6] = inner();
    for (flags, fields) in [(0x00, 0), (0x80, 4), (0x10, 4), (0x90, 8)] {
        let header = [&[flags, 0, 8, 0][..], &vec![7; fields]].concat();
        carries("GRE 192.0.2.1 > 192.0.2.2", &outer4(47, &[&header[..], &v4].concat()), &v4);
    }
    for (flags, before, after) in [(0x20, 0, 0), (0xa0, 4, 0), (0x30, 0, 4), (0xb0, 4, 4)] {
        let key = [0, 0, 1, 2];
        let header = [&[flags, 0, 0x86, 0xdd][..], &vec![7; before], &key, &vec![7; after]].concat();
        carries("GRE 258 fd01:: > ::2", &outer6(47, &[&header[..], &v6].concat()), &v6);
    }
}

#[test]
fn gre_may_carry_ethernet_mpls_and_ppp() {
    let [v4, v6] = inner();
    let bridged = [&[0x20, 0, 0x65, 0x58, 0, 0, 9, 0][..], &ethernet(&v6)].concat();
    carries("GRE 2304 192.0.2.1 > 192.0.2.2", &outer4(47, &bridged), &v6);
    let labelled = [&[0, 0, 0x88, 0x47, 0, 0, 0x11, 9][..], &v4].concat();
    carries("GRE 192.0.2.1 > 192.0.2.2", &outer4(47, &labelled), &v4);
    let pptp = [&[0x30, 0x81, 0x88, 0x0b, 0, 99, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 3, 0, 0x21][..], &v4].concat();
    carries("PPTP 5 192.0.2.1 > 192.0.2.2", &outer4(47, &pptp), &v4);
}

#[test]
fn erspan_of_all_three_types() {
    let [v4, v6] = inner();
    let first = [&[0, 0, 0x88, 0xbe][..], &ethernet(&v4)].concat();
    carries("ERSPAN 192.0.2.1 > 192.0.2.2", &outer4(47, &first), &v4);
    let second = [&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0x64, 0xfc, 0x07, 0, 0, 0, 0][..], &ethernet(&v6)].concat();
    carries("ERSPAN 7 192.0.2.1 > 192.0.2.2", &outer4(47, &second), &v6);
    let third = [&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0x03, 0xff][..], &[0; 8]].concat();
    carries("ERSPAN 1023 192.0.2.1 > 192.0.2.2", &outer4(47, &[&third[..], &ethernet(&v4)].concat()), &v4);
    let mut with_platform = third.clone();
    with_platform[19] = 1;
    let with_platform = [&with_platform[..], &[3; 8], &ethernet(&v4)].concat();
    carries("ERSPAN 1023 192.0.2.1 > 192.0.2.2", &outer4(47, &with_platform), &v4);
    let mut bare = third;
    bare[18] = 2 << 2;
    carries("ERSPAN 1023 192.0.2.1 > 192.0.2.2", &outer4(47, &[&bare[..], &v6].concat()), &v6);
}

#[test]
fn vxlan_on_both_its_ports() {
    let [v4, v6] = inner();
    for (port, packet) in [(4789, &v4), (8472, &v6)] {
        let vxlan = [&[8, 0, 0, 0, 0, 0, 42, 0][..], &ethernet(packet)].concat();
        carries("VXLAN 42 192.0.2.1 > 192.0.2.2", &outer4(17, &udp(50_000, port, &vxlan)), packet);
        let elsewhere = outer4(17, &udp(50_000, 4790, &vxlan));
        assert_eq!(whole(LinkType::RAW, &elsewhere), Err(Skip::NotTcp));
        let without_network = [&[0; 8][..], &ethernet(packet)].concat();
        assert_eq!(whole(LinkType::RAW, &outer4(17, &udp(50_000, port, &without_network))), Err(Skip::NotTcp));
    }
}

#[test]
fn geneve_with_options_and_without() {
    let [v4, v6] = inner();
    let bridged = [&[0, 0, 0x65, 0x58, 0, 1, 0, 0][..], &ethernet(&v4)].concat();
    carries("Geneve 256 192.0.2.1 > 192.0.2.2", &outer4(17, &udp(9, 6081, &bridged)), &v4);
    let routed = [&[2, 0x40, 0x86, 0xdd, 0, 0, 7, 0][..], &[9; 8], &v6].concat();
    carries("Geneve 7 fd01:: > ::2", &outer6(17, &udp(9, 6081, &routed)), &v6);
}

#[test]
fn gtp_with_sequence_numbers_and_extensions() {
    let [v4, v6] = inner();
    let named = "GTP-U 4097 192.0.2.1 > 192.0.2.2";
    let plain = [&[0x30, 0xff, 0, 0, 0, 0, 0x10, 1][..], &v4].concat();
    carries(named, &outer4(17, &udp(2152, 2152, &plain)), &v4);
    let numbered = [&[0x32, 0xff, 0, 0, 0, 0, 0x10, 1, 0, 5, 0, 0][..], &v6].concat();
    carries(named, &outer4(17, &udp(2152, 31_000, &numbered)), &v6);
    let extended = [&[0x34, 0xff, 0, 0, 0, 0, 0x10, 1, 0, 0, 0, 0x85, 1, 0x10, 9, 0x40, 1, 0, 0, 0][..], &v4].concat();
    carries(named, &outer4(17, &udp(31_000, 2152, &extended)), &v4);
    let echo = [&[0x32, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0][..], &v4].concat();
    assert_eq!(whole(LinkType::RAW, &outer4(17, &udp(2152, 2152, &echo))), Err(Skip::NotTcp));
}

#[test]
fn ethernet_and_mpls_in_ip_and_an_authentication_header() {
    let [v4, v6] = inner();
    carries("EtherIP 192.0.2.1 > 192.0.2.2", &outer4(97, &[&[0x30, 0][..], &ethernet(&v4)].concat()), &v4);
    let labels = [0, 0, 0x10, 9, 0, 0, 0x21, 9];
    carries("MPLS 192.0.2.1 > 192.0.2.2", &outer4(137, &[&labels[..], &v6].concat()), &v6);
    carries("MPLS 192.0.2.1 > 192.0.2.2", &outer4(17, &udp(9, 6635, &[&labels[..], &v4].concat())), &v4);
    let authenticated = [&[4, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1][..], &[7; 12], &v4].concat();
    carries("IPIP 192.0.2.1 > 192.0.2.2", &outer4(51, &authenticated), &v4);
}

#[test]
fn tunnels_in_tunnels_are_named_from_the_inside_out() {
    let [v4, _] = inner();
    let vxlan = [&[8, 0, 0, 0, 0, 0, 42, 0][..], &ethernet(&v4)].concat();
    let gre = [&[0, 0, 8, 0][..], &outer4(17, &udp(9, 4789, &vxlan))].concat();
    let named = "VXLAN 42 192.0.2.1 > 192.0.2.2 in GRE fd01:: > ::2";
    carries(named, &outer6(47, &gre), &v4);
}

#[test]
fn an_endless_chain_of_tunnels_ends() {
    let [mut packet, _] = inner();
    for _ in 0..8 {
        packet = outer4(4, &packet);
    }
    assert!(whole(LinkType::RAW, &packet).is_ok());
    packet = outer4(4, &packet);
    assert_eq!(whole(LinkType::RAW, &packet), Err(Skip::NotTcp));
    assert_eq!(way(&packet), None);
}

#[test]
fn what_is_in_no_tunnel_has_no_way_and_no_mark() {
    for packet in inner() {
        assert_eq!(whole(LinkType::RAW, &packet).map(|segment| segment.tunnelled), Ok(false));
        assert_eq!(way(&packet), None);
    }
}

#[test]
fn other_contents_are_not_tcp() {
    let [v4, _] = inner();
    let arp = [&[0; 12][..], &[8, 6], &[0; 46]].concat();
    let keep_alive = [0, 0, 0, 0];
    let routed = [&[0x40, 0, 8, 0, 0, 0, 0, 0][..], &v4].concat();
    for outer in [
        outer4(47, &[&[0, 0, 0x65, 0x58][..], &arp].concat()),
        outer4(47, &keep_alive),
        outer4(47, &routed),
        outer4(17, &udp(53, 53, &v4)),
        outer4(50, &v4),
        outer6(58, &v4),
    ] {
        assert_eq!(whole(LinkType::RAW, &outer), Err(Skip::NotTcp));
    }
}

#[test]
fn lengths_left_zero_by_offload_are_taken_from_the_frame() {
    let mut packet = ipv4(&tcp(0x10, &[], 5_000));
    packet[2..4].fill(0);
    let mut outer = outer4(17, &udp(9, 4789, &[&[8, 0, 0, 0, 0, 0, 1, 0][..], &ethernet(&packet)].concat()));
    assert_eq!(whole(LinkType::RAW, &outer).map(|segment| segment.payload), Ok(5_000));
    outer[2..4].fill(0);
    assert_eq!(whole(LinkType::RAW, &outer).map(|segment| segment.payload), Ok(5_000));
}
