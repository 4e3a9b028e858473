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

/// The flows after that many batches, and the number of tables that the reading thread follows then. A reading thread
/// that is `slow` comes back when the other has done everything.
fn read(batches: usize, slow: bool) -> (Vec<String>, usize) {
    let options = options();
    let (mut dealer, mut numbers, mut told) = (Dealer::new(0), Numbers::new(0), Vec::new());
    let mut tables: Vec<Table> = (0..SHARDS).map(|shard| Table::new(shard, 0, 0)).collect();
    let own = thread::scope(|scope| {
        let mut followers = Followers::start(scope, &mut tables, Judging::by(&options), 2);
        let json = |(opened, row): Told| format!("{opened} {:?}", row.map(|row| row.to_json()));
        for number in 0..batches {
            assert!(followers.take(batch(number, &mut dealer)).is_continue());
            while followers.under_way() > 0
                && (slow || followers.under_way() == BATCHES)
                && let Some((_, over)) = followers.done(true, &mut dealer, &mut numbers)
            {
                told.extend(over.map(json));
            }
        }
        while let Some((_, over)) = followers.done(true, &mut dealer, &mut numbers) {
            told.extend(over.map(json));
        }
        told.extend(followers.ends(dealer.latest()).map(json));
        let own = followers.own.len();
        followers.finish();
        own
    });
    (told, own)
}

#[test]
fn a_reading_thread_that_others_wait_for_gives_its_tables_away_and_nothing_else_changes() {
    let (quick, own) = read(BETWEEN_LOOKS * 5, false);
    assert_eq!(own, 3 * SHARDS / 8);
    assert!(quick.len() > BETWEEN_LOOKS * 2);
    for (looks, left) in [(1, 2), (2, 1), (5, 0)] {
        let batches = BETWEEN_LOOKS * looks;
        let (slow, own) = read(batches, true);
        assert_eq!((slow, own), (read(batches, false).0, left));
    }
}
