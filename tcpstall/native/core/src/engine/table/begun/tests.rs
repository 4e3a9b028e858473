//! A flow whose first segments were kept is the flow that was followed at once.

use super::super::FOLLOWED_IDLE;
use super::*;
use crate::engine::table::beginning::MOST;
use crate::engine::table::entry::{Ended, Over};
use crate::engine::table::spare::{Spare, TOGETHER};
use crate::engine::table::waiting::Waiting;
use crate::flow::End;
use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::{Address, Endpoint, SackBlock};

const CLIENT: Endpoint = Endpoint { address: Address::v4([10, 0, 0, 1]), port: 40_000 };
const SERVER: Endpoint = Endpoint { address: Address::v4([192, 0, 2, 1]), port: 80 };
const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);
const FIN_ACK: Flags = Flags::FIN.with(Flags::ACK);

/// A segment without payload.
fn bare(from: Endpoint, ms: i64, flags: Flags, seq: u32, ack: u32) -> Segment {
    let to = if from == CLIENT { SERVER } else { CLIENT };
    let (seq, ack) = (SeqNo(seq), SeqNo(ack));
    let time = Nanos::from_millis(ms);
    Segment {
        time,
        source: from,
        destination: to,
        seq,
        ack,
        flags,
        window: 500,
        ip_id: Some(ms as u16),
        ..Segment::default()
    }
}

fn data(from: Endpoint, ms: i64, seq: u32, ack: u32) -> Segment {
    Segment { payload: 100, ..bare(from, ms, Flags::ACK, seq, ack) }
}

fn handshake() -> Vec<Segment> {
    vec![
        Segment { mss: Some(1_460), ..bare(CLIENT, 0, Flags::SYN, 0, 0) },
        Segment { mss: Some(1_400), ..bare(SERVER, 10, SYN_ACK, 0, 1) },
        bare(CLIENT, 20, Flags::ACK, 1, 1),
    ]
}

/// A handshake, and as many exchanges as asked for.
fn exchanges(count: u32) -> Vec<Segment> {
    let one = |number: u32| {
        let (ms, sent) = (30 * i64::from(number) + 30, 100 * number + 1);
        [data(CLIENT, ms, sent, sent), data(SERVER, ms + 10, sent, sent + 100)]
    };
    handshake().into_iter().chain((0..count).flat_map(one)).collect()
}

fn with(mut segments: Vec<Segment>, more: &[Segment]) -> Vec<Segment> {
    segments.extend_from_slice(more);
    segments
}

/// Flows that are over, and those still open: what is known of them, and which payload began them.
fn flows<const KEEPS: bool>(segments: &[Segment], start: Option<usize>) -> Vec<String> {
    flows_of::<KEEPS>(&mut Table::new(0, 0, 0), segments, start)
}

fn flows_of<const KEEPS: bool>(table: &mut Table, segments: &[Segment], start: Option<usize>) -> Vec<String> {
    let mut done = Vec::new();
    for (place, segment) in segments.iter().enumerate() {
        table.at = place as u64;
        let seen = table.sees::<KEEPS>(segment, &mut done).map(|(_, seen, _)| seen);
        if start == Some(place) {
            match seen {
                Some(seen) => table.begins_with(segment, seen, b"GET / HTTP/1.1"),
                None => table.keeps_start(segment, b"GET / HTTP/1.1"),
            }
        }
    }
    done.extend(table.ends(Nanos::ZERO).collect::<Vec<_>>());
    let told = |Over { id, flow, .. }: Over| {
        let payload = flow.first_payloads().map(|payloads| payloads.of(End::Client).to_vec());
        format!("{id} {:?} {:?} {:?} {payload:?}", flow.connection(), flow.pauses, flow.bursts)
    };
    let (mut over, spare) = (Vec::new(), &mut Spare::default());
    if KEEPS {
        Ended::together(&mut done).for_each(|ended| Ended::all_over(ended, false, spare, &mut over));
    } else {
        over.extend(done.into_iter().map(|ended| ended.over(spare, false)));
    }
    over.into_iter().map(told).collect()
}

fn same(segments: &[Segment]) {
    let followed = flows::<false>(segments, None);
    assert!(!followed.is_empty());
    assert!(flows::<true>(segments, None) == followed);
}

