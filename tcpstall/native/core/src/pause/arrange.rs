//! Arranges a finished flow's pauses: they are settled and compared, and the sender's traits are learnt from them.

use super::bottleneck::BusyPeriod;
use super::builder::Builder;
use super::burst::Burst;
use super::context;
use super::pauses::Pauses;
use super::settle::{self, Settled, Shown};
use super::trait_evidence;
use super::trait_evidence::spare_segment;

/// Round trips of the path behind a relay that a wait for one of them takes at most, a queue included.
const ROUNDS: i64 = 2;

/// Settles the pauses of one sender, and gives each of them its context.
pub(super) fn arrange(builder: &mut Builder, busy_periods: &[BusyPeriod], shown: &Shown) -> (Pauses, Vec<Burst>) {
    let (frozen, later) = std::mem::take(&mut builder.pauses).unpacked();
    let bursts = std::mem::take(&mut builder.bursts);
    let Settled { pauses, bursts, full_for } = settle::settle(frozen, &later, shown, bursts);
    builder.full_for += full_for;
    if pauses.is_empty() || !builder.sending() {
        return (Pauses::default(), bursts);
    }
    let mut contexts = context::compare(&pauses, busy_periods, &builder.reading);
    let options = shown.connection.half(shown.sender).mss_options();
    spare_segment::find(&pauses, &mut contexts, options);
    contexts[0].as_in_handshake = shown.is_as_in_handshake(&pauses[0]);
    if let Some(path) = shown.path_behind_relay(&pauses) {
        for (context, pause) in contexts.iter_mut().zip(&pauses) {
            context.may_be_behind_relay = !pause.near_sender() && pause.duration() <= path.times(ROUNDS);
        }
    }
    contexts[0].unasked_until = shown.unasked_until(&pauses[0]);
    let pauses = trait_evidence::settle(pauses, &mut contexts);
    (Pauses::new(pauses, contexts), bursts)
}
