//! Tests of every form of a packet line.

use super::{reading, segment, segments, v4};
use crate::packet_no::PacketNo;
use crate::seq::SeqNo;
use crate::wire::text::{Paste, TextLine};
use crate::wire::{Address, Flags, SackBlock, Timestamps};

#[test]
fn a_syn_is_read_whole() {
    let syn = segment(
        "10:45:49.051409 IP 192.168.247.130.44612 > 192.168.247.129.80: Flags [S], seq 2185246534, win 64240, \
         options [mss 1460,sackOK,TS val 997937981 ecr 0,nop,wscale 7], length 0",
    );
    assert_eq!(syn.packet, PacketNo(1));
    assert_eq!(syn.source, v4(192, 168, 247, 130, 44612));
    assert_eq!(syn.destination, v4(192, 168, 247, 129, 80));
    assert_eq!((syn.seq, syn.ack, syn.flags), (SeqNo(2_185_246_534), SeqNo(0), Flags::SYN));
    assert_eq!((syn.window, syn.payload, syn.sequence_length()), (64240, 0, 1));
    assert_eq!((syn.mss, syn.window_scale, syn.sack_permitted), (Some(1460), Some(7), true));
    assert_eq!(syn.timestamps, Some(Timestamps { value: 997_937_981, echo: 0 }));
    assert_eq!((syn.ip_id, syn.ttl, syn.options_cut), (None, None, false));
}

#[test]
fn flags_are_read_in_all_forms() {
    let flags = |text: &str, numbers: &str| {
        segment(&format!("10:00:00.000000 IP 10.0.0.1.1 > 10.0.0.2.2: Flags [{text}], {numbers}, win 9, length 0"))
            .flags
            .0
    };
    assert_eq!(flags("S", "seq 1"), 0x02);
    assert_eq!(flags("S.", "seq 1, ack 1"), 0x12);
    assert_eq!(flags(".", "ack 1"), 0x10);
    assert_eq!(flags("P.", "seq 1:9, ack 1"), 0x18);
    assert_eq!(flags("F.", "seq 1, ack 1"), 0x11);
    assert_eq!(flags("FP.", "seq 1:9, ack 1"), 0x19);
    assert_eq!(flags("R", "seq 1"), 0x04);
    assert_eq!(flags("R.", "seq 1, ack 1"), 0x14);
    assert_eq!(flags("SEW", "seq 1"), 0xc2);
    assert_eq!(flags("S.E", "seq 1, ack 1"), 0x52);
    assert_eq!(flags("none", "seq 1:9"), 0);
    let urgent = "10:00:00.0 IP 10.0.0.1.1 > 10.0.0.2.2: Flags [P.U], seq 5:6, ack 7, win 0, urg 1, length 1";
    assert_eq!((segment(urgent).flags.0, segment(urgent).payload), (0x38, 1));
}

#[test]
fn payload_comes_from_the_range_before_the_length() {
    let payload = |rest: &str| segment(&format!("10:00:00.0 IP 10.0.0.1.1 > 10.0.0.2.2: Flags [P.], {rest}")).payload;
    assert_eq!(payload("seq 1:148, ack 1, win 502, length 147: HTTP: GET /a?b&c > d: Flags [S] HTTP/1.1"), 147);
    assert_eq!(payload("seq 1:1449, ack 1, win 502, length 144"), 1448);
    assert_eq!(payload("seq 1:1449, ack 1, win 502, options [nop,nop, [|tcp]"), 1448);
    assert_eq!(payload("seq 4294967290:10, ack 1, win 502, length 16"), 16);
}

