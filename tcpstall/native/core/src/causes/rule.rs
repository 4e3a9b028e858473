//! The shape that every rule has.

use super::cause::Cause;
use super::limits::Limits;
use crate::gap::Gap;
use crate::gap::builder::LEAST_GAP;

/// What a rule says of a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// This was it.
    Yes(Proof),
    /// This was not it.
    No,
    /// What is missing to tell.
    CannotTell(Missing),
}

impl Verdict {
    /// This one, or where it was not it the next.
    pub(super) fn or(self, next: impl FnOnce() -> Verdict) -> Verdict {
        match self {
            Verdict::No => next(),
            found => found,
        }
    }
}

/// How sure a rule is, and the narrower word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proof {
    /// A word that narrows the cause; empty where there is none.
    pub detail: &'static str,
    /// 0 to 1.
    pub confidence: f32,
}

/// What a rule would have needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing(pub &'static str);

impl Missing {
    /// Both SYNs, for the window scale.
    pub const WINDOW_SCALE: Missing = Missing("window scale: the handshake was not captured");
    /// The beginning of the connection, for the congestion window.
    pub const START: Missing = Missing("congestion window: the start of the connection was not captured");
    /// Packets that were left out or dropped by the capture.
    pub const PACKETS: Missing = Missing("packets that the capture does not hold");
    /// The tap's distance from the sender, to put ACKs and data in order.
    pub const DISTANCE: Missing = Missing("how far from the sender the capture was taken, when this wait began");
    /// The sender's own side of a queue before the tap.
    pub const DEPARTURE: Missing =
        Missing("departure: a queue before the tap held what ended the wait, by its timestamps");
    /// The other subflows of a multipath connection.
    pub const SUBFLOWS: Missing =
        Missing("the other subflows: window and data are those of the whole multipath connection");
    /// The packets of one end.
    pub const OTHER_END: Missing = Missing("packets of the other end: only one direction was captured");
    /// More flights of the same size.
    pub const ROUNDS: Missing = Missing("more flights alike: a small one alone shows no send buffer");
    /// ACKs of the peer that reached the sender.
    pub const ACKS: Missing =
        Missing("ACKs: data stayed unacknowledged for longer than any timer and was not sent again");
    /// The time of a packet.
    pub const TIME: Missing = Missing("time: a packet carries a time that cannot be");
    /// A round trip, to compare with.
    pub const ROUND_TRIP: Missing = Missing("round trip time: no data of this flow was acknowledged in the capture");
}

/// A rule: a pure function of a gap's evidence.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The cause that it finds.
    pub cause: Cause,
    /// The judgement.
    pub judge: fn(&Gap, &Limits) -> Verdict,
}

/// Shorthand for a yes.
pub(super) const fn yes(detail: &'static str, confidence: f32) -> Verdict {
    Verdict::Yes(Proof { detail, confidence })
}

/// The capture holds packets so much out of order that which of them came before the others is not certain.
pub(super) fn is_blurred(gap: &Gap) -> bool {
    gap.disorder > LEAST_GAP
}
