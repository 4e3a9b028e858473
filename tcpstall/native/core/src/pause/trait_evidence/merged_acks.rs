//! Recognises a sender whose congestion window counts two segments at most for each ACK, by flights that fill such a window.

use super::super::evidence::Facts;
use crate::traits::{BurstAndPause, Tail};

/// Divisor of that window: the usual model has room for an eighth more at least, or the two cannot be told apart.
const APART: u32 = 8;
/// Share of the window that a full one may have left: the growth counts segments with their options.
const SLACK: u32 = 32;
/// Windows of different size that were full, from which that is no accident.
const WINDOWS: usize = 2;

impl Facts {
    /// The flight fills the window that counts two segments at most for each ACK (RFC 3465 §2.3), well below the usual one.
    pub fn fills_two_per_ack(&self, out: u32) -> bool {
        let apart = |window: &u32| APART * self.cwnd.saturating_sub(*window) >= *window;
        let full = |window: u32| out + 1 + window / SLACK >= window && out <= window + 1 + window / SLACK;
        self.two_per_ack.filter(apart).is_some_and(full)
    }
}

/// Waits for ACKs with so many segments out filled such a window, each larger than the one before.
pub(super) fn are_counted_twice(pauses: &[Facts], rounds: &[BurstAndPause]) -> bool {
    let whole = |round: &BurstAndPause| round.is_wait() && round.tail == Tail::Whole && round.losses == 0;
    let filled = |(pause, round): (&Facts, &BurstAndPause)| {
        pause.two_per_ack.filter(|_| whole(round) && pause.fills_two_per_ack(round.out))
    };
    let mut windows: Vec<u32> = pauses.iter().zip(rounds).filter_map(filled).collect();
    windows.dedup();
    windows.len() >= WINDOWS
}
