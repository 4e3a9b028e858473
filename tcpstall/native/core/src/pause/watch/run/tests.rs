//! Data that continues a run leaves the same state by the short way as by the whole way.

use super::*;
use crate::wire::{Address, Endpoint, Flags};

const CLIENT: Endpoint = Endpoint { address: Address(1), port: 1_000 };
const SERVER: Endpoint = Endpoint { address: Address(2), port: 80 };

/// Pseudo-random numbers: Knuth's constants of a linear congruential generator.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// A segment of the client, or `back` of the server.
pub(crate) fn segment(now: i64, back: bool, seq: u32, ack: u32, payload: u32, flags: Flags) -> Segment {
    let (source, destination) = if back { (SERVER, CLIENT) } else { (CLIENT, SERVER) };
    let (time, seq, ack) = (Nanos(now), SeqNo(seq), SeqNo(ack));
    Segment { time, source, destination, seq, ack, payload, flags, window: 500, ..Segment::default() }
}

/// A flow of `segments` segments: bursts of the server in order and ACKs of the client, with everything at times that
/// ends a run.
fn flow(seed: u64, segments: usize) -> Vec<Segment> {
    let mut draw = Draw(seed);
    let (captured, stamped, counted) = (!draw.once_in(3), !draw.once_in(3), !draw.once_in(3));
    let (mut now, mut seq, mut acked, mut ids) = (1_000_000_000, [1_u32, 1], [1_u32, 1], [7_u16, 7]);
    let (mut clock, mut stamps) = (50, [50, 50]);
    let mut flow = Vec::new();
    let mut push = |now: i64, back: bool, seq, ack, payload, flags: Flags, window, id: Option<u16>, clock, echo| {
        let timestamps = stamped.then_some(Timestamps { value: clock, echo });
        let options = (flags.has(Flags::SYN).then_some(1_448), flags.has(Flags::SYN).then_some(7));
        let (mss, window_scale) = options;
        let ip_id = id.filter(|_| counted);
        let plain = segment(now, back, seq, ack, payload, flags);
        flow.push(Segment { window, ip_id, timestamps, mss, window_scale, ..plain });
    };
    if captured {
        push(now - 900_000, false, 0, 0, 0, Flags::SYN, 500, None, clock, 0);
        push(now - 600_000, true, 0, 1, 0, Flags::SYN.with(Flags::ACK), 500, None, clock, clock);
        push(now - 300_000, false, 1, 1, 0, Flags::ACK, 500, None, clock, clock);
    }
    let mut window = 500;
    for _ in 0..segments {
        now += match draw.below(40) {
            0 => 40_000_000,
            1 => 300_000,
            2 => 200_000,
            other => 1_000 * other as i64,
        };
        clock += u32::from(draw.once_in(4));
        window = if draw.once_in(30) { 400 + draw.below(200) as u16 } else { window };
        let back = !draw.once_in(4);
        let own = usize::from(back);
        let payload = match draw.below(40) {
            0 => 0,
            1 => 1,
            2 => 700,
            3 => 14_480,
            _ => 1_448 * u32::from(back),
        };
        let skipped = if draw.once_in(40) { 1_448 } else { 0 };
        let again = if draw.once_in(40) { 2_896 } else { 0 };
        let from = (seq[own] + skipped).saturating_sub(again).max(1);
        ids[own] = ids[own].wrapping_add(if draw.once_in(30) { 3 } else { 1 });
        if !back && !draw.once_in(5) {
            acked[1] = seq[1].saturating_sub(1_448 * draw.below(3) as u32).max(acked[1]);
        }
        acked[0] = if back && draw.once_in(3) { seq[0] } else { acked[0] };
        let flags = if draw.once_in(9) { Flags::ACK.with(Flags::PSH) } else { Flags::ACK };
        let flags = if draw.once_in(400) { flags.with(Flags::FIN) } else { flags };
        let echo = if draw.once_in(60) { clock + 1 } else { stamps[1 - own] };
        let (ack, id) = (acked[1 - own], Some(ids[own]));
        stamps[own] = clock;
        let late = if draw.once_in(60) { 500_000 } else { 0 };
        push(now - late, back, from, ack, payload, flags, window, id, clock, echo);
        seq[own] = seq[own].max(from + payload);
    }
    flow
}

