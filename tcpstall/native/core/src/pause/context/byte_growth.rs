//! Growth of a congestion window that its sender counts in bytes (RFC 5681 §2 defines cwnd so).
//!
//! Such a window cuts the last segment of a flight anywhere, so its flights are not whole segments. Each is still larger
//! than the one before: up to twofold in slow start, and by up to a segment in congestion avoidance (RFC 5681 §3.1), of
//! which CUBIC takes small parts (RFC 9438 §4.3). A buffer is constant or swings.

use super::super::evidence::Facts;
use super::super::pauses::Context;
use super::mid_write::{RFC_3390, TIMESTAMPS};
use super::rounds::ROUND;
use crate::time::Nanos;

/// Flights of a climb, if each step is one of slow start: the third confirms the first two.
const DOUBLING: usize = 3;
/// Flights of a climb by a segment or less a round trip: a buffer that swings rarely rises four times in a row.
const CREEPING: usize = 5;
/// Flights of a climb by any step up to a segment. CUBIC near its last maximum and a fair share of Reno's growth (RFC 9438 §4.3)
/// take smaller steps than delayed ACKs do. Of flights that swing, eight in a row rise by chance once in 40,320 times.
const SLOW: usize = 8;
/// Flights of a climb from the first flight on, if its step is what the ACKs between allow to the byte: by chance one step in a
/// thousand is.
const EXACT: usize = 2;
/// Ratio of a flight to the one before in slow start, where the peer acknowledges every second segment or each one.
const SLOW_START: std::ops::RangeInclusive<f64> = 1.3..=2.2;
/// Smallest and largest step of congestion avoidance, segments: half a segment where the peer delays its ACKs, and the
/// window may have grown by a segment more when the flight is cut.
const STEP: std::ops::RangeInclusive<f64> = 0.2..=1.25;

/// Marks the waits of each climb.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    if pauses.len() < EXACT {
        return;
    }
    let rounds = rounds(pauses);
    mark_slow(&rounds, pauses, contexts);
    let opening = pauses.iter().position(|pause| !pause.first).unwrap_or(0);
    let mut start = 0;
    for end in 1..=rounds.len() {
        let flight = |at: usize| pauses[rounds[at]].flight_at_start;
        let opens = |at: usize| rounds[at - 1] == opening && is_exact(&pauses[opening], &pauses[rounds[at]]);
        let grows = |at: usize| step(flight(at - 1), flight(at), pauses[rounds[at]].mss).is_some() || opens(at);
        if end < rounds.len() && grows(end) {
            continue;
        }
        let climb = &rounds[start..end];
        let (first, last) = (rounds[start], rounds[end - 1]);
        let flights: Vec<i64> = climb.iter().map(|round| pauses[*round].flight_at_start).collect();
        // Windows of whole segments are counted elsewhere, and another limit may have cut the last flight.
        let cut = climb[..climb.len() - 1].iter().any(|round| !pauses[*round].is_whole());
        let starts = EXACT <= climb.len() && opens(start + 1);
        if cut && (starts || is_climb(&flights, pauses[last].mss)) {
            mark(first..=last, pauses, contexts);
        }
        start = end;
    }
}

/// Marks the waits of each climb by any step up to a segment.
fn mark_slow(rounds: &[usize], pauses: &[Facts], contexts: &mut [Context]) {
    let flight = |round: usize| pauses[round].flight_at_start;
    let rises = |now: &usize, next: &usize| is_rise(flight(*now), flight(*next), pauses[*next].mss);
    for climb in rounds.chunk_by(rises).filter(|climb| climb.len() >= SLOW) {
        // Whole segments are counted elsewhere: most flights of a window in bytes end within one.
        if 2 * climb.iter().filter(|round| !pauses[**round].is_whole()).count() > climb.len() {
            mark(climb[0]..=climb[climb.len() - 1], pauses, contexts);
        }
    }
}

/// Marks the waits for the window among these pauses.
fn mark(climb: std::ops::RangeInclusive<usize>, pauses: &[Facts], contexts: &mut [Context]) {
    let marked = pauses[climb.clone()].iter().zip(&mut contexts[climb]);
    marked.filter(|(pause, _)| waits(pause)).for_each(|(_, context)| context.bytes_grow = true);
}