#[test]
fn a_whole_connection() {
    let close = [bare(CLIENT, 200, FIN_ACK, 301, 301), bare(SERVER, 210, FIN_ACK, 301, 302)];
    let mut segments = with(exchanges(3), &close);
    same(&segments);
    segments.push(bare(CLIENT, 220, Flags::ACK, 302, 302));
    same(&segments);
}

#[test]
fn connections_of_several_lengths_that_are_finished_together() {
    let of = |port: u16| {
        exchanges(u32::from(port % 7) + 1).into_iter().map(move |mut segment| {
            let client = if segment.source == CLIENT { &mut segment.source } else { &mut segment.destination };
            client.port = port;
            segment
        })
    };
    let segments: Vec<Segment> = (1_000..1_000 + 2 * TOGETHER as u16 + 3).flat_map(of).collect();
    assert_eq!(flows::<true>(&segments, None).len(), 2 * TOGETHER + 3);
    same(&segments);
}

#[test]
fn a_long_connection() {
    (MOST as u32 / 2 - 2..MOST as u32 / 2 + 3).for_each(|count| same(&exchanges(count)));
}

#[test]
fn a_connection_from_its_middle() {
    same(&exchanges(4)[5..]);
    same(&exchanges(40)[5..]);
}

#[test]
fn a_reset_in_each_state() {
    let resets = Flags::RST.with(Flags::ACK);
    for before in 0..6 {
        // One that acknowledges the SYN, or follows it, and one of an earlier connection.
        for number in [1, 7] {
            let (server, client) = (bare(SERVER, 500, resets, 0, number), bare(CLIENT, 500, Flags::RST, number, 0));
            [server, client].into_iter().for_each(|reset| same(&with(exchanges(2)[..before].to_vec(), &[reset; 2])));
        }
    }
}

#[test]
fn a_connection_with_losses() {
    let block = SackBlock { left: SeqNo(201), right: SeqNo(301) };
    let asks = Segment { sack_count: 1, sack: [block; 4], ..bare(CLIENT, 140, Flags::ACK, 301, 101) };
    same(&with(exchanges(3), &[asks, data(SERVER, 150, 101, 301)]));
}

#[test]
fn ports_that_are_used_again() {
    let again = |syn| {
        [Segment { seq: SeqNo(syn), ..bare(CLIENT, 900, Flags::SYN, syn, 0) }, bare(SERVER, 910, SYN_ACK, 9, syn + 1)]
    };
    for before in 1..6 {
        [0, 5_000].into_iter().for_each(|syn| same(&with(exchanges(2)[..before].to_vec(), &again(syn))));
    }
}

#[test]
fn the_payload_that_began_it() {
    for place in 0..exchanges(2).len() {
        assert!(flows::<true>(&exchanges(2), Some(place)) == flows::<false>(&exchanges(2), Some(place)));
    }
    assert!(flows::<true>(&exchanges(2), Some(3)) != flows::<true>(&exchanges(2), None));
}

#[test]
fn the_table_counts_it_while_it_is_open() {
    for count in [0, 2, 40] {
        let mut table = Table::new(0, 0, 0);
        let reset = bare(CLIENT, 9_000, Flags::RST.with(Flags::ACK), 100 * count + 1, 1);
        let counted = with(exchanges(count), &[reset]).into_iter().map(|segment| {
            table.sees::<true>(&segment, &mut Vec::new());
            [&table.half_open, &table.begun, &table.followed].map(Waiting::live)
        });
        let counted: Vec<_> = counted.collect();
        let (all, kept) = (exchanges(count).len(), exchanges(count).len().min(MOST));
        let kept = [vec![[1, 0, 0]; 2], vec![[0, 1, 0]; kept - 2]].concat();
        assert_eq!(counted, [kept.clone(), vec![[0, 0, 1]; all - kept.len()], vec![[0; 3]]].concat());
    }
}

/// Five connections with these segments, one segment of each in turn.
fn five_of(one: &[Segment]) -> Vec<Segment> {
    let of = |port: u16| {
        one.iter().copied().map(move |mut segment| {
            let end = if segment.source == CLIENT { &mut segment.source } else { &mut segment.destination };
            end.port = port;
            segment
        })
    };
    let mut segments: Vec<Segment> = (1..=5).flat_map(of).collect();
    segments.sort_by_key(|segment| segment.time);
    segments
}

/// Five connections of three exchanges.
fn five() -> Vec<Segment> {
    five_of(&exchanges(3))
}

