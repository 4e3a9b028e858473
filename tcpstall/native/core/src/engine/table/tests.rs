//! Tests of which flows stay in the table and which are removed.

use super::beginning::MOST;
use super::brief::Brief;
use super::entry::Over;
use super::*;
use crate::seq::SeqNo;
use crate::wire::{Address, Endpoint};

fn segment(client: usize, ms: i64, flags: Flags) -> Segment {
    let from = Endpoint { address: Address(0xffff_0a00_0000 + client as u128), port: 1_024 };
    let to = Endpoint { address: Address::v4([192, 0, 2, 1]), port: 80 };
    Segment {
        time: Nanos::from_millis(ms),
        source: from,
        destination: to,
        seq: SeqNo(7),
        flags,
        payload: u32::from(!flags.has(Flags::SYN)) * 100,
        ..Segment::default()
    }
}

/// Takes in a segment; flows are numbered as they open.
fn sees(table: &mut Table, segment: &Segment, done: &mut Vec<Ended>) -> Option<u64> {
    table.at = table.opened.len() as u64;
    table.sees::<false>(segment, done).map(|(id, _, _)| id)
}

fn finished(done: Vec<Ended>) -> Vec<Over> {
    done.into_iter().map(|ended| ended.over(&mut Spare::default(), false)).collect()
}

/// The flows that are open, in the order of their ids.
fn open(table: &mut Table) -> Vec<Over> {
    let mut open: Vec<Ended> = table.ends(Nanos::ZERO).collect();
    open.sort_by_key(Ended::place);
    finished(open)
}

fn ids(done: &[Over]) -> Vec<u64> {
    done.iter().map(|over| over.id).collect()
}

#[test]
fn a_flood_of_syns_pushes_the_oldest_out() {
    let (mut table, mut done) = (Table::new(0, 0, 0), Vec::new());
    for client in 0..HALF_OPEN + 3 {
        assert!(sees(&mut table, &segment(client, 0, Flags::SYN), &mut done).is_none());
    }
    let done = finished(done);
    assert_eq!((ids(&done), table.let_go()), (vec![0, 1, 2], 3));
    assert!(!done[0].flow.connection().handshake.complete());
}

#[test]
fn a_flood_of_syns_gets_no_room_for_more_segments() {
    let (mut table, mut done) = (Table::new(0, 0, 0), Vec::new());
    for client in 0..4 * FEW {
        table.spare.takes_briefs(Vec::with_capacity(MOST));
        sees(&mut table, &segment(client, 0, Flags::SYN), &mut done);
    }
    let roomy = table.entries().filter(|entry| entry.beginning_memory() > 2 * size_of::<Brief>());
    assert_eq!(roomy.count(), FEW);
}

/// A table that follows eight flows at once; `resting` more may rest.
fn small(resting: usize) -> Table {
    let followed = Waiting::new(8, FOLLOWED_IDLE);
    Table { followed, resting: Waiting::new(resting, FOLLOWED_IDLE), ..Table::new(0, 0, 0) }
}

/// Eleven flows with `packets` packets each, one packet of each flow in turn.
fn crowd(table: &mut Table, packets: usize) -> Vec<Over> {
    let mut done = Vec::new();
    for packet in 0..packets {
        for client in 0..11 {
            let seq = SeqNo(7 + 100 * packet as u32);
            let ms = packet as i64 * 1_000 + client as i64 / 2;
            sees(table, &Segment { seq, ..segment(client, ms, Flags::ACK) }, &mut done);
        }
    }
    finished(done)
}

#[test]
fn among_too_many_flows_the_silent_ones_rest_and_go_on_where_they_were() {
    let mut table = small(100);
    assert!(crowd(&mut table, 3).is_empty());
    let flows: Vec<Over> = open(&mut table);
    assert_eq!((flows.len(), table.let_go()), (11, 0));
    let mut alone = Table::new(0, 0, 0);
    for packet in 0..3 {
        let seq = SeqNo(7 + 100 * packet);
        sees(&mut alone, &Segment { seq, ..segment(5, i64::from(packet) * 1_000 + 2, Flags::ACK) }, &mut Vec::new());
    }
    let alone: Vec<Over> = open(&mut alone);
    let told = |over: &Over| format!("{:?} {:?}", over.flow.pauses, over.flow.connection());
    assert_eq!(told(&flows[5]), told(&alone[0]));
}

#[test]
fn beyond_those_that_may_rest_the_one_silent_longest_goes() {
    let mut table = small(2);
    let done = crowd(&mut table, 1);
    assert_eq!((ids(&done), table.let_go()), (vec![0], 1));
    assert!(done[0].flow.let_go());
}

#[test]
fn who_wakes_and_rests_again_and_again_takes_no_more_room_in_the_queue() {
    let mut table = small(8);
    let done = crowd(&mut table, 100);
    assert!(done.is_empty() && table.resting.places().count() < 200, "{}", table.resting.places().count());
}

#[test]
fn a_flow_that_rests_for_hours_is_over() {
    let (mut table, mut done) = (small(100), Vec::new());
    crowd(&mut table, 1);
    sees(&mut table, &segment(20, FOLLOWED_IDLE.0 / 1_000_000 + 1, Flags::ACK), &mut done);
    let done = finished(done);
    assert!([0, 1, 2].iter().all(|id| ids(&done).contains(id)), "{:?}", ids(&done));
    assert!(done.iter().all(|over| over.flow.let_go()));
}

#[test]
fn an_answer_after_minutes_finds_another_flow() {
    let (mut table, mut done) = (Table::new(0, 0, 0), Vec::new());
    sees(&mut table, &segment(0, 0, Flags::SYN), &mut done);
    sees(&mut table, &segment(1, HALF_OPEN_IDLE.0 / 1_000_000, Flags::SYN), &mut done);
    assert_eq!(ids(&finished(done)), [0]);
    assert_eq!(sees(&mut table, &segment(0, 300_000, Flags::ACK), &mut Vec::new()), Some(2));
}

/// Flows with unacknowledged data, one packet each in turn: largest memory, and frames forgotten.
fn in_flight(flows: usize, packets: usize) -> (usize, u64) {
    let (mut table, mut done, mut most) = (Table::new(0, 0, 0), Vec::new(), 0);
    for packet in 0..packets {
        for client in 0..flows {
            let seq = SeqNo(7 + 100 * packet as u32);
            sees(&mut table, &Segment { seq, ..segment(client, 0, Flags::ACK) }, &mut done);
        }
        most = most.max(table.flights.bytes());
    }
    assert_eq!(
        open(&mut table)
            .iter()
            .filter(|over| over.flow.connection().halves.iter().any(|half| half.forgotten > 0))
            .count()
            > 0,
        table.forgotten() > 0
    );
    assert_eq!(table.flights.bytes(), 0, "what leaves takes no memory");
    (most, table.forgotten())
}

#[test]
fn data_in_flight_of_thousands_of_flows_stays_within_its_memory_and_what_is_forgotten_counts() {
    let (most, forgotten) = in_flight(2_000, 800);
    assert!(most <= flights::MOST + 2_000 * (4 << 10), "{most} bytes");
    assert!(forgotten > 100_000, "{forgotten} frames");
}

#[test]
fn a_flow_that_has_much_in_flight_alone_forgets_nothing() {
    assert_eq!(in_flight(1, 40_000).1, 0);
}
