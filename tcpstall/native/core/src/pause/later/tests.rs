//! Tests of later facts: each settles its own part of the pause, and leaves the frozen one as it was.

use super::*;
use crate::flow::End;
use crate::pause::Watch;
use crate::pause::evidence::repair::PauseRepairs;
use crate::seq::SeqNo;
use crate::wire::{Address, Endpoint, Flags, Segment};

const END: Nanos = Nanos::from_millis(60);

/// A pause that data ended with 1,000 bytes in flight, after two packets that seemed lost, with a hole and a repair.
fn frozen() -> Facts {
    let end = |host: u8, port: u16| Endpoint { address: Address::v4([10, 0, 0, host]), port };
    let data = |ms: i64, seq: u32| Segment {
        time: Nanos::from_millis(ms),
        source: end(1, 1_000),
        destination: end(2, 80),
        flags: Flags::ACK,
        seq: SeqNo(seq),
        payload: 1_000,
        window: 500,
        ..Segment::default()
    };
    let mut watch = Box::new(Watch::new(&data(0, 1)));
    [data(0, 1), data(60, 1_001)].iter().for_each(|segment| _ = watch.sees(segment));
    let flow = watch.finish();
    let pause = flow.pauses[End::Client].iter().next().expect("data after 60 ms ends a pause");
    assert_eq!((pause.end, pause.left_in_flight), (END, 1_000));
    Facts {
        lost_before_tap: 2,
        short_segment_left: true,
        hole: Some(Hole { since: Nanos::from_millis(10), until: None, reported: None, filled: false }),
        repair: Some(Box::new(PauseRepairs { sent: 2, ..PauseRepairs::default() })),
        unseen: Unseen { heard: true, ..pause.unseen },
        ..pause.facts.clone()
    }
}

/// The settled pause after one later fact.
fn settled(later: Later) -> Facts {
    later.added_to(frozen())
}

fn about() -> Later {
    Later::about(0)
}

#[test]
fn no_fact_changes_nothing() {
    assert_eq!(format!("{:?}", settled(about())), format!("{:?}", frozen()));
}

#[test]
fn packets_that_were_only_late_are_not_lost() {
    let lost = |not_lost: u32| settled(Later { not_lost, ..about() }).lost_before_tap;
    assert_eq!([0, 1, 2, 3].map(lost), [2, 1, 0, 0]);
}

#[test]
fn bytes_that_nobody_sent_again_are_missing_from_the_capture_alone() {
    assert!(!frozen().unseen.before_next);
    assert!(settled(Later { unseen_before_next: true, ..about() }).unseen.before_next);
}

#[test]
fn an_ack_stored_late_ended_the_pause() {
    let heard = |bytes: i64| settled(Later { heard: Some((bytes, PacketNo(9))), ..about() });
    let (part, whole) = (heard(400), heard(1_000));
    for pause in [&part, &whole] {
        assert_eq!((pause.acks, pause.last_ack, pause.last_ack_packet), (1, Some(END), Some(PacketNo(9))));
        assert!(pause.released_by_ack() && !pause.unseen.heard);
    }
    assert_eq!((part.acked, part.left_in_flight, part.short_segment_left, part.all_acked), (400, 600, true, None));
    assert_eq!((whole.acked, whole.left_in_flight, whole.short_segment_left), (1_000, 0, false));
    assert_eq!(whole.all_acked, Some(END), "the ACK of everything");
}

#[test]
fn a_hole_is_reported_or_it_was_none() {
    let reported = Later { hole_reported: Some(Nanos::from_millis(70)), ..about() };
    assert_eq!(settled(reported).hole.map(|hole| hole.reported), Some(reported.hole_reported));
    let known = Later { hole_reported: Some(Nanos::from_millis(80)), ..about() }.added_to(settled(reported));
    assert_eq!(known.hole.and_then(|hole| hole.reported), reported.hole_reported, "the first report counts");
    assert_eq!(settled(Later { no_hole: true, ..reported }).hole, None, "its data had only been overtaken");
}

#[test]
fn acks_may_be_lost_behind_the_tap() {
    assert!(!frozen().acks_lost && settled(Later { acks_lost: true, ..about() }).acks_lost);
}

#[test]
fn no_more_repairs_are_needless_than_were_sent() {
    let cleared = Some(Nanos::from_millis(90));
    for (needless, counted) in [(1, 1), (2, 2), (3, 2)] {
        let repair = settled(Later { needless, cleared, ..about() }).repair.expect("something was sent again");
        assert_eq!((repair.needless, repair.cleared), (counted, cleared));
    }
}
