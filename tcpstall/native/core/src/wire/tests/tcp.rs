//! Tests of header fields and options of TCP.

use super::*;

fn read(flags: u8, options: &[u8]) -> Segment {
    let frame = ethernet(&ipv4(&tcp(flags, options, 3)));
    cuts_change_nothing(LinkType::ETHERNET, &frame, 34);
    whole(LinkType::ETHERNET, &frame).expect("TCP")
}

fn block(left: u32, right: u32) -> SackBlock {
    SackBlock { left: SeqNo(left), right: SeqNo(right) }
}

#[test]
fn the_fixed_fields_arrive_in_the_segment() {
    let segment = read(0x18, &[]);
    assert_eq!((segment.packet, segment.time), (PacketNo(1), Nanos(5)));
    assert_eq!((segment.source.port, segment.destination.port), (12345, 80));
    assert_eq!((segment.seq, segment.ack, segment.window), (SeqNo(0x100), SeqNo(0x200), 0x1000));
    assert_eq!((segment.flags, segment.payload), (Flags::PSH.with(Flags::ACK), 3));
    assert_eq!((segment.timestamps, segment.options_cut), (None, false));
}

#[test]
fn a_syn_carries_its_offers() {
    let options = [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 1, 3, 3, 14];
    let segment = read(0x02, &options);
    assert_eq!((segment.mss, segment.window_scale, segment.sack_permitted), (Some(1460), Some(14), true));
    assert_eq!(segment.timestamps, Some(Timestamps { value: 7, echo: 9 }));
    let later = read(0x10, &options);
    assert_eq!((later.mss, later.window_scale, later.sack_permitted), (None, None, false));
}

#[test]
fn timestamps_are_found_in_any_layout() {
    let expected = Some(Timestamps { value: 7, echo: 9 });
    assert_eq!(read(0x10, &TIMESTAMPS).timestamps, expected);
    assert_eq!(read(0x10, &[8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0]).timestamps, expected);
    let with_sack = [&TIMESTAMPS[..], &[1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2]].concat();
    assert_eq!(read(0x10, &with_sack).timestamps, expected);
    assert_eq!(read(0x10, &with_sack).sack_blocks(), [block(1, 2)]);
}

#[test]
fn sack_blocks_keep_their_order_and_there_are_at_most_four() {
    let mut options = vec![1, 1, 5, 34];
    for edge in [40u32, 50, 20, 30, 0, 10, u32::MAX, 5] {
        options.extend(edge.to_be_bytes());
    }
    let expected = [block(40, 50), block(20, 30), block(0, 10), block(u32::MAX, 5)];
    assert_eq!(read(0x10, &options).sack_blocks(), expected);
    let repeated = [&[5, 10, 0, 0, 0, 1, 0, 0, 0, 2].repeat(3)[..], &[5, 2, 5, 2, 1, 1]].concat();
    assert_eq!(read(0x10, &repeated).sack_blocks(), [block(1, 2); 3]);
}

#[test]
fn options_of_a_wrong_length_are_ignored_and_the_rest_is_read() {
    let segment = read(0x02, &[2, 3, 5, 5, 5, 1, 1, 1, 1, 3, 3, 2, 8, 4, 1, 1]);
    assert_eq!((segment.mss, segment.sack_count, segment.timestamps), (None, 0, None));
    assert_eq!(segment.window_scale, Some(2));
}

#[test]
fn options_end_at_the_end_mark_or_where_a_length_makes_no_sense() {
    for ends in [[0, 3, 3, 7], [9, 0, 0, 0], [9, 1, 0, 0], [9, 200, 0, 0]] {
        let segment = read(0x02, &[&ends[..], &[3, 3, 2, 0]].concat());
        assert_eq!((segment.window_scale, segment.options_cut), (None, false), "{ends:?}");
    }
}
