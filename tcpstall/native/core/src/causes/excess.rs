//! Whose the time of a wait beyond the plain round trip was.

use super::cause::Cause;
use super::delayed_ack;
use super::parts::Part;
use crate::gap::Gap;
use crate::time::Nanos;

/// Who made a round trip longer than the path's smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A queue on the path: ACKs kept coming while it drained, or round trips had grown before.
    Queue,
    /// The receiver's host: no ACK at all, then one for everything.
    ReceiverSilent,
    /// The receiver's delayed-ACK timer.
    DelayedAck,
    /// Lost packets and their repair.
    Loss,
    /// Longer, and nothing tells why.
    Unknown,
}

impl Owner {
    /// The word in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Owner::Queue => "queue",
            Owner::ReceiverSilent => "receiver-silent",
            Owner::DelayedAck => "delayed-ack",
            Owner::Loss => "loss",
            Owner::Unknown => "unknown",
        }
    }
}

/// The time beyond the plain round trip, and its owner where it is worth one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Excess {
    /// How much; `None` where the wait was for no answer.
    pub span: Option<Nanos>,
    /// Whose.
    pub owner: Option<Owner>,
}

/// Of a part of a gap.
pub fn excess(gap: &Gap, part: &Part) -> Excess {
    let Some(base) = gap.base_rtt else { return Excess::default() };
    let length = part.end - part.start;
    // Below a tenth of the round trip, and a millisecond, it is jitter and the time that a burst takes on the wire.
    let worth = base.scaled(0.1).max(Nanos::from_millis(1));
    match part.cause {
        Cause::Retransmission => {
            let span = (length - base).or_zero();
            Excess { span: Some(span), owner: (span > worth).then_some(Owner::Loss) }
        }
        Cause::AppLimited | Cause::Handshake | Cause::ZeroWindow | Cause::Pacing => Excess::default(),
        Cause::CaptureGap | Cause::Unexplained => Excess::default(),
        _ => match gap.answer.rtt {
            Some(rtt) => {
                let span = (rtt - base).or_zero().min(length);
                Excess { span: Some(span), owner: (span > worth).then(|| owner(gap, part.cause, span, base)) }
            }
            None => Excess::default(),
        },
    }
}

fn owner(gap: &Gap, cause: Cause, excess: Nanos, base: Nanos) -> Owner {
    let answer = &gap.answer;
    let alone = answer.out <= 2 && gap.left_in_flight == 0 && excess >= delayed_ack::SHORTEST;
    if cause == Cause::DelayedAck || (alone && excess <= delayed_ack::LONGEST) {
        return Owner::DelayedAck;
    }
    // A queue drains: behind it ACKs come at the bottleneck's pace. Where none came for the whole excess, nothing drained.
    let quiet = answer.silence >= excess;
    let risen = gap.srtt.is_some_and(|srtt| srtt >= base + excess.scaled(0.5));
    match (quiet, risen, answer.at_once_for_all(gap.acked, excess.scaled(0.1).max(gap.tolerance()))) {
        (false, _, _) | (_, true, false) => Owner::Queue,
        (true, _, true) => Owner::ReceiverSilent,
        (true, false, false) => Owner::Unknown,
    }
}