/// Short exchanges at a server's host, whose client is 20 ms away: requests and responses of a few segments, acknowledged
/// when they have come, and a FIN of each end. At times something else happens.
fn short_flow(seed: u64) -> Vec<Segment> {
    let mut draw = Draw(seed);
    let (stamped, counted, captured) = (!draw.once_in(4), !draw.once_in(3), !draw.once_in(5));
    let (mut now, mut seq, mut ids) = (1_000_000_000, [1_u32, 1], [7_u16, 7]);
    let mut flow: Vec<Segment> = Vec::new();
    let mut push = |draw: &mut Draw, now: i64, back: bool, seq: u32, ack: u32, payload: u32, flags: Flags| {
        let own = usize::from(back);
        ids[own] = ids[own].wrapping_add(if draw.once_in(40) { 3 } else { 1 });
        // Milliseconds of each end's clock; the client's segments echo what came a way ago.
        let (value, echo) = ((now / 1_000_000) as u32, ((now - 20_000_000 * i64::from(!back)) / 1_000_000) as u32);
        let syn = flags.has(Flags::SYN);
        flow.push(Segment {
            window: if draw.once_in(40) { 400 + draw.below(200) as u16 } else { 500 },
            ip_id: counted.then_some(ids[own]),
            timestamps: stamped.then_some(Timestamps { value, echo: echo + u32::from(draw.once_in(60)) }),
            mss: syn.then_some(1_460),
            window_scale: syn.then_some(7),
            sack_permitted: syn,
            ..segment(now, back, seq, ack, payload, flags)
        });
    };
    if captured {
        push(&mut draw, now, false, 0, 0, 0, Flags::SYN);
        push(&mut draw, now + 1_000, true, 0, 1, 0, Flags::SYN.with(Flags::ACK));
        now += 20_000_000;
        push(&mut draw, now, false, 1, 1, 0, Flags::ACK);
    }
    for _ in 0..1 + draw.below(3) {
        for _ in 0..1 + draw.below(2) {
            push(&mut draw, now, false, seq[0], seq[1], 147, Flags::ACK.with(Flags::PSH));
            seq[0] += 147;
        }
        if !draw.once_in(3) {
            now += 1_000;
            push(&mut draw, now, true, seq[1], seq[0], 0, Flags::ACK);
        }
        now += [400_000, 5_000_000, 90_000_000][draw.below(3) as usize];
        let first = seq[1];
        for number in 0..1 + draw.below(12) as usize {
            now += 1_000 * draw.below([12, 12, 12, 40][number % 4]) as i64;
            let payload = if draw.once_in(5) { 1 + draw.below(1_448) as u32 } else { 1_448 };
            if !draw.once_in(40) {
                push(&mut draw, now, true, seq[1], seq[0], payload, Flags::ACK);
            }
            if draw.once_in(40) {
                push(&mut draw, now, true, first, seq[0], 1_448, Flags::ACK);
            }
            if draw.once_in(20) {
                push(&mut draw, now, false, seq[0], first, 30, Flags::ACK);
                seq[0] += if draw.once_in(4) { 0 } else { 30 };
            }
            seq[1] += payload;
        }
        now += 20_000_000;
        let (mut acked, again) = (first, draw.once_in(20));
        while acked < seq[1] {
            now += 1_000 * draw.below(30) as i64;
            acked = (acked + 2_896).min(seq[1]);
            push(&mut draw, now, false, seq[0], if again { first } else { acked }, 0, Flags::ACK);
        }
    }
    let flags = Flags::ACK.with(Flags::FIN);
    push(&mut draw, now + 1_000, true, seq[1], seq[0], 0, flags);
    push(&mut draw, now + 20_000_000, false, seq[0], seq[1] + 1, 0, flags);
    push(&mut draw, now + 20_001_000, true, seq[1] + 1, seq[0] + 1, 0, Flags::ACK);
    flow
}

/// The flow at a tap `nearer` to the client: packets of the server pass it later and those of the client earlier. Each
/// is delayed by less than `jitter`, and few overtake their sender's packet before.
pub(crate) fn seen_elsewhere(mut flow: Vec<Segment>, nearer: i64, jitter: u64, seed: u64) -> Vec<Segment> {
    let (mut draw, mut newest) = (Draw(seed), [Nanos::ZERO; 2]);
    for segment in &mut flow {
        let back = segment.source == SERVER;
        let newest = &mut newest[usize::from(back)];
        let later = if back { nearer } else { -nearer } + draw.below(jitter.max(1)) as i64;
        let time = segment.time.plus(Nanos(later));
        segment.time = if draw.once_in(200) { time } else { time.max(*newest) };
        *newest = segment.time;
    }
    flow.sort_by_key(|segment| segment.time);
    flow
}

/// Distances from the tap at the server to others, and the jitter of the path there, nanoseconds.
pub(crate) const ELSEWHERE: [(i64, u64); 8] = [
    (20_000, 0),
    (60_000, 0),
    (60_000, 40_000),
    (150_000, 20_000),
    (400_000, 400_000),
    (5_000_000, 0),
    (5_000_000, 60_000),
    (10_000_000, 0),
];

/// Segments of a flow that took a short way.
#[derive(Default)]
pub(crate) struct Ways {
    all: usize,
    /// Data of a run.
    pub(crate) data: usize,
    /// Data of a run while ACKs were on their way to its sender.
    pub(crate) awaiting: usize,
    /// ACKs at a calm half.
    pub(crate) calm: usize,
}

