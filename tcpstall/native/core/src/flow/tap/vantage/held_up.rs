//! Tells by echoes that came too late that the path takes longer now.

use super::Vantage;
use super::echo::Stamp;
use crate::time::Nanos;

/// Consecutive echoes that must contradict the level: one may be due to an ACK lost between the tap and the end.
const CONTRADICTIONS: u32 = 2;

/// Echoes that were too late for the level.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct HeldUp {
    echoes: u32,
    pub(super) least: Nanos,
}

impl Vantage {
    /// Takes in an echo that may contradict the level; `span` is its own time. An end echoes the newest TSval that has
    /// reached it (RFC 7323 §4.3). If a newer one passed the tap longer ago than the level allows, that one is still on
    /// its way: the path takes longer now, by a queue or by another route.
    pub(super) fn contradict(&mut self, now: Nanos, span: Nanos) {
        let (Some(level), Some(&Stamp { passed: newer, .. })) = (self.min_rtt.get(), self.pending.front()) else {
            return;
        };
        let longest = level + level.part(4).max(Nanos::from_millis(2));
        if span <= longest {
            self.held_up = HeldUp::default();
        } else if now - newer > longest {
            let least = if self.held_up.echoes == 0 { span } else { self.held_up.least.min(span) };
            self.held_up = HeldUp { echoes: self.held_up.echoes + 1, least };
        }
    }

    /// The path takes longer now than its level.
    #[inline]
    pub fn is_held_up(&self) -> bool {
        self.held_up.echoes >= CONTRADICTIONS
    }
}
