//! ACKs between the data of a run leave the same state by the short way as by the whole way.

use super::super::run::tests::{Draw, ELSEWHERE, Ways, seen_elsewhere, segment};
use super::*;
use crate::wire::{Flags, SackBlock, Timestamps};

const FULL: u32 = 1_448;

/// Packets of one end.
#[derive(Default)]
struct Own {
    seq: u32,
    id: u16,
    stamp: u32,
}

/// A flow of a server that sends in bulk, captured at its host: the client acknowledges every second segment, and at times
/// something else happens, a `rarely`th as often as with 1.
pub(crate) fn flow(seed: u64, segments: usize, rarely: u64) -> Vec<Segment> {
    let mut draw = Draw(seed);
    let (stamped, counted, scaled) = (!draw.once_in(3), !draw.once_in(3), !draw.once_in(4));
    let mut ends = [Own { seq: 1, id: 7, stamp: 50 }, Own { seq: 1, id: 7, stamp: 50 }];
    let (mut now, mut acked, mut clock, mut window) = (1_000_000_000, 1_u32, 50, 500_u16);
    let opens = |syn: Segment| Segment { mss: Some(1_460), window_scale: scaled.then_some(7), ..syn };
    let mut flow = vec![
        opens(segment(now - 9_000_000, false, 0, 0, 0, Flags::SYN)),
        opens(segment(now - 8_990_000, true, 0, 1, 0, Flags::SYN.with(Flags::ACK))),
        segment(now - 2_000_000, false, 1, 1, 0, Flags::ACK),
    ];
    flow.iter_mut().for_each(|syn| syn.timestamps = stamped.then_some(Timestamps { value: 50, echo: 50 }));
    for _ in 0..segments {
        now += if draw.once_in(60 * rarely) { 400_000 } else { 1_000 * draw.below(60) as i64 };
        now += if draw.once_in(150 * rarely) { 60_000_000 } else { 0 };
        clock += u32::from(draw.once_in(6 * rarely));
        let in_flight = ends[1].seq.wrapping_sub(acked) / FULL;
        let by_turns = rarely > 1 && flow.last().is_some_and(|last| last.payload == 0);
        let back = in_flight < 4 || (in_flight < 24 && (draw.once_in(2) || (by_turns && !draw.once_in(12))));
        let own = usize::from(back);
        let again = if draw.once_in(80 * rarely) { 2 * FULL } else { 0 };
        let mut next = if back {
            let payload = match draw.below(60 * rarely) {
                0 => 700,
                1 => 10 * FULL,
                2 => 1,
                3 => 0,
                _ => FULL,
            };
            let skipped = if draw.once_in(80 * rarely) { FULL } else { 0 };
            let from = (ends[1].seq + skipped).saturating_sub(again).max(1);
            segment(now, true, from, ends[0].seq, payload, Flags::ACK)
        } else {
            let advance = match draw.below(40 * rarely) {
                0 => 0,
                1 => 1_000,
                2 => 6 * FULL,
                _ => 2 * FULL,
            };
            acked = (acked + advance).min(ends[1].seq);
            let payload = if draw.once_in(80 * rarely) { 100 } else { 0 };
            window = if draw.once_in(20 * rarely) { 300 + 100 * draw.below(4) as u16 } else { window };
            let mut ack = segment(now, false, ends[0].seq, acked.saturating_sub(again).max(1), payload, Flags::ACK);
            ack.window = if draw.once_in(150 * rarely) { draw.below(12) as u16 } else { window };
            if draw.once_in(80 * rarely) {
                ack.sack[0] = SackBlock { left: ack.ack.plus(FULL), right: ack.ack.plus(2 * FULL) };
                ack.sack_count = 1;
            }
            ack
        };
        ends[own].id = ends[own].id.wrapping_add(if draw.once_in(80 * rarely) { 3 } else { 1 });
        ends[own].id = ends[own].id.wrapping_sub(if draw.once_in(80 * rarely) { 2 } else { 0 });
        next.ip_id = counted.then_some(ends[own].id);
        let echo = if draw.once_in(100 * rarely) { clock + 1 } else { ends[1 - own].stamp };
        next.timestamps = stamped.then_some(Timestamps { value: clock, echo });
        (next.ttl, next.packet.0) = (Some(64), flow.len() as u64 + 1);
        ends[own].stamp = clock;
        ends[own].seq = ends[own].seq.max(next.seq.0 + next.payload);
        flow.push(next);
    }
    flow
}

#[test]
fn the_short_way_of_acks_leaves_the_state_of_the_whole_way() {
    let (mut calm, mut all) = (0, 0);
    for seed in 0..32 {
        let flow = flow(seed, 300, 1);
        let (mut watch, mut whole) = (Watch::new(&flow[0]), Watch::new(&flow[0]));
        for (number, segment) in flow.iter().enumerate() {
            whole.run = None;
            let run = watch.run.filter(|run| run.calm && segment.payload == 0);
            calm += usize::from(run.is_some_and(|run| watch.connection.calm_ack(segment, run.sender).is_some()));
            all += 1;
            let (seen, expected) = (watch.sees(segment), whole.sees(segment));
            assert_eq!(format!("{seen:?}"), format!("{expected:?}"), "seed {seed}, {number}");
            if number % 8 == 0 {
                assert!(watch.put_down() == whole.put_down(), "seed {seed}, before {number}");
            }
        }
        assert!(watch.put_down() == whole.put_down(), "seed {seed}");
    }
    assert!(calm * 20 > all, "{calm} of {all} took the short way");
}

#[test]
fn the_short_ways_leave_the_state_of_the_whole_way_away_from_the_sender() {
    let mut ways = Ways::default();
    for (nearer, jitter) in ELSEWHERE {
        for seed in 0..12 {
            let of = format!("{nearer} ns nearer, jitter {jitter} ns, seed {seed}");
            ways.compare(&seen_elsewhere(flow(seed, 200, 1), nearer, jitter, seed), 8, &of);
        }
    }
    assert!(ways.has(ways.awaiting, 50) && ways.calm > 50, "{}, {}", ways.awaiting, ways.calm);
}
