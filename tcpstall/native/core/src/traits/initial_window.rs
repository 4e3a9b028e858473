//! Initial window: the first flight from which growth began.
//!
//! Prior     10 segments (RFC 6928 §2)
//! Evidence  the first wait of the flow begins a climb; climbs after an idle period that begin with as many segments
//!           agree
//! Learnt    once two climbs began this way
//! Source    RFC 5681 §3.1 (2 to 4 segments), RFC 3390, RFC 2581 (1 or 2), RFC 6928

use super::growth::GrowthRun;
use super::{BurstAndPause, Observed};

pub(super) fn learn(rounds: &[BurstAndPause], climbs: &[GrowthRun]) -> Observed<u32> {
    let first_wait = rounds.iter().position(|round| !round.no_burst);
    let Some(first) = climbs.first().filter(|climb| Some(*climb.rounds.start()) == first_wait) else {
        return Observed::default();
    };
    let window = |climb: &GrowthRun| rounds[*climb.rounds.start()].out;
    let start = window(first);
    let agree = climbs.iter().filter(|climb| window(climb) == start).count();
    Observed::of(start, agree as u32)
}
