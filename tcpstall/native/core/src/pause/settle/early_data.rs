//! Infers that the capture holds ACKs after the data that they released: its two directions were captured apart, by clocks that
//! differ. With timestamps the data says so itself, by what it echoes (RFC 7323 §3.2); a clock of milliseconds shows no order.

use super::super::evidence::Facts;
use super::super::later::Later;

/// Waits of which each ends so by chance once in [`Later::RARELY`] times, and all together once in 262,144.
const WAITS: usize = 3;
/// Share of the waits without an ACK before their end that must end so. A writer's tick that is as long as a round trip ends all
/// of them so, too: therefore no cause is sure.
const MOST: (usize, usize) = (3, 4);

/// True if the data that ended the `pauses` of one sender mostly came just before an ACK, `later`, that does not acknowledge it.
pub(super) fn is_shown(pauses: &[Facts], later: &[Later]) -> bool {
    let early = later.iter().filter(|later| later.soon.is_some()).count();
    if early < WAITS {
        return false;
    }
    let (share, of) = MOST;
    let all = pauses.iter().filter(|pause| pause.ended_unheard()).count();
    early * of >= all * share
}
