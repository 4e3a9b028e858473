//! Whoever waits for whom, the flows are the same, in the same order.

use std::thread;

use super::*;
use crate::capture::Expansion;
use crate::causes::Limits;
use crate::engine::{Filter, Opener, RunOptions, Sets};
use crate::packet_no::PacketNo;
use crate::results::Wanted;
use crate::seq::SeqNo;
use crate::wire::{Address, Endpoint, Flags, Segment};

fn options() -> RunOptions {
    RunOptions {
        filter: Filter::default(),
        limits: Limits::default(),
        wanted: Wanted { bursts: false, exchanges: false, least_stall: Nanos::ZERO },
        expansion: Expansion::default(),
        names: None,
        sets: Sets::default(),
        opener: Opener::default(),
        threads: None,
    }
}

/// A batch of one segment of each of 20 clients, whose connections last ten batches.
fn batch(number: usize, dealer: &mut Dealer) -> Batch {
    let mut batch = Batch::default();
    for client in 0..20 {
        let at = number * 20 + client;
        let reset = (number + client) % 10 == 9;
        *batch.place() = Segment {
            packet: PacketNo(at as u64 + 1),
            time: Nanos::from_millis(at as i64),
            source: Endpoint { address: Address::v4([10, 0, 0, client as u8]), port: 40_000 + (number / 10) as u16 },
            destination: Endpoint { address: Address::v4([192, 0, 2, 1]), port: 80 },
            seq: SeqNo(100 * number as u32),
            payload: if reset { 0 } else { 100 },
            flags: if reset { Flags::RST } else { Flags::ACK },
            ..Segment::default()
        };
        batch.keep();
    }
    batch.deal(dealer);
    batch
}

/// Adds flows that are over.
fn tell(mut over: InOrder<impl More>, told: &mut Vec<String>) {
    while let Some((opened, row)) = over.next() {
        told.push(format!("{opened} {:?}", row.map(|row| row.to_json())));
    }
}

/// The flows of batches; before these numbers the reading thread gives a table away, and followers rest or work again.
fn read(batches: usize, gives: &[usize], turns: &[usize], processors: usize) -> Vec<String> {
    let options = options();
    let (mut dealer, mut numbers, mut told) = (Dealer::new(0), Numbers::new(0), Vec::new());
    let mut tables: Vec<Table> = (0..SHARDS).map(|shard| Table::new(shard, 0, 0)).collect();
    thread::scope(|scope| {
        let mut followers = Followers::start(scope, &mut tables, Judging::by(&options), processors);
        for number in 0..batches {
            gives.iter().filter(|at| **at == number).for_each(|_| followers.gives_away());
            let turn = turns.contains(&number);
            while turn && let Some((_, over)) = followers.done(true, &mut dealer, &mut numbers) {
                tell(over, &mut told);
            }
            if turn && followers.resting {
                followers.work();
            } else if turn {
                assert!(followers.rest().is_continue());
            }
            assert!(followers.take(batch(number, &mut dealer)).is_continue());
            while followers.under_way() == BATCHES
                && let Some((_, over)) = followers.done(true, &mut dealer, &mut numbers)
            {
                tell(over, &mut told);
            }
        }
        while let Some((_, over)) = followers.done(true, &mut dealer, &mut numbers) {
            tell(over, &mut told);
        }
        tell(followers.ends(dealer.latest()), &mut told);
        followers.finish();
    });
    told
}

#[test]
fn a_reading_thread_gives_its_tables_away_and_nothing_else_changes() {
    let kept = read(60, &[], &[], 2);
    assert!(kept.len() > 80);
    for gives in [vec![0], vec![7, 15], vec![3, 3, 59], vec![1, 2, 3, 4, 5]] {
        assert_eq!(read(60, &gives, &[], 2), kept);
    }
}

#[test]
fn followers_rest_and_work_again_and_nothing_else_changes() {
    let kept = read(60, &[], &[], 2);
    for turns in [vec![0], vec![0, 1], vec![7, 30, 59], vec![5, 6, 7, 8, 9, 40]] {
        for processors in [2, 3, 4, 9, 64] {
            assert_eq!(read(60, &[], &turns, processors), kept);
        }
        assert_eq!(read(60, &[4, 20, 50], &turns, 2), kept);
    }
}