#[test]
fn beginnings_need_no_rest_where_few_flows_are_followed_at_once() {
    let followed = flows::<false>(&five(), None);
    let mut table = Table { followed: Waiting::new(2, FOLLOWED_IDLE), ..Table::new(0, 0, 0) };
    assert!(flows_of::<true>(&mut table, &five(), None) == followed);
    assert_eq!((table.followed.live(), table.rests), (0, 0));
}

#[test]
fn among_too_many_beginnings_the_silent_ones_rest_and_go_on_where_they_were() {
    let mut table = Table { begun: Waiting::of_bytes(1_000, FOLLOWED_IDLE), ..narrow() };
    let kept = flows_of::<true>(&mut table, &five(), None);
    assert!(table.rests > 0 && sorted(kept) == sorted(flows::<false>(&five(), None)));
}

/// A table that follows two flows at once, and keeps no more than the first segments of one.
fn narrow() -> Table {
    let begun = Waiting::of_bytes(64 * MOST, FOLLOWED_IDLE);
    Table { begun, followed: Waiting::new(2, FOLLOWED_IDLE), ..Table::new(0, 0, 0) }
}

fn sorted(mut flows: Vec<String>) -> Vec<String> {
    flows.sort();
    flows
}

#[test]
fn what_comes_to_flows_that_rest_is_followed_in_a_row() {
    let block = SackBlock { left: SeqNo(2_201), right: SeqNo(2_301) };
    let asks = Segment { sack_count: 1, sack: [block; 4], ..bare(CLIENT, 1_000, Flags::ACK, 2_301, 2_101) };
    let close = [bare(CLIENT, 2_000, FIN_ACK, 2_301, 2_301), bare(SERVER, 2_010, FIN_ACK, 2_301, 2_302)];
    let again = Segment { seq: SeqNo(5_000), ..bare(CLIENT, 2_000, Flags::SYN, 5_000, 0) };
    let cases: [&[Segment]; 5] = [&[], &close, &[asks], &[again], &[bare(SERVER, 2_000, Flags::RST, 2_301, 2_301); 2]];
    for case in cases {
        let segments = five_of(&with(exchanges(23), case));
        assert!(sorted(flows_of::<true>(&mut narrow(), &segments, None)) == sorted(flows::<false>(&segments, None)));
    }
}

#[test]
fn a_flow_is_woken_once_for_many_segments() {
    let (mut table, mut rests, mut resting) = (narrow(), 0, false);
    for segment in five_of(&exchanges(100)) {
        table.sees::<true>(&segment, &mut Vec::new());
        let now = table.entries().next().is_some_and(|first| first.resting_memory() > 0);
        rests += usize::from(now && !resting);
        resting = now;
    }
    let most = 2 * exchanges(100).len() / MOST;
    assert!((2..most).contains(&rests), "{rests} rests");
}

#[test]
fn a_payload_that_began_a_flow_counts_once_however_often_the_flow_rests() {
    for place in [3 * 5, 40 * 5] {
        let segments = five_of(&exchanges(100));
        let mut table = narrow();
        let kept = flows_of::<true>(&mut table, &segments, Some(place));
        assert!(sorted(kept) == sorted(flows::<false>(&segments, Some(place))));
        let mut table = narrow();
        for (at, segment) in segments.iter().enumerate() {
            if table.sees::<true>(segment, &mut Vec::new()).is_none() && at == place {
                table.keeps_start(segment, b"GET / HTTP/1.1");
            }
            assert!(table.starts_held <= 1, "{}", table.starts_held);
        }
    }
}

#[test]
fn of_flows_that_rest_the_one_silent_longest_goes_whoever_rests_longest() {
    let mut table = Table { resting: Waiting::new(2, FOLLOWED_IDLE), ..narrow() };
    let mut done = Vec::new();
    let mut sees = |port: u16, ms: i64| {
        let mut segment = data(CLIENT, ms, 1 + ms as u32, 1);
        (segment.source.port, table.at) = (port, u64::from(port));
        let known = table.find(&segment).is_some();
        let seen =
            if known { table.sees::<true>(&segment, &mut done) } else { table.sees::<false>(&segment, &mut done) };
        seen.is_none()
    };
    // Two are followed; the first two to come rest, and the very first speaks again.
    (1..=4).for_each(|port| assert!(!sees(port, i64::from(port))));
    assert!(sees(1, 10));
    (5..=6).for_each(|port| assert!(!sees(port, 20 + i64::from(port))));
    assert_eq!(done.iter().map(|ended| ended.place().1).collect::<Vec<_>>(), [2, 3]);
}
