//! Growth of CUBIC's window before its first loss: by a twentieth from round trip to round trip.
//!
//! Linux leaves slow start without a loss where the round trip grows (HyStart). From there to the first loss `bictcp_update` lets the
//! window grow by a segment for each 20 that were acknowledged. Away from the sender the model may miss the end of slow start, and its
//! window is twice as large from then on, so that these flights look like those of a send buffer. A buffer does not grow so evenly.

use super::super::evidence::Facts;
use super::super::pauses::Context;
use super::rounds::ROUND;
use crate::sender::cwnd::CongestionPhase;
use crate::time::Nanos;

/// Segments in flight from which a step of a twentieth is three segments or more, and one more or less is no other step.
const LEAST: u32 = 60;
/// Divisors of a flight: its step is no smaller and no larger. Linux defers a frame now and then, and ACKs of two segments shift a flight.
const STEPS: (u32, u32) = (25, 16);
/// Steps in a row that are no accident.
const SURE: usize = 2;

/// Marks the waits of each such climb.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    if pauses.iter().all(|pause| pause.segments_at_start < LEAST) {
        return;
    }
    let rounds = rounds(pauses);
    let mut start = 0;
    for end in 1..=rounds.len() {
        if end < rounds.len() && is_step(&pauses[rounds[end - 1]], &pauses[rounds[end]]) {
            continue;
        }
        let climb = &rounds[start..end];
        // One step is enough from a flight that filled the window to which slow start had doubled.
        let enough = if ends_slow_start(pauses, climb[0]) { 1 } else { SURE };
        if climb.len() > enough {
            climb.iter().for_each(|&at| contexts[at].creeping = true);
        }
        start = end;
    }
}

/// The wait of each round trip that had most in flight.
fn rounds(pauses: &[Facts]) -> Vec<usize> {
    let mut began: Option<Nanos> = None;
    let mut rounds: Vec<usize> = Vec::new();
    for (index, pause) in pauses.iter().enumerate().filter(|(_, pause)| waits(pause)) {
        match rounds.last_mut() {
            Some(last) if began.is_some_and(|began| pause.start() - began < pause.rtt().scaled(ROUND)) => {
                if pause.segments_at_start > pauses[*last].segments_at_start {
                    *last = index;
                }
            }
            _ => {
                began = Some(pause.start());
                rounds.push(index);
            }
        }
    }
    rounds
}

/// An ACK ended the wait of a sender that had lost nothing yet.
fn waits(pause: &Facts) -> bool {
    let calm = pause.losses == 0 && pause.retransmissions == 0 && !pause.recovering && !pause.flight_unknown;
    calm && !pause.first && !pause.is_turn() && (pause.released_by_ack() || pause.may_be_path())
}

fn is_step(now: &Facts, next: &Facts) -> bool {
    let (small, large) = (now.segments_at_start, next.segments_at_start);
    small >= LEAST && (small + small.div_ceil(STEPS.0)..=small + small / STEPS.1).contains(&large)
}

/// The flight fills the window that slow start has made, or is twice one that filled it, to the segment: that is no accident.
fn ends_slow_start(pauses: &[Facts], at: usize) -> bool {
    let fills = |pause: &Facts| {
        let known = pause.cwnd_known && pause.phase == CongestionPhase::SlowStart;
        known && pause.segments_at_start == pause.cwnd
    };
    let flight = pauses[at].segments_at_start;
    fills(&pauses[at]) || pauses[..at].iter().any(|pause| 2 * pause.segments_at_start == flight && fills(pause))
}
