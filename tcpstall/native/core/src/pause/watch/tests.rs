//! Tests of data that a flow's other end repeats.

use super::*;
use crate::seq::SeqNo;
use crate::wire::{Address, Endpoint};

const CLIENT: Endpoint = Endpoint { address: Address(1), port: 1_000 };
const SERVER: Endpoint = Endpoint { address: Address(2), port: 80 };

/// The client's request is acknowledged, and the answer has begun, at a tap far from the client.
fn answered() -> Watch {
    let mut segments = Vec::new();
    let mut send = |ms, back: bool, seq, ack, payload, flags| {
        let (source, destination) = if back { (SERVER, CLIENT) } else { (CLIENT, SERVER) };
        let time = Nanos::from_millis(ms);
        let (seq, ack) = (SeqNo(seq), SeqNo(ack));
        segments.push(Segment {
            time,
            source,
            destination,
            seq,
            ack,
            payload,
            flags,
            window: 500,
            ..Segment::default()
        });
    };
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