impl Ways {
    /// Gives the segments of a flow to both ways, and compares what they say of each, and the state after every few.
    pub(crate) fn compare(&mut self, flow: &[Segment], every: usize, of: &str) {
        let (mut watch, mut whole) = (Watch::new(&flow[0]), Watch::new(&flow[0]));
        for (number, segment) in flow.iter().enumerate() {
            whole.run = None;
            let run = watch.run.filter(|run| segment.payload > 1 && watch.continues(segment, run));
            self.data += usize::from(run.is_some());
            self.awaiting += usize::from(run.is_some_and(|run| watch.connection.half(run.sender).awaits_acks()));
            let run = watch.run.filter(|run| run.calm && segment.payload == 0);
            self.calm += usize::from(run.is_some_and(|run| watch.connection.calm_ack(segment, run.sender).is_some()));
            self.all += 1;
            let (seen, expected) = (watch.sees(segment), whole.sees(segment));
            assert_eq!(format!("{seen:?}"), format!("{expected:?}"), "{of}, {number}");
            if number % every == 0 {
                assert!(watch.put_down() == whole.put_down(), "{of}, before {number}");
            }
        }
        assert!(watch.put_down() == whole.put_down(), "{of}");
    }

    /// One in `least` segments, or more, is among these.
    pub(crate) fn has(&self, among: usize, least: usize) -> bool {
        among * least > self.all
    }
}

#[test]
fn the_short_ways_leave_the_state_of_the_whole_way_wherever_the_tap_is() {
    let (mut short, mut bulk) = (Ways::default(), Ways::default());
    for (nearer, jitter) in ELSEWHERE {
        for seed in 0..30 {
            let of = format!("short, {nearer} ns nearer, jitter {jitter} ns, seed {seed}");
            short.compare(&seen_elsewhere(short_flow(seed), nearer, jitter, seed), 1, &of);
        }
        for seed in 0..8 {
            let of = format!("bulk, {nearer} ns nearer, jitter {jitter} ns, seed {seed}");
            bulk.compare(&seen_elsewhere(flow(seed, 150), nearer, jitter, seed), 4, &of);
        }
    }
    let found = |ways: &Ways| format!("{}, {} awaiting, of {}", ways.data, ways.awaiting, ways.all);
    assert!(short.has(short.data, 5) && short.awaiting > 10, "{}", found(&short));
    assert!(bulk.has(bulk.data, 20) && bulk.has(bulk.awaiting, 100), "{}", found(&bulk));
}

#[test]
fn a_response_takes_the_short_way_while_its_client_has_not_heard_of_its_request() {
    let (mut untold, mut repeated, mut calm, mut all) = (0, 0, 0, 0);
    for seed in 0..120 {
        let flow = short_flow(seed);
        let (mut watch, mut whole) = (Watch::new(&flow[0]), Watch::new(&flow[0]));
        for (number, segment) in flow.iter().enumerate() {
            whole.run = None;
            let run = watch.run.filter(|run| segment.payload > 1 && watch.continues(segment, run));
            let untaught = run.filter(|run| run.told_until < Nanos::LATEST);
            untold += usize::from(untaught.is_some_and(|run| segment.time >= run.told_until));
            repeated += usize::from(untaught.is_some_and(|run| segment.time < run.told_until));
            let run = watch.run.filter(|run| run.calm && segment.payload == 0);
            calm += usize::from(run.is_some_and(|run| watch.connection.calm_ack(segment, run.sender).is_some()));
            all += 1;
            let (seen, expected) = (watch.sees(segment), whole.sees(segment));
            assert_eq!(format!("{seen:?}"), format!("{expected:?}"), "seed {seed}, {number}");
            assert!(watch.put_down() == whole.put_down(), "seed {seed}, {number}");
        }
    }
    assert!(untold * 20 > all && repeated * 20 > all && calm * 20 > all, "{untold}, {repeated}, {calm} of {all}");
}

#[test]
fn the_short_way_leaves_the_state_of_the_whole_way() {
    let (mut short, mut after_acks, mut all) = (0, 0, 0);
    for seed in 0..48 {
        let flow = flow(seed, 150);
        let (mut watch, mut whole) = (Watch::new(&flow[0]), Watch::new(&flow[0]));
        for (number, segment) in flow.iter().enumerate() {
            whole.run = None;
            let run = watch.run.filter(|run| segment.payload > 1 && watch.continues(segment, run));
            let continues = run.is_some();
            short += usize::from(continues);
            after_acks += usize::from(run.is_some_and(|run| run.answered));
            all += 1;
            let (seen, expected) = (watch.sees(segment), whole.sees(segment));
            assert_eq!(format!("{seen:?}"), format!("{expected:?}"));
            if number % 8 == 0 {
                assert!(watch.put_down() == whole.put_down(), "seed {seed}, before {number}");
            }
        }
        assert!(watch.put_down() == whole.put_down(), "seed {seed}");
    }
    assert!(short * 10 > all, "{short} of {all} took the short way");
    assert!(after_acks * 80 > all, "{after_acks} of {all} took it after ACKs");
}
