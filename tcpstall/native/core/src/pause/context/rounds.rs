//! Counts round trips.

use super::super::evidence::Facts;
use crate::time::Nanos;

/// Part of a round trip after which a wait belongs to the next: all that was in flight has been acknowledged by then, but for the end
/// of a burst that took long, and what one ACK of a flight released begins a wait of its own.
pub(super) const ROUND: f64 = 0.75;

/// Round trips in pauses given in order of time: a round may be sent in several bursts.
#[derive(Default)]
pub(super) struct Rounds {
    /// How many there are.
    pub(super) count: u32,
    began: Option<Nanos>,
}

impl Rounds {
    /// Takes in the next pause.
    pub(super) fn add(&mut self, pause: &Facts) {
        if self.began.is_none_or(|began| pause.start() - began >= pause.rtt().part(2)) {
            self.began = Some(pause.start());
            self.count += 1;
        }
    }
}
