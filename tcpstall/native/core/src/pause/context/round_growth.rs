//! Growth of what arrives in each round trip, away from the sender: there a path that varies hides which ACK let which data go.
//!
//! Several bursts in a row end in the middle of a write, and the peer's window has room. Then a window of the sender cuts them,
//! and one that grows from round trip to round trip is the congestion window (RFC 5681 §3.1): no buffer does.

use super::super::evidence::Facts;
use super::super::pauses::Context;
use super::byte_growth::{Flight, is_climb};

/// Divisor of a round trip: after a shorter silence a burst is a piece of the same flight.
const APART: i64 = 2;

/// Round trips of growth that are no accident anywhere.
const LONG: usize = 5;

/// Bytes that arrived in one round trip, and the pauses after its bursts.
struct Round {
    bytes: i64,
    pauses: std::ops::RangeInclusive<usize>,
}

/// Marks the waits of each climb.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    let mut start = 0;
    while start < pauses.len() {
        let run = pauses[start..].iter().take_while(|pause| is_cut_off(pause)).count();
        if run > 1 {
            mark(&pauses[start..start + run], &mut contexts[start..start + run]);
        }
        start += run.max(1);
    }
}

/// The burst before ended in the middle of a write, more followed without a word of the peer, and nothing was lost.
fn is_cut_off(pause: &Facts) -> bool {
    let cut = !pause.first && pause.ended && pause.before.is_cut(pause.mss) && !pause.near_sender();
    let calm = pause.retransmissions == 0 && pause.hole.is_none() && pause.hole_before == 0 && pause.loss_hints == 0;
    cut && calm && pause.peer_bytes == 0 && pause.has_room() == Some(true) && pause.closed.is_none()
}

fn mark(pauses: &[Facts], contexts: &mut [Context]) {
    let rounds = rounds(pauses);
    let mut start = 0;
    for end in 1..=rounds.len() {
        if end < rounds.len() && grows(&rounds[end - 1], &rounds[end], i64::from(pauses[0].mss)) {
            continue;
        }
        let flight = |round: &Round| Flight { bytes: round.bytes, segments: 0, mss: pauses[0].mss };
        let flights: Vec<Flight> = rounds[start..end].iter().map(flight).collect();
        // Among bursts of any size three that grow are an accident, but not the first three of a write.
        if is_climb(&flights) && (start == 0 || flights.len() >= LONG) {
            // Another limit may have cut the last flight, where the next one was no larger.
            let last = if end < rounds.len() { end - 2 } else { end - 1 };
            let climb = *rounds[start].pauses.start()..=*rounds[last].pauses.end();
            contexts[climb].iter_mut().for_each(|context| context.rounds_grow = true);
        }
        start = end;
    }
}

fn rounds(pauses: &[Facts]) -> Vec<Round> {
    let (mut rounds, mut start) = (Vec::new(), 0);
    for part in pauses.chunk_by(|pause, _| pause.duration() < pause.rtt().part(APART)) {
        let bytes = part.iter().map(|pause| pause.before.bytes as i64).sum();
        rounds.push(Round { bytes, pauses: start..=start + part.len() - 1 });
        start += part.len();
    }
    rounds
}

/// The next round trip brought a segment more at least, and twice as much at most.
fn grows(now: &Round, next: &Round, mss: i64) -> bool {
    (now.bytes + mss..=2 * now.bytes + mss).contains(&next.bytes)
}
