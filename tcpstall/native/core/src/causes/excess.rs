//! Assigns the part of a wait beyond the normal round trip to the queue, the receiver or a loss.

use super::cause::Cause;
use super::delayed_ack;
use super::judge::PausePart;
use crate::pause::Pause;
use crate::sender::timers;
use crate::time::Nanos;

/// Owner of the time by which a round trip exceeded the path's smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcessOwner {
    /// A queue on the path: ACKs kept arriving while it drained, or round trips had grown before.
    Queue,
    /// The receiver's host: no ACK at all, then one for all data.
    ReceiverSilent,
    /// The receiver's delayed-ACK timer.
    DelayedAck,
    /// Lost packets and their repair.
    Loss,
    /// The round trip was longer, and the capture does not show why.
    Unknown,
}

impl ExcessOwner {
    /// Name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            ExcessOwner::Queue => "queue",
            ExcessOwner::ReceiverSilent => "receiver-silent",
            ExcessOwner::DelayedAck => "delayed-ack",
            ExcessOwner::Loss => "loss",
            ExcessOwner::Unknown => "unknown",
        }
    }
}

/// Time beyond the normal round trip, with its owner where it is long enough to matter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Excess {
    /// Length; `None` where the sender did not wait for an answer.
    pub span: Option<Nanos>,
    /// Owner of that time.
    pub owner: Option<ExcessOwner>,
}

/// Excess of one part of a pause.
pub fn excess(pause: &Pause, part: &PausePart) -> Excess {
    let Some(base) = pause.base_rtt else { return Excess::default() };
    let length = part.end - part.start;
    // An excess below a tenth of the round trip, or below a millisecond, is jitter and the serialisation time of a
    // burst.
    let worth = base.scaled(0.1).max(Nanos::from_millis(1));
    match part.cause {
        Cause::Retransmission => {
            let span = (length - base).or_zero();
            Excess { span: Some(span), owner: (span > worth).then_some(ExcessOwner::Loss) }
        }
        Cause::AppLimited | Cause::Handshake | Cause::ZeroWindow | Cause::Pacing => Excess::default(),
        Cause::CaptureGap | Cause::Unexplained => Excess::default(),
        _ => match pause.slowest_ack.rtt {
            Some(rtt) => {
                let span = (rtt - base).or_zero().min(length);
                Excess { span: Some(span), owner: (span > worth).then(|| owner(pause, part.cause, span, base)) }
            }
            None => Excess::default(),
        },
    }
}

fn owner(pause: &Pause, cause: Cause, excess: Nanos, base: Nanos) -> ExcessOwner {
    let answer = &pause.slowest_ack;
    let alone = answer.out <= 2 && pause.left_in_flight == 0 && excess >= delayed_ack::SHORTEST;
    if cause == Cause::DelayedAck || (alone && excess <= timers::LONGEST_DELAYED_ACK) {
        return ExcessOwner::DelayedAck;
    }
    // A queue drains: after it ACKs arrive at the bottleneck's rate. Where no ACK arrived for the whole excess, no
    // queue drained.
    let quiet = answer.silence >= excess;
    let risen = pause.srtt.is_some_and(|srtt| srtt >= base + excess.scaled(0.5));
    match (quiet, risen, answer.at_once_for_all(pause.acked, excess.scaled(0.1).max(pause.tolerance()))) {
        (false, _, _) | (_, true, false) => ExcessOwner::Queue,
        (true, _, true) => ExcessOwner::ReceiverSilent,
        (true, false, false) => ExcessOwner::Unknown,
    }
}
