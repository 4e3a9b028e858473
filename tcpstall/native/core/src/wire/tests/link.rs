//! Tests of every link layer around the same packet.

use super::*;

/// Checks that the frame gives the same segment as the packet alone, cut or not.
fn carries(link: u16, header: &[u8], packet: &[u8]) {
    carries_tagged(link, 0, header, packet);
}

/// The same of a frame whose outermost tag has this VLAN; 0 for none.
fn carries_tagged(link: u16, vlan: u16, header: &[u8], packet: &[u8]) {
    let frame = [header, packet].concat();
    let ip_header = if packet[0] >> 4 == 4 { 20 } else { 40 };
    let bare = whole(LinkType::RAW, packet).map(|bare| Segment { vlan: VlanId::new(vlan), ..bare });
    assert!(bare.is_ok());
    assert_eq!(whole(LinkType(link), &frame), bare, "link type {link}, header {header:x?}");
    cuts_change_nothing(LinkType(link), &frame, header.len() + ip_header);
}

fn both_versions() -> [Vec<u8>; 2] {
    let segment = tcp(0x18, &TIMESTAMPS, 30);
    [ipv4(&segment), ipv6(6, &[], &segment)]
}

#[test]
fn raw_ip_has_five_numbers() {
    for link in [12, 14, 101, 228, 229] {
        for packet in both_versions() {
            carries(link, &[], &packet);
        }
    }
}

#[test]
fn ethernet_may_be_tagged_more_than_once() {
    let [v4, v6] = both_versions();
    let addresses = [0; 12];
    carries(1, &[&addresses[..], &[8, 0]].concat(), &v4);
    carries(1, &[&addresses[..], &[0x86, 0xdd]].concat(), &v6);
    carries_tagged(1, 5, &[&addresses[..], &[0x81, 0, 0, 5, 8, 0]].concat(), &v4);
    carries_tagged(1, 5, &[&addresses[..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd]].concat(), &v6);
    carries_tagged(1, 1, &[&addresses[..], &[0x91, 0, 0, 1, 0x91, 0, 0, 2, 0x81, 0, 0, 3, 8, 0]].concat(), &v4);
}

#[test]
fn a_tag_of_priority_alone_is_no_vlan() {
    let [v4, _] = both_versions();
    carries_tagged(1, 0, &[&[0; 12][..], &[0x81, 0, 0xe0, 0, 8, 0]].concat(), &v4);
    carries_tagged(1, 0xffe, &[&[0; 12][..], &[0x81, 0, 0xff, 0xfe, 8, 0]].concat(), &v4);
}

