//! The next part of one sender's pauses: those that are over are let go, the pause that lasts continues.

use super::{Builder, KeptPauses, PAUSE_LIMIT, Repairs};
use crate::pause::bottleneck::Bottleneck;
use crate::pause::losses::Losses;
use crate::time::Nanos;

impl Builder {
    /// Pauses and stretches of a busy path that are remembered.
    pub fn past(&self) -> usize {
        self.pauses.len() + self.bottleneck.as_ref().map_or(0, |bottleneck| bottleneck.busy_periods())
    }

    /// The builder with its present burst or pause, and no pause.
    pub(in crate::pause) fn next_part(self) -> Builder {
        Builder {
            taken_for_timeout: None,
            full_for: Nanos::ZERO,
            pauses: KeptPauses::default(),
            pause_room: PAUSE_LIMIT,
            dropped: 0,
            untold_from: None,
            initial_flight: None,
            initial_open: false,
            repairs: self.repairs.map(|repairs| Box::new(Repairs::next_part(*repairs))),
            losses: self.losses.map(|losses| Box::new(Losses::next_part(*losses))),
            bottleneck: self.bottleneck.map(|bottleneck| Box::new(Bottleneck::next_part(*bottleneck))),
            ..self
        }
    }
}