#[test]
fn two_lines_of_verbose_output_are_one_packet() {
    let head = "10:00:00.000000 IP (tos 0x0, ttl 63, id 39999, offset 0, flags [DF], proto TCP (6), length 60)";
    let body = "    10.0.0.1.1 > 10.0.0.2.2: Flags [S], cksum 0xcd74 (incorrect -> 0x0e82), seq 7, win 9, options [mss 1460], length 0";
    let mut paste = Paste::new();
    assert_eq!(paste.line(head.as_bytes()), TextLine::Remark);
    assert_eq!(paste.line(b""), TextLine::Remark);
    let TextLine::Segment(segment) = paste.line(body.as_bytes()) else { panic!("no segment") };
    assert_eq!((segment.packet, segment.ip_id, segment.ttl), (PacketNo(1), Some(39999), Some(63)));
    assert_eq!((segment.time.0, segment.seq, segment.mss), (36_000_000_000_000, SeqNo(7), Some(1460)));
    assert_eq!((paste.finish(), paste.packets(), paste.damaged()), (TextLine::Remark, 1, 0));
}

#[test]
fn a_first_line_without_its_second_is_damaged() {
    let head = b"10:00:00.000000 IP (tos 0x0, ttl 63, id 3, offset 0, flags [DF], proto TCP (6), length 60)";
    let mut paste = Paste::new();
    paste.line(head);
    assert_eq!(paste.line(head), TextLine::Remark);
    assert_eq!(paste.damaged(), 1);
    assert_eq!((paste.finish(), paste.damaged(), paste.packets()), (TextLine::Damaged, 2, 2));
}

#[test]
fn verbose_ipv6_stands_on_one_line() {
    let segment = segment(
        "10:00:00.0 IP6 (flowlabel 0x5ef0a, hlim 55, next-header TCP (6) payload length: 25) fe80::a.40000 > 2001:db8::2.443: \
         Flags [P.], cksum 0x0000 (incorrect -> 0x9884), seq 1000:1005, ack 777, win 502, length 5",
    );
    assert_eq!((segment.ttl, segment.ip_id, segment.payload), (Some(55), None, 5));
    assert_eq!(segment.source.address, Address(0xfe80 << 112 | 0xa));
    assert_eq!((segment.source.port, segment.destination.port), (40000, 443));
}

#[test]
fn link_layers_interfaces_and_tunnels_are_stepped_over() {
    let heads = [
        "IP",
        "eth0  In  IP",
        "ifb0  Out ifindex 2 00:16:3e:09:73:a9 ethertype IPv4 (0x0800), length 80:",
        "In  IP",
        "66:77:88:99:aa:bb > 00:11:22:33:44:55, ethertype IPv4 (0x0800), length 74:",
        "66:77:88:99:aa:bb (oui Unknown) > 00:11:22:33:44:55 (oui Unknown), ethertype IPv4 (0x0800), length 74:",
        "66:77:88:99:aa:bb > 00:11:22:33:44:55, ethertype 802.1Q (0x8100), length 78: vlan 100, p 0, ethertype IPv4 (0x0800),",
        "AF IPv4 (2), length 68:",
        "IP truncated-ip - 1386 bytes missing!",
        "IP 172.16.0.1 > 172.16.0.2: GREv0, length 49: IP",
        "MPLS (label 16, tc 0, [S], ttl 64) IP",
        "PPPoE  [ses 0x1] IP",
        "(en0, proc curl:123, svc BE, out) IP",
    ];
    for head in heads {
        let segment =
            segment(&format!("10:00:00.0 {head} 10.0.0.1.80 > 10.0.0.2.4000: Flags [.], ack 7, win 9, length 0"));
        assert_eq!((segment.source, segment.destination), (v4(10, 0, 0, 1, 80), v4(10, 0, 0, 2, 4000)), "{head}");
        assert_eq!(segment.ttl, None, "{head}");
    }
}