#[test]
fn ethernet_may_hold_llc_mpls_or_pppoe() {
    let [v4, v6] = both_versions();
    let addresses = [0; 12];
    carries(1, &[&addresses[..], &[0, 90, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat(), &v4);
    carries(1, &[&addresses[..], &[0x88, 0x47, 0, 0, 16, 9, 0, 0, 17, 9]].concat(), &v6);
    carries(1, &[&addresses[..], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 92, 0, 0x21]].concat(), &v4);
}

#[test]
fn ethernet_padding_is_no_payload() {
    let mut frame = ethernet(&ipv4(&tcp(0x10, &[], 0)));
    let unpadded = whole(LinkType::ETHERNET, &frame);
    frame.resize(60, 0x55);
    assert_eq!(whole(LinkType::ETHERNET, &frame), unpadded);
    assert_eq!(unpadded.map(|segment| segment.payload), Ok(0));
}

#[test]
fn loopback_families_come_in_both_byte_orders() {
    let [v4, v6] = both_versions();
    for link in [0, 108] {
        carries(link, &[0, 0, 0, 2], &v4);
        carries(link, &[2, 0, 0, 0], &v4);
        for family in [10, 24, 28, 30] {
            carries(link, &[0, 0, 0, family], &v6);
            carries(link, &[family, 0, 0, 0], &v6);
        }
    }
}

#[test]
fn cooked_captures_say_their_type_in_different_places() {
    let [v4, v6] = both_versions();
    carries(113, &[0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0], &v4);
    carries_tagged(113, 5, &[0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x81, 0, 0, 5, 0x86, 0xdd], &v6);
    carries(276, &[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0], &v4);
    carries_tagged(276, 5, &[0x81, 0, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0, 5, 8, 0], &v4);
    carries(276, &[0x86, 0xdd, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0], &v6);
}

#[test]
fn ppp_may_drop_its_framing_and_half_its_protocol() {
    let [v4, v6] = both_versions();
    for header in [&[0xff, 3, 0, 0x21][..], &[0, 0x21], &[0x21], &[0xff, 3, 0x21]] {
        carries(9, header, &v4);
    }
    carries(50, &[0xff, 3, 0, 0x57], &v6);
}

#[test]
fn fddi_holds_llc() {
    let [v4, _] = both_versions();
    let header = [0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    carries(10, &header, &v4);
}

#[test]
fn what_is_not_ip_is_said_to_be_so() {
    let not_ip = |link: u16, bytes: &[u8]| assert_eq!(whole(LinkType(link), bytes), Err(Skip::NotIp));
    let arp = [&[0; 12][..], &[8, 6], &[0; 46]].concat();
    let spanning_tree = [&[0; 12][..], &[0, 38, 0x42, 0x42, 3], &[0; 43]].concat();
    not_ip(1, &arp);
    not_ip(1, &spanning_tree);
    not_ip(0, &[0, 0, 0, 7, 0x45, 0, 0, 0]);
    not_ip(101, &[0x50; 60]);
    not_ip(113, &[0; 60]);
    not_ip(9, &[0xff, 3, 0xc0, 0x21, 1]);
    not_ip(147, &ipv4(&tcp(0x10, &[], 0)));
}

#[test]
fn ethernet_may_hold_a_pseudowire() {
    let [v4, v6] = both_versions();
    let addresses = [0; 12];
    let labels_and_control_word = [0, 0, 16, 9, 0, 0, 17, 9, 0, 0, 0, 0];
    for (packet, kind) in [(v4, [8, 0]), (v6, [0x86, 0xdd])] {
        let inner = [&addresses[..], &[0x81, 0, 0, 7], &kind].concat();
        carries(1, &[&addresses[..], &[0x88, 0x47], &labels_and_control_word, &inner].concat(), &packet);
    }
}

#[test]
fn ppp_comes_over_ethernet_alone_and_as_cisco_writes_it() {
    let [v4, v6] = both_versions();
    carries(51, &[0x11, 0, 0, 1, 0, 92, 0, 0x21], &v4);
    carries(51, &[0x11, 0, 0, 1, 0, 112, 0, 0x57], &v6);
    carries(104, &[0x0f, 0, 8, 0], &v4);
    carries(104, &[0x8f, 0, 0x86, 0xdd], &v6);
}

/// LLC and SNAP before IPv4 and IPv6.
const SNAP4: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
const SNAP6: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd];

/// An 802.11 header with that frame control and `more` further bytes.
fn wireless(control: [u8; 2], more: usize) -> Vec<u8> {
    [&control[..], &[0; 22], &vec![0; more]].concat()
}

#[test]
fn wireless_data_may_have_quality_of_service_four_addresses_and_aggregates() {
    let [v4, v6] = both_versions();
    carries(105, &[&wireless([0x08, 0x01], 0)[..], &SNAP4].concat(), &v4);
    carries(105, &[&wireless([0x88, 0x02], 2)[..], &SNAP6].concat(), &v6);
    carries(105, &[&wireless([0x08, 0x03], 6)[..], &SNAP4].concat(), &v4);
    carries(105, &[&wireless([0x88, 0x83], 12)[..], &SNAP4].concat(), &v4);
    let mut aggregate = wireless([0x88, 0x01], 2);
    aggregate[24] = 0x80;
    carries(105, &[&aggregate[..], &[0; 14], &SNAP4].concat(), &v4);
}

#[test]
fn wireless_frames_without_readable_data_are_not_ip() {
    let [v4, _] = both_versions();
    let mut fragment = wireless([0x08, 0x01], 0);
    fragment[22] = 1;
    // A beacon, an acknowledgement, null data, encrypted data, a later fragment.
    let headers =
        [wireless([0x80, 0], 0), wireless([0xd4, 0], 0), wireless([0x48, 1], 0), wireless([0x08, 0x41], 0), fragment];
    for header in headers {
        assert_eq!(whole(LinkType(105), &[&header[..], &SNAP4, &v4].concat()), Err(Skip::NotIp));
    }
}

#[test]
fn radiotap_and_ppi_come_before_wireless_frames() {
    let [v4, v6] = both_versions();
    let data = [&wireless([0x88, 0x02], 2)[..], &SNAP4].concat();
    carries(127, &[&[0, 0, 8, 0, 0, 0, 0, 0][..], &data].concat(), &v4);
    // The clock and the flags follow two words of fields; the flags say that the header is padded to four.
    let fields = [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x20];
    carries(127, &[&fields[..], &wireless([0x88, 0x02], 2), &[0, 0], &SNAP6].concat(), &v6);
    carries(192, &[&[0, 0, 12, 0, 105, 0, 0, 0, 9, 9, 9, 9][..], &data].concat(), &v4);
    carries(192, &[&[0, 0, 8, 0, 1, 0, 0, 0][..], &[0; 12], &[0x86, 0xdd]].concat(), &v6);
    assert_eq!(whole(LinkType(192), &[&[0, 0, 8, 0, 9, 0, 0, 0][..], &v4].concat()), Err(Skip::NotIp));
    assert_eq!(whole(LinkType(127), &[&[1, 0, 8, 0, 0, 0, 0, 0][..], &data, &v4].concat()), Err(Skip::NotIp));
}

#[test]
fn the_netfilter_log_holds_the_packet_among_attributes() {
    let [v4, v6] = both_versions();
    let mark = [8, 0, 1, 0, 0, 0, 0, 0, 5, 0, 10, 0, b'x', 0, 0, 0];
    for packet in [v4, v6] {
        let length = (4 + packet.len() as u16).to_le_bytes();
        carries(239, &[&[2, 0, 0, 0][..], &mark, &length, &[9, 0]].concat(), &packet);
    }
    assert_eq!(whole(LinkType(239), &[2, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 0]), Err(Skip::NotIp));
    assert_eq!(whole(LinkType(239), &[2, 0, 0, 0, 200, 0, 1, 0]), Err(Skip::CutShort));
}
