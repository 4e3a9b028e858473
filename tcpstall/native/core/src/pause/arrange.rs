//! Arranges a finished flow's pauses: they are settled, and each gets the context of its neighbours.

use super::bottleneck::BusyPeriod;
use super::builder::Builder;
use super::burst::Burst;
use super::context;
use super::evidence::Pause;
use super::settle::{self, Settled, Shown};

/// Settles the pauses of one sender, and gives each of them its neighbours' evidence.
pub(super) fn arrange(builder: &mut Builder, busy_periods: &[BusyPeriod], shown: &Shown) -> (Vec<Pause>, Vec<Burst>) {
    let (frozen, later) = std::mem::take(&mut builder.pauses).unpacked();
    let bursts = std::mem::take(&mut builder.bursts);
    let Settled { mut pauses, bursts, full_for } = settle::settle(frozen, &later, shown, bursts);
    builder.full_for += full_for;
    if !builder.sending() {
        pauses.clear();
    }
    context::fill(&mut pauses, busy_periods);
    context::tell_reading(&mut pauses, &builder.reading);
    (pauses, bursts)
}
