//! Tests of data that a flow's other end repeats.

use super::*;
use crate::pause::Facts;
use crate::seq::SeqNo;
use crate::wire::{Address, Endpoint, SackBlock, Timestamps};

const CLIENT: Endpoint = Endpoint { address: Address(1), port: 1_000 };
const SERVER: Endpoint = Endpoint { address: Address(2), port: 80 };

fn segment(ms: i64, back: bool, seq: u32, ack: u32, payload: u32, flags: Flags) -> Segment {
    let (source, destination) = if back { (SERVER, CLIENT) } else { (CLIENT, SERVER) };
    let (time, seq, ack) = (Nanos::from_millis(ms), SeqNo(seq), SeqNo(ack));
    Segment { time, source, destination, seq, ack, payload, flags, window: 500, ..Segment::default() }
}

/// The client's request is acknowledged, and the answer has begun, at a tap far from the client.
fn answered() -> Watch {
    let mut segments = Vec::new();
    let mut send = |ms, back, seq, ack, payload, flags| segments.push(segment(ms, back, seq, ack, payload, flags));
    send(0, false, 0, 0, 0, Flags::SYN);
    send(0, true, 0, 1, 0, Flags::SYN.with(Flags::ACK));
    send(40, false, 1, 1, 0, Flags::ACK);
    send(40, false, 1, 1, 100, Flags::ACK);
    send(41, true, 1, 101, 1_000, Flags::ACK);
    send(90, false, 101, 1_001, 0, Flags::ACK);
    let mut watch = Watch::new(&segments[0]);
    segments.iter().for_each(|segment| _ = watch.sees(segment));
    watch
}

fn more(at_ms: i64, window: u16, ack: u32) -> Segment {
    let (time, seq, ack) = (Nanos::from_millis(at_ms), SeqNo(1_001), SeqNo(ack));
    let (source, destination, flags) = (SERVER, CLIENT, Flags::ACK);
    Segment { time, source, destination, seq, ack, window, payload: 1_000, flags, ..Segment::default() }
}

#[test]
fn data_that_acknowledges_what_is_known_leaves_nothing_to_be_heard() {
    let mut watch = answered();
    watch.sees(&more(91, 500, 101));
    assert!(!watch.connection.half(End::Client).awaits_acks());
    assert_eq!(watch.connection.half(End::Server).snd_nxt, 2_001);
}

#[test]
fn another_window_or_new_data_of_the_other_end_is_heard() {
    let mut watch = answered();
    watch.sees(&more(91, 501, 101));
    assert!(watch.connection.half(End::Client).awaits_acks());
    let mut watch = answered();
    let request = more(91, 500, 0);
    let (source, destination, seq, ack) = (CLIENT, SERVER, SeqNo(101), SeqNo(1_001));
    watch.sees(&Segment { source, destination, seq, ack, ..request });
    watch.sees(&more(92, 500, 101));
    assert!(watch.connection.half(End::Client).awaits_acks());
}

#[test]
fn a_hole_moves_with_the_acks_that_report_and_close_it() {
    let mut watch = answered();
    let reports = Segment {
        sack_count: 1,
        sack: [SackBlock { left: SeqNo(201), right: SeqNo(301) }; 4],
        ..segment(100, true, 1_001, 101, 0, Flags::ACK)
    };
    let beyond = segment(100, false, 201, 1_001, 100, Flags::ACK);
    let (fills, closes) =
        (segment(141, false, 101, 1_001, 100, Flags::ACK), segment(141, true, 1_001, 301, 0, Flags::ACK));
    let next = segment(2_000, false, 301, 1_001, 100, Flags::ACK);
    for seen in [beyond, reports, fills, closes, next, segment(2_000, true, 1_001, 401, 0, Flags::ACK)] {
        watch.sees(&seen);
    }
    let flow = Box::new(watch).finish();
    let pause = flow.pauses[End::Client].iter().find(|pause| pause.hole.is_some()).expect("a loss was repaired");
    let times = |pause: &Facts| pause.hole.map(|hole| (hole.reported, hole.until)).expect("it has a hole");
    let (before, later) = (times(&pause), |time: Option<Nanos>| time.map(|time| time + Nanos::from_millis(1)));
    assert!(before.1.is_some());
    let distance = pause.distance + Nanos::from_millis(1);
    assert_eq!(times(&pause.facts.clone().with_tap_at(distance)), (later(before.0), later(before.1)));
}

#[test]
fn an_ack_stored_late_leaves_the_frozen_pause_as_it_was() {
    let push = |ms, seq, payload| segment(ms, false, seq, 1, payload, Flags::ACK);
    let ack = |ms, ack| segment(ms, true, 1, ack, 0, Flags::ACK);
    let mut watch = Watch::new(&segment(0, false, 0, 0, 0, Flags::SYN));
    for (ms, back, seq, ack, flags) in
        [(0, false, 0, 0, Flags::SYN), (40, true, 0, 1, Flags::SYN.with(Flags::ACK)), (40, false, 1, 1, Flags::ACK)]
    {
        watch.sees(&segment(ms, back, seq, ack, 0, flags));
    }
    // The client's echo shows that it had heard an ACK which the capture holds after the data that this ACK released.
    let stamped = |segment: Segment, value, echo| Segment { timestamps: Some(Timestamps { value, echo }), ..segment };
    for seen in [
        stamped(push(100, 1, 1_000), 100, 90),
        stamped(ack(140, 1_001), 140, 100),
        stamped(push(150, 1_001, 1_000), 150, 140),
        stamped(push(200, 2_001, 1_000), 200, 190),
    ] {
        watch.sees(&seen);
    }
    let newest = |watch: &Watch| watch.builders[End::Client].pauses.newest().cloned().expect("200 ms end a pause");
    let before = newest(&watch);
    assert!(before.unseen.heard && before.left_in_flight > 0);
    watch.sees(&stamped(ack(201, 2_001), 190, 150));
    watch.sees(&stamped(ack(240, 3_001), 240, 200));
    assert_eq!(format!("{:?}", newest(&watch)), format!("{before:?}"));
    let later = watch.builders[End::Client].pauses.later().copied().expect("a later fact");
    assert_eq!(later.heard_bytes(), 1_000);
    let flow = Box::new(watch).finish();
    let settled = flow.pauses[End::Client].iter().find(|pause| pause.end == before.end).expect("it is long enough");
    assert_eq!((settled.acks, settled.left_in_flight, settled.unseen.heard), (before.acks + 1, 0, false));
}