/// The next flight is larger, by a step of congestion avoidance at most.
fn is_rise(small: i64, large: i64, mss: u32) -> bool {
    large > small && (large - small) as f64 <= STEP.end() * f64::from(mss.max(1))
}

/// The first wait of each round trip.
fn rounds(pauses: &[Facts]) -> Vec<usize> {
    let mut began: Option<Nanos> = None;
    let mut rounds = Vec::new();
    for (index, pause) in pauses.iter().enumerate().filter(|(_, pause)| waits(pause)) {
        if began.is_none_or(|began| pause.start() - began >= pause.rtt().scaled(ROUND)) {
            began = Some(pause.start());
            rounds.push(index);
        }
    }
    rounds
}

/// An ACK ended the wait, the peer's window had room, and more was queued: a buffer that was sent to its end would have
/// ended with PSH (RFC 9293 §3.9.1.2).
fn waits(pause: &Facts) -> bool {
    let full = !pause.first && pause.has_room() == Some(true) && !pause.before.pushed && pause.flight_at_start > 0;
    let calm = pause.retransmissions == 0 && !pause.recovering && !pause.flight_unknown;
    full && calm && !pause.is_turn() && pause.released_by_ack()
}

/// The flight after the sender's first, not of whole segments, is larger by a segment for each ACK, or by all that these covered (RFC 5681
/// §3.1: by min(N, SMSS) for each): no write and no buffer is so by chance. A sender may count the announced segment, although
/// timestamps take a part of each (RFC 6691 §2); then its first flight is of such segments too, or what RFC 3390 allows.
fn is_exact(first: &Facts, second: &Facts) -> bool {
    let (step, mss) = (second.flight_at_start - first.flight_at_start, i64::from(first.mss.max(1)));
    let acked = first.flight_at_start;
    let acks = second.before.acks.max(1);
    let steps = |unit: i64| step > 0 && step % unit == 0 && step / unit <= i64::from(acks);
    let announced = mss + i64::from(TIMESTAMPS);
    let counted = steps(mss) || steps(announced) && (acked % announced == 0 || acked == RFC_3390);
    first.from_start && !first.is_whole() && (counted || step == acked)
}

/// A step of growth between two flights, bytes, and whether it is one of slow start.
fn step(small: i64, large: i64, mss: u32) -> Option<bool> {
    let by_segment = STEP.contains(&((large - small) as f64 / f64::from(mss.max(1))));
    let by_ratio = SLOW_START.contains(&(large as f64 / small as f64));
    (by_segment || by_ratio).then_some(by_ratio)
}

/// Flights that grow at each step are enough for a climb.
pub(super) fn is_climb(flights: &[i64], mss: u32) -> bool {
    let doubles = flights.windows(2).all(|pair| step(pair[0], pair[1], mss) == Some(true));
    flights.len() >= if doubles { DOUBLING } else { CREEPING }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1_448;

    #[test]
    fn flights_that_double_or_grow_by_a_segment_are_a_climb() {
        assert!(is_climb(&[2_048, 4_096, 8_192], MSS));
        assert!(is_climb(&[3_088, 3_779, 4_833, 5_679, 6_406], MSS));
        assert!(!is_climb(&[2_048, 4_096], MSS), "once is an accident");
        assert!(!is_climb(&[3_088, 3_779, 4_833, 5_679], MSS), "so are three small steps");
    }

    #[test]
    fn any_step_up_to_a_segment_is_a_rise() {
        assert!(is_rise(5_052, 5_284, MSS));
        assert!(!is_rise(5_052, 5_052, MSS), "a level");
        assert!(!is_rise(5_052, 8_000, MSS), "two segments");
    }

    #[test]
    fn a_level_is_no_step() {
        assert_eq!(step(8_192, 8_192, MSS), None);
        assert_eq!(step(8_192, 8_100, MSS), None);
        assert_eq!(step(3_000, 9_000, MSS), None, "no window triples");
    }
}
