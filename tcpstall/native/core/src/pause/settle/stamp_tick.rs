//! Detects a clock that advances in steps of milliseconds, as stamps by the tick of an old kernel do: what lies closer together
//! has the same time.

use super::super::evidence::Facts;
use crate::flow::Connection;
use crate::time::{Nanos, common_divisor};

/// Finest step that is looked for: below it hosts' own times count as much.
const FINEST: u64 = 100_000;
/// Coarsest step, beyond a clock of 64 ticks a second. Stamps farther apart measure no wait.
const COARSEST: u64 = 20_000_000;
/// Different times that lie whole steps after the flow's first packet: of a clock of microseconds one in a hundred does so by
/// chance.
const STAMPS: usize = 6;

/// Step of the clock that stamped the flow, by the bursts around the frozen `pauses` of one sender and by the handshake; 0 where
/// the clock is fine enough, or where too few times show a step.
pub(super) fn of(pauses: &[Facts], connection: &Connection) -> Nanos {
    let handshake = &connection.handshake;
    let opening = [handshake.syn_ack, handshake.done, Some(connection.end)].into_iter().flatten();
    let bursts = pauses.iter().filter(|pause| !pause.first).flat_map(|pause| [pause.before.start, pause.start()]);
    let ends = pauses.iter().filter(|pause| pause.ended).map(|pause| pause.end);
    let (mut step, mut last, mut stamps) = (0, 0, 0);
    for time in opening.chain(bursts).chain(ends) {
        let since = (time - connection.start).0.unsigned_abs();
        if !since.is_multiple_of(FINEST) {
            return Nanos::ZERO;
        }
        step = common_divisor(step, since);
        (last, stamps) = (since, stamps + usize::from(since != last));
    }
    if stamps >= STAMPS && (FINEST..=COARSEST).contains(&step) { Nanos(step as i64) } else { Nanos::ZERO }
}
