//! Growth of a receiver's window from round trip to round trip.

use crate::replay::setup::WindowGrowth;
use crate::time::Nanos;

/// Share of a round trip after which data belongs to the next one.
pub const NEXT_ROUND: f64 = 0.75;

/// State of the growth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GrowthState {
    /// Start of the present round trip, with what had arrived before.
    round: Option<(Nanos, i64)>,
    /// Everything that had arrived when the growth started.
    start: Option<i64>,
}

impl GrowthState {
    /// Takes in that data arrived `now`, after everything below `before` had, over a path of this round trip.
    pub(super) fn arrives(&mut self, growth: WindowGrowth, now: Nanos, before: i64, rtt: Nanos) {
        if self.start.is_some() {
            return;
        }
        let (begin, from) = *self.round.get_or_insert((now, before));
        if now - begin >= rtt.scaled(NEXT_ROUND) {
            self.start = (before - from > growth.enough).then_some(before);
            self.round = Some((now, before));
        }
    }

    /// Right edge when everything below `arrived` has arrived and the reader permits the edge `wanted`.
    pub(super) fn edge(self, growth: WindowGrowth, arrived: i64, wanted: i64) -> i64 {
        match self.start {
            None => wanted.min(arrived + growth.first),
            Some(start) => {
                let grown = growth.first + (growth.slope * (arrived - start) as f64) as i64;
                arrived + grown.min(growth.most)
            }
        }
    }
}
