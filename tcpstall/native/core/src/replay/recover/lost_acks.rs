//! Infers acknowledgements that the path lost: a timer sent data again that had arrived, and only the repetition was answered.

use super::limits::NEAR;
use crate::flow::End;
use crate::replay::record::{PassingKind, Record};
use crate::replay::setup::LostAcks;
use crate::time::Nanos;

/// Silence before a retransmission, in round trips, from which a timer started it.
const TIMER: f64 = 1.5;
/// Share of a round trip after a retransmission from which an acknowledgement answers it.
const ANSWERS: f64 = 0.9;

/// Lost acknowledgements of the data of `sender`, at a tap next to the sender: `distance` is the round trip between them.
pub(super) fn lost_acks(record: &Record, sender: End, distance: Nanos, rtt: Nanos) -> Vec<LostAcks> {
    let mut found = Vec::new();
    if distance > rtt.scaled(NEAR) {
        return found;
    }
    let (mut acked, mut last) = (0, None);
    // Retransmissions that a timer started, and the time of the latest one.
    let (mut repeats, mut again) = (0, Nanos::ZERO);
    for passing in &record.passings {
        if passing.sender == sender {
            let quiet = last.is_some_and(|last| passing.time - last > rtt.scaled(TIMER));
            if passing.bytes > 0 && passing.kind == PassingKind::Again && quiet {
                (repeats, again) = (repeats + 1, passing.time);
            }
            if passing.bytes > 0 {
                last = Some(passing.time);
            }
            continue;
        }
        let Some(ack) = passing.ack else { continue };
        let twice = passing.sack.is_some_and(|(_, right)| right <= ack);
        if ack > acked {
            // RFC 2883 §4: a block below the acknowledgement reports data that came twice.
            if repeats > 0 && twice && passing.time - again >= rtt.scaled(ANSWERS) {
                found.push(LostAcks { from: acked, repeats });
            }
            (acked, repeats) = (ack, 0);
        }
        last = Some(passing.time);
    }
    found
}
