//! Infers that the capture holds ACKs after the data that they released: its two directions were captured apart, by clocks that
//! differ. With timestamps the data says so itself, by what it echoes (RFC 7323 §3.2); a clock of milliseconds shows no order.

use super::super::evidence::Facts;
use super::super::later::Later;
use crate::time::Nanos;

/// Waits of which each ends so by chance once in [`Later::RARELY`] times, and all together once in 262,144.
const WAITS: usize = 3;
/// Divisor of the time in waits without an ACK before their end: less than this part of it may end otherwise, as short waits do
/// where the clocks differ by a good part of them. A writer's tick that is as long as a round trip ends all waits so, too: therefore
/// no cause is sure.
const OTHERS: i64 = 4;

/// True if the data that ended the `pauses` of one sender mostly came just before an ACK, `later`, that does not acknowledge it.
pub(super) fn is_shown(pauses: &[Facts], later: &[Later]) -> bool {
    let early = || later.iter().filter(|later| later.soon.is_some()).filter_map(|later| pauses.get(later.pause));
    if early().count() < WAITS {
        return false;
    }
    let all = time_in(pauses.iter().filter(|pause| pause.ended_unheard()));
    (all - time_in(early())).times(OTHERS) < all
}

fn time_in<'a>(pauses: impl Iterator<Item = &'a Facts>) -> Nanos {
    pauses.fold(Nanos::ZERO, |time, pause| time + pause.duration())
}