#[test]
fn a_tunnelled_segment_on_its_own_line_belongs_to_the_packet_before() {
    let mut paste = Paste::new();
    assert_eq!(
        paste.line(b"10:00:00.5 IP 10.0.0.1.999 > 10.0.0.2.4789: VXLAN, flags [I] (0x08), vni 1"),
        TextLine::NotTcp
    );
    let TextLine::Segment(inner) = paste.line(b"IP 10.9.0.1.4000 > 10.9.0.2.80: Flags [.], ack 7, win 9, length 0")
    else {
        panic!("no segment")
    };
    assert_eq!((inner.packet, inner.source), (PacketNo(1), v4(10, 9, 0, 1, 4000)));
    assert_eq!((paste.packets(), paste.damaged()), (1, 0));
    let mpls: [&[u8]; 3] = [
        b"10:00:00.6 MPLS (label 16, tc 0, [S], ttl 64)",
        b"\tIP (tos 0x0, ttl 61, id 9, offset 0, flags [DF], proto TCP (6), length 45)",
        b"    10.0.0.1.4000 > 10.0.0.2.80: Flags [.], ack 7, win 9, length 0",
    ];
    let TextLine::Segment(inner) = mpls.map(|line| paste.line(line))[2] else { panic!("no segment") };
    assert_eq!((inner.packet, inner.ttl, inner.ip_id), (PacketNo(2), Some(61), Some(9)));
}

#[test]
fn sack_blocks_and_odd_options_are_read() {
    let line = "10:00:00.0 IP 10.0.0.1.1 > 10.0.0.2.2: Flags [.], ack 100, win 9, options [mptcp 20 dss ack 1 seq 2 subseq 3 len 4,\
                tfo  cookie 0a0a,unknown-253 0x0101,nop,nop,sack 2 {200:300}{400:500},TS val 1 ecr 2], length 0";
    let segment = segment(line);
    let block = |left, right| SackBlock { left: SeqNo(left), right: SeqNo(right) };
    assert_eq!(segment.sack_blocks(), [block(200, 300), block(400, 500)]);
    assert_eq!((segment.timestamps, segment.options_cut), (Some(Timestamps { value: 1, echo: 2 }), false));
}

#[test]
fn options_that_end_early_are_marked_cut() {
    for options in [
        "options [mss 1460,nop,wscale 3,sackOK,nop,nop,[bad opt]]",
        "options [mss 1460, [|tcp]",
        "options [mss 1460,nop,nop,TS [|tcp]>",
        "options [mss 1460,nop,nop,TS val 12",
        "options [mss 1460,mptcp 12 capable[bad opt]",
        "options [mss 1460,sack 5 {1:2}{3:4}{5:6}{7:8}{9:10}], length 0",
    ] {
        let segment =
            segment(&format!("10:00:00.0 IP 10.0.0.1.1 > 10.0.0.2.2: Flags [S.], seq 5, ack 6, win 9, {options}"));
        assert_eq!((segment.options_cut, segment.mss, segment.timestamps), (true, Some(1460), None), "{options}");
    }
}

#[test]
fn old_tcpdump_is_read_too() {
    let lines = segments(&[
        "10:00:00.0 IP 10.0.0.1.4000 > 10.0.0.2.80: S 1000:1000(0) win 5840 <mss 1460,sackOK,timestamp 7 0,nop,wscale 2>",
        "10:00:00.1 IP 10.0.0.2.80 > 10.0.0.1.4000: S 9000:9000(0) ack 1001 win 5792 <mss 1460,nop,nop,timestamp 8 7>",
        "10:00:00.2 10.0.0.1.4000 > 10.0.0.2.80: . ack 1 win 46 (DF)",
        "10:00:00.3 IP (tos 0x0, ttl  64, id 7, offset 0, flags [DF], proto: TCP (6), length: 187) 10.0.0.1.4000 > 10.0.0.2.80: P, cksum 0x1 (correct), 1:148(147) ack 1 win 46",
        "10:00:00.4 IP 10.0.0.2.80 > 10.0.0.1.4000: . [tcp sum ok] ack 148 win 46 <nop,nop,sack sack 1 {200:300} >",
        "10:00:00.5 IP 10.0.0.2.80 > 10.0.0.1.4000: F 1:1(0) ack 148 win 46",
    ]);
    let shown: Vec<_> = lines.iter().map(|s| (s.seq.0, s.ack.0, s.flags.0, s.window, s.payload)).collect();
    assert_eq!(shown[..3], [(1000, 0, 0x02, 5840, 0), (9000, 1001, 0x12, 5792, 0), (1001, 9001, 0x10, 46, 0)]);
    assert_eq!(shown[3..], [(1001, 9001, 0x18, 46, 147), (9001, 1148, 0x10, 46, 0), (9001, 1148, 0x11, 46, 0)]);
    assert_eq!((lines[0].window_scale, lines[0].timestamps), (Some(2), Some(Timestamps { value: 7, echo: 0 })));
    assert_eq!((lines[3].ttl, lines[3].ip_id), (Some(64), Some(7)));
    assert_eq!(lines[4].sack_blocks(), [SackBlock { left: SeqNo(1200), right: SeqNo(1300) }]);
}

