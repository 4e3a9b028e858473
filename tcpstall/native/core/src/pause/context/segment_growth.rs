//! Growth of a congestion window that its sender counts in segments: slow start, then congestion avoidance.

use super::super::evidence::Facts;
use super::super::pauses::{ALIKE, Context};
use super::rounds::Rounds;
use crate::sender::cwnd::INITIAL_WINDOW;

/// Ratio of a flight to the one before in slow start, which doubles a flight, or adds a segment per ACK where the peer
/// delays its ACKs; nothing else grows every round.
const GROWTH: std::ops::RangeInclusive<f64> = 1.08..=2.2;
/// Rounds of growth from which the growth is no accident.
const CREEPING_ROUNDS: u32 = 4;
/// Steps of such a growth: a single one is none.
const RISES: usize = 2;
/// Segments of growth without a step back from which a slower growth suffices: near its old maximum CUBIC takes longer.
const LEAST_CREEP: u32 = 3;
/// Steps of a segment from which a growth slower still is no accident.
const SLOW_CREEP: u32 = 4;
/// Round trips for each of these steps: one for each segment that an ACK covers (RFC 5681 §3.1, equation 3).
const ROUNDS_FOR_EACH: u32 = 5;
/// Segments of a frame that a sender keeps back.
const DEFERRED: u32 = 2;
/// Divisor of the first of the flights that hold short segments: from so many segments on it is growth.
const MUCH: u32 = 8;

/// Detects slow start from an initial window that the model does not know (RFC 2581: one to four segments): only a
/// congestion window grows round after round, twofold or by a segment per ACK. A window counted in bytes (RFC 3465)
/// doubles to the byte and cuts the last segment of a flight.
pub(super) fn find_doubling(pauses: &[Facts], contexts: &mut [Context]) {
    let first = pauses.iter().find(|pause| !pause.first);
    if first.is_none_or(|pause| pause.segments_at_start >= INITIAL_WINDOW) {
        return;
    }
    let mut before: Option<i64> = None;
    for (pause, context) in pauses.iter().zip(contexts).skip_while(|(pause, _)| pause.first) {
        let (flight, mss) = (pause.flight_at_start, i64::from(pause.mss.max(1)));
        let doubled = before.is_some_and(|before| (flight - 2 * before).abs() < mss);
        let full = flight > 0 && (flight % mss == 0 || doubled || pause.is_even());
        before = Some(flight);
        // A window that has room for less than a segment is full (RFC 9293 §3.8.6.2.1): it may be larger by that than its flight.
        let grows = |next: i64| {
            next as f64 >= GROWTH.start() * flight as f64 && next as f64 <= GROWTH.end() * (flight + mss) as f64
        };
        context.doubling = full && pause.released_soon() && context.next_flight.is_none_or(grows);
        if !context.doubling {
            return;
        }
    }
}

/// Detects congestion avoidance: it raises the window a little every round trip, about a segment by Reno and at least
/// 5 % by CUBIC before the first loss. A buffer is constant or swings.
pub(super) fn find_creeping(pauses: &[Facts], contexts: &mut [Context]) {
    if pauses.len() < CREEPING_ROUNDS as usize {
        return;
    }
    let whole = |pause: &Facts| {
        let whole = !pause.short_segment_out || pause.before.ends_whole(pause.mss) || pause.is_even();
        let goes_on = pause.flight_at_start > 0 && !pause.first;
        whole && goes_on && (pause.released_by_ack() || pause.may_be_path())
    };
    let full: Vec<usize> = (0..pauses.len()).filter(|&index| whole(&pauses[index])).collect();
    let segments = |index: usize| pauses[index].segments_at_start;
    let grows = |pair: &[usize]| {
        let (now, next) = (segments(pair[0]), segments(pair[1]));
        (now..=now + (now / 5).max(1)).contains(&next)
    };
    let mut runs: Vec<&[usize]> = Vec::new();
    let mut start = 0;
    // Between two flights that grow, one is smaller by what Linux defers: a frame of two segments (`tcp_tso_should_defer`).
    let dips = |at: usize| {
        let (Some(&now), Some(&next)) = (full.get(at), full.get(at + 1)) else { return false };
        let before = full[at - 1];
        let whole = [before, now, next].iter().all(|&index| !pauses[index].short_segment_out);
        whole && (segments(now)..=segments(now) + DEFERRED).contains(&segments(before)) && grows(&[before, next])
    };
    for end in 1..=full.len() {
        if end == full.len() || !grows(&full[end - 1..=end]) && !dips(end) {
            runs.push(&full[start..end]);
            start = end;
        }
    }
    let creeps = |run: &&[usize]| {
        let growth = segments(run[run.len() - 1]).saturating_sub(segments(run[0]));
        // From the floor of ssthresh (RFC 5681 §3.1) the first steps take longest: half a segment of growth on two is
        // not sent yet.
        let short = u32::from(segments(run[0]) <= 2 && growth >= 2);
        let mut rounds = Rounds::default();
        run.iter().for_each(|&index| rounds.add(&pauses[index]));
        let rounds = rounds.count;
        let steady = growth >= LEAST_CREEP && 3 * growth >= rounds - 1;
        // The same stairs up and never down, a segment high.
        let steps = run.windows(2).filter(|pair| segments(pair[1]) == segments(pair[0]) + 1).count() as u32;
        let falls = run.windows(2).any(|pair| segments(pair[1]) < segments(pair[0]));
        let climbs = !falls && steps >= SLOW_CREEP && ROUNDS_FOR_EACH * steps >= rounds - 1;
        // Flights of whole segments that a buffer held may swing up once among flights that end with less than one.
        let rises = run.windows(2).filter(|pair| segments(pair[1]) > segments(pair[0])).count();
        // Short segments among whole ones count as whole: another number of them is no growth.
        let parted = run.iter().any(|&index| pauses[index].short_segment_out);
        let much = !parted || MUCH * growth >= segments(run[0]);
        // A limit counted in bytes was full in between: it did not grow.
        let stands = stand(run.iter().map(|&index| &pauses[index]));
        rises >= RISES
            && rounds >= CREEPING_ROUNDS
            && much
            && !stands
            && (2 * (growth + short) >= rounds - 1 || steady || climbs)
    };
    let creeping: Vec<usize> = runs.into_iter().filter(creeps).flatten().copied().collect();
    creeping.into_iter().for_each(|index| contexts[index].creeping = true);
}

/// Several of the flights are equal to the byte, and end within a segment.
fn stand<'a>(pauses: impl Iterator<Item = &'a Facts>) -> bool {
    let mut parted: Vec<i64> =
        pauses.filter(|pause| pause.short_segment_out).map(|pause| pause.flight_at_start).collect();
    parted.sort_unstable();
    parted.chunk_by(|a, b| a == b).any(|alike| alike.len() >= ALIKE)
}
