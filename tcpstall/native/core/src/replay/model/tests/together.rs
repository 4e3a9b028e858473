//! Connections on one line: they share its rate and its queue.

use super::{RTT, download};
use crate::flow::End;
use crate::replay::model::{Member, Played, Start, play, play_together};
use crate::replay::setup::{QueueDepth, Setup};
use crate::time::Nanos;

/// A download over a link of 1 MB/s.
fn over_a_link(bytes: i64) -> Setup {
    let mut setup = download(bytes, Nanos::ZERO);
    setup.ends[End::Server].rate = Some(1_000_000.0);
    setup
}

fn member(setup: Setup, start: Start) -> Member {
    Member { setup, start, flipped: false }
}

fn together(members: &[Member]) -> Vec<Played> {
    play_together(members).expect("they end")
}

const NOW: Start = Start::At(Nanos::ZERO);

#[test]
fn one_alone_is_replayed_as_by_itself() {
    let setup = over_a_link(500_000);
    let alone = play(&setup).expect("it ends");
    assert_eq!(together(&[member(setup, NOW)])[0].transfer, alone.transfer);
}

#[test]
fn two_take_as_long_as_their_data_take_together() {
    let setup = over_a_link(2_000_000);
    let alone = play(&setup).expect("it ends").transfer;
    let both = together(&[member(setup.clone(), NOW), member(setup, NOW)]);
    let last = both.iter().map(|one| one.transfer).max().expect("two");
    assert!((last - alone - Nanos::from_millis(2_000)).0.abs() < RTT.0, "{last:?} {alone:?}");
}

#[test]
fn another_ones_later_start_leaves_the_line_alone_until_then() {
    let short = over_a_link(100_000);
    let alone = play(&short).expect("it ends").transfer;
    let late = Start::At(alone + RTT);
    let both = together(&[member(short, NOW), member(over_a_link(2_000_000), late)]);
    assert_eq!(both[0].transfer, alone);
}

#[test]
fn a_full_queue_loses_data_that_either_alone_would_not_lose() {
    let queued = |bytes| {
        let mut setup = over_a_link(600_000);
        // All data leave at once.
        setup.ends[End::Server].initial_window = 600;
        setup.ends[End::Server].queue = Some(QueueDepth { bytes, overflowed: true });
        setup
    };
    let lost = |setups: &[Setup]| {
        let members: Vec<Member> = setups.iter().map(|setup| member(setup.clone(), NOW)).collect();
        together(&members).iter().map(|one| one.sent_again).sum::<u64>()
    };
    assert_eq!(lost(&[queued(620_000)]), 0);
    assert!(lost(&[queued(620_000), queued(620_000)]) > 0);
}

#[test]
fn a_handshake_waits_behind_others_data() {
    let mut small = over_a_link(1_000);
    small.spans.clear();
    let alone = play(&small).expect("it ends").transfer;
    let busy = Start::At(Nanos::from_millis(1_000));
    let both = together(&[member(over_a_link(3_000_000), NOW), member(small, busy)]);
    assert!(both[1].transfer > alone + RTT, "{:?} {alone:?}", both[1].transfer);
}

#[test]
fn one_that_follows_another_starts_when_that_one_ends() {
    let gap = Nanos::from_millis(3);
    let (first, second) = (over_a_link(300_000), over_a_link(300_000));
    let alone = play(&first).expect("it ends").transfer;
    let chain =
        [member(first, NOW), member(second, Start::After(0, gap)), member(over_a_link(1_000), Start::After(1, gap))];
    let played = together(&chain);
    assert_eq!((played[0].transfer, played[1].transfer), (alone, alone));
}