#[test]
fn other_packets_are_told_apart() {
    let timed = |rest: &str| reading(&format!("10:00:00.000000 {rest}"));
    assert_eq!(timed("IP 4.2.2.1.53 > 10.0.0.1.5: 45584 2/0/0 CNAME a.example., A 1.2.3.4 (78)"), TextLine::NotTcp);
    assert_eq!(timed("IP 10.0.0.1 > 10.0.0.2: ICMP echo request, id 1, seq 1, length 64"), TextLine::NotTcp);
    assert_eq!(timed("IP 10.0.0.1 > 10.0.0.2: ip-proto-6"), TextLine::NotTcp);
    assert_eq!(timed("IP6 fe80::1 > ff02::2: ICMP6, router solicitation, length 16"), TextLine::NotTcp);
    assert_eq!(timed("IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto UDP (17), length 60)"), TextLine::NotTcp);
    assert_eq!(timed("ARP, Request who-has 10.0.0.1 tell 10.0.0.2, length 46"), TextLine::NotIp);
    assert_eq!(timed("STP 802.1d, Config, Flags [none], bridge-id 8000.00, length 35"), TextLine::NotIp);
    assert_eq!(
        timed("66:77:88:99:aa:bb > ff:ff:ff:ff:ff:ff, ethertype ARP (0x0806), length 42: Request"),
        TextLine::NotIp
    );
    assert_eq!(timed("INFO server started"), TextLine::Remark);
}

#[test]
fn half_and_hostile_lines_are_damaged() {
    let whole =
        "10:00:00.0 IP 10.0.0.1.1 > 10.0.0.2.2: Flags [P.], seq 1:148, ack 1, win 502, options [nop], length 147";
    let (readable, _) = whole.split_once(" options").unwrap();
    for end in "10:00:00.0 IP 1".len()..readable.len() - 1 {
        assert_eq!(reading(&whole[..end]), TextLine::Damaged, "{}", &whole[..end]);
    }
    for rest in [
        "IP 10.0.0.1.1 > 10.0.0.2.2: tcp 1448",
        "IP 10.0.0.1.1 > 10.0.0.2.2:  [|tcp]",
        "IP 10.0.0.1.1 > 10.0.0.2.2: Flags [.], ack 99999999999, win 1, length 0",
        "IP 10.0.0.1.1 > 10.0.0.2.2: Flags [.], ack 1, win 70000, length 0",
        "IP 10.0.0.1.1 > 10.0.0.2.2: Flags [.], seq 9:1, ack 1, win 7, length 8",
        "IP 10.0.0.1.1 > 10.0.0.2.2: Flags [S], win 7, length 0",
        "IP 10.0.0.1.1 > 10.0.0.2.2: Flags [Q], seq 1, win 7, length 0",
        "IP 10.0.0.1.1 > 10.0.0.2.70000: Flags [S], seq 1, win 7, length 0",
        "IP 10.0.0.999.1 > 10.0.0.2.2: Flags [S], seq 1, win 7, length 0",
        "IP 10.0.0.1 > 10.0.0.2: Flags [S], seq 1, win 7, length 0",
        "IP fe80::1::2.1 > fe80::2.2: Flags [S], seq 1, win 7, length 0",
    ] {
        assert_eq!(reading(&format!("10:00:00.0 {rest}")), TextLine::Damaged, "{rest}");
    }
}
