//! Tests of crossings of hand-made packets.

use super::arrival::Rest;
use super::crossing::{cross, in_time};
use super::tap::Passage;
use crate::seq::SeqNo;
use crate::wire::{Flags, Timestamps};

fn packet(number: u64, time_ms: i64, left: i64, length: u32) -> Passage {
    Passage {
        time: time_ms * 1_000_000,
        packet: number,
        left,
        length,
        seq: SeqNo(left as u32),
        ack: SeqNo(1),
        acked: Some(1),
        flags: Flags::ACK,
        window: 100,
        ip_id: None,
        ttl: None,
        timestamps: Some(Timestamps { value: time_ms as u32, echo: 0 }),
        sacks: 0,
    }
}

fn stamped(mut passage: Passage, value: u32) -> Passage {
    passage.timestamps = Some(Timestamps { value, echo: 0 });
    passage
}

#[test]
fn one_frame_is_many_packets_and_the_one_that_is_missing_is_named_by_its_bytes() {
    let sent = [packet(1, 0, 0, 4_000)];
    let seen = [0, 1_000, 3_000].map(|left| stamped(packet(left as u64, 10, left + 77, 1_000), 0));
    let crossing = cross(&sent, &seen, -77, &|_, _| Some(0));
    assert_eq!(crossing.arrivals.len(), 3);
    assert_eq!(crossing.unseen, [Rest { sent: 0, left: 2_000, right: 3_000, repair: None, seen_otherwise: false }]);
}

#[test]
fn the_stamp_tells_which_of_two_sendings_came() {
    let sent = [packet(1, 0, 0, 1_000), packet(2, 220, 0, 1_000)];
    let seen = [stamped(packet(1, 230, 0, 1_000), 220)];
    let crossing = cross(&sent, &seen, 0, &|_, _| Some(0));
    assert_eq!(crossing.arrivals[0].sent, 1);
    assert_eq!(crossing.unseen[0], Rest { sent: 0, left: 0, right: 1_000, repair: Some(1), seen_otherwise: true });
}

#[test]
fn without_a_stamp_the_sending_nearest_to_the_least_delay_came() {
    let sent = [0, 220, 300].map(|time| Passage { timestamps: None, ..packet(time as u64, time, 0, 1_000) });
    let seen = [Passage { timestamps: None, ..packet(1, 230, 0, 1_000) }];
    let crossing = cross(&sent, &seen, 0, &|sent, seen| in_time(sent, seen, 9_000_000));
    assert_eq!(crossing.arrivals[0].sent, 1);
}

#[test]
fn a_packet_that_comes_twice_is_a_copy_and_one_that_nobody_sent_is_told() {
    let sent = [packet(1, 0, 0, 1_000), packet(2, 0, 1_000, 1_000)];
    let seen = [(1, 0), (2, 0), (3, 1_000), (4, 9_000)].map(|(n, left)| stamped(packet(n, 10, left, 1_000), 0));
    let crossing = cross(&sent, &seen, 0, &|_, _| Some(0));
    assert_eq!((crossing.arrivals.len(), crossing.copies.len(), crossing.unsent), (2, 1, vec![3]));
    assert!(crossing.unseen.is_empty());
}

#[test]
fn many_packets_at_the_sender_are_one_at_a_receiver_that_merges_them() {
    let sent = [0, 1_000, 2_000].map(|left| packet(left as u64, 0, left, 1_000));
    let seen = [stamped(packet(1, 10, 0, 3_000), 0)];
    let crossing = cross(&sent, &seen, 0, &|_, _| Some(0));
    assert_eq!((crossing.arrivals.len(), crossing.unseen.len()), (1, 0));
}

#[test]
fn equal_acks_are_taken_in_turn_and_the_last_is_the_one_that_is_missing() {
    let sent = [packet(1, 0, 5, 0), packet(2, 0, 5, 0), packet(3, 0, 5, 0)];
    let seen = [stamped(packet(1, 10, 5, 0), 0), stamped(packet(2, 10, 5, 0), 0)];
    let crossing = cross(&sent, &seen, 0, &|_, _| Some(0));
    assert_eq!(crossing.arrivals.iter().map(|arrival| arrival.sent).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(crossing.unseen[0].sent, 2);
}
