//! Counts round trips.

use super::super::evidence::Facts;
use crate::time::Nanos;

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
