//! Growth of a congestion window that its sender counts in bytes (RFC 5681 §2 defines cwnd so).
//!
//! Such a window cuts the last segment of a flight anywhere, so its flights are not whole segments. Each is still larger
//! than the one before: up to twofold in slow start, and by up to a segment in congestion avoidance (RFC 5681 §3.1), of
//! which CUBIC takes small parts (RFC 9438 §4.3). A window that cuts segments short gets an ACK for each piece, and grows by
//! as much more a round trip. A window that follows the delay grows every second round trip and stands in the others
//! (Vegas). A buffer is constant or swings.

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
/// Smallest step of congestion avoidance, segments: half a segment where the peer delays its ACKs.
const LEAST_STEP: f64 = 0.2;
/// Largest step, as a multiple of a round trip's growth: the window may have grown by a part more when the flight is cut.
const LARGEST_STEP: f64 = 1.25;

/// A flight, and what it is made of.
pub(super) struct Flight {
    /// Length, bytes.
    pub(super) bytes: i64,
    /// Its segments, whole and short ones; 0 where nobody has counted them.
    pub(super) segments: u32,
    /// Length of a whole segment, bytes.
    pub(super) mss: u32,
}

impl Flight {
    fn of(pause: &Facts) -> Flight {
        Flight { bytes: pause.flight_at_start, segments: pause.segments_at_start, mss: pause.mss }
    }

    /// Largest step of congestion avoidance to the next flight, bytes. RFC 5681 §3.1 (equation 3) adds SMSS · SMSS / cwnd at each
    /// ACK: a segment in a round trip, or more where short segments of the flight have ACKs of their own.
    fn largest_step(&self) -> f64 {
        let mss = f64::from(self.mss.max(1));
        let for_whole = f64::from(self.segments) * mss / self.bytes.max(1) as f64;
        LARGEST_STEP * mss * for_whole.max(1.0)
    }

    /// A step of growth to a flight of `next` bytes, and whether it is one of slow start.
    fn step(&self, next: i64) -> Option<bool> {
        let least = LEAST_STEP * f64::from(self.mss.max(1));
        let by_segment = (least..=self.largest_step()).contains(&((next - self.bytes) as f64));
        let by_ratio = SLOW_START.contains(&(next as f64 / self.bytes as f64));
        (by_segment || by_ratio).then_some(by_ratio)
    }

    /// A flight of `next` bytes is larger, by a step of congestion avoidance at most.
    fn rises_to(&self, next: i64) -> bool {
        next > self.bytes && (next - self.bytes) as f64 <= self.largest_step()
    }
}

/// Marks the waits of each climb.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    if pauses.len() < EXACT {
        return;
    }
    let rounds = rounds(pauses, contexts);
    mark_slow(&rounds, pauses, contexts);
    let opening = pauses.iter().position(|pause| !pause.first).unwrap_or(0);
    let mut start = 0;
    for end in 1..=rounds.len() {
        let flight = |at: usize| Flight::of(&pauses[rounds[at]]);
        let opens = |at: usize| rounds[at - 1] == opening && is_exact(&pauses[opening], &pauses[rounds[at]]);
        let grows = |at: usize| flight(at - 1).step(flight(at).bytes).is_some() || opens(at);
        if end < rounds.len() && grows(end) {
            continue;
        }
        let climb = &rounds[start..end];
        let (first, last) = (rounds[start], rounds[end - 1]);
        // Windows of whole segments are counted elsewhere, and another limit may have cut the last flight.
        let cut = climb[..climb.len() - 1].iter().any(|round| !pauses[*round].is_whole());
        let starts = EXACT <= climb.len() && opens(start + 1);
        let flights: Vec<Flight> = climb.iter().map(|round| Flight::of(&pauses[*round])).collect();
        if cut && (starts || is_climb(&flights)) {
            mark(first..=last, pauses, contexts);
        }
        start = end;
    }
}

/// Marks the waits of each climb by any step up to a segment.
fn mark_slow(rounds: &[usize], pauses: &[Facts], contexts: &mut [Context]) {
    let rises = |now: &usize, next: &usize| Flight::of(&pauses[*now]).rises_to(pauses[*next].flight_at_start);
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
    marked.filter(|(pause, context)| waits(pause, context)).for_each(|(_, context)| context.bytes_grow = true);
}

/// The first wait of each round trip, without those that stand to the byte.
fn rounds(pauses: &[Facts], contexts: &[Context]) -> Vec<usize> {
    let mut began: Option<Nanos> = None;
    let mut rounds = Vec::new();
    for (index, (pause, context)) in pauses.iter().zip(contexts).enumerate() {
        if waits(pause, context) && began.is_none_or(|began| pause.start() - began >= pause.rtt().scaled(ROUND)) {
            began = Some(pause.start());
            rounds.push(index);
        }
    }
    rounds.dedup_by_key(|round| pauses[*round].flight_at_start);
    rounds
}

/// An ACK ended the wait, the peer's window had room, and more was queued: a buffer that was sent to its end would have
/// ended with PSH (RFC 9293 §3.9.1.2). Where each segment has PSH, a loss must have lowered the window: no loss makes a buffer smaller.
fn waits(pause: &Facts, context: &Context) -> bool {
    let queued = !pause.before.pushed || context.pushes_each && pause.losses > 0;
    let full = !pause.first && pause.has_room() == Some(true) && queued && pause.flight_at_start > 0;
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

/// Flights that grow at each step are enough for a climb.
pub(super) fn is_climb(flights: &[Flight]) -> bool {
    let doubles = flights.windows(2).all(|pair| pair[0].step(pair[1].bytes) == Some(true));
    flights.len() >= if doubles { DOUBLING } else { CREEPING }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(bytes: i64) -> Flight {
        Flight { bytes, segments: 0, mss: 1_448 }
    }

    fn climbs(bytes: &[i64]) -> bool {
        is_climb(&bytes.iter().copied().map(flight).collect::<Vec<_>>())
    }

    #[test]
    fn flights_that_double_or_grow_by_a_segment_are_a_climb() {
        assert!(climbs(&[2_048, 4_096, 8_192]));
        assert!(climbs(&[3_088, 3_779, 4_833, 5_679, 6_406]));
        assert!(!climbs(&[2_048, 4_096]), "once is an accident");
        assert!(!climbs(&[3_088, 3_779, 4_833, 5_679]), "so are three small steps");
    }

    #[test]
    fn any_step_up_to_a_segment_is_a_rise() {
        assert!(flight(5_052).rises_to(5_284));
        assert!(!flight(5_052).rises_to(5_052), "a level");
        assert!(!flight(5_052).rises_to(8_000), "two segments");
    }

    #[test]
    fn a_flight_of_twice_as_many_segments_grows_by_two() {
        let pieces = Flight { bytes: 6_915, segments: 34, mss: 524 };
        assert_eq!(pieces.step(6_915 + 1_279), Some(false));
        assert_eq!(pieces.step(6_915 + 1_800), None);
        assert_eq!(Flight { segments: 14, ..pieces }.step(6_915 + 1_279), None);
    }

    #[test]
    fn a_level_is_no_step() {
        assert_eq!(flight(8_192).step(8_192), None);
        assert_eq!(flight(8_192).step(8_100), None);
        assert_eq!(flight(3_000).step(9_000), None, "no window triples");
    }
}
