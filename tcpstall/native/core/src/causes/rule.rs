//! Common shape of the rules: a pure function from a pause to a verdict.

use super::cause::Cause;
use super::limits::Limits;
use crate::pause::LEAST_PAUSE;
use crate::pause::Pause;

/// Verdict of a rule on a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// This cause held the sender.
    Yes(Proof),
    /// This cause did not hold the sender.
    No,
    /// Evidence is missing.
    CannotTell(Missing),
}

impl Verdict {
    /// This verdict if it is yes, otherwise the next one's.
    pub(super) fn or(self, next: impl FnOnce() -> Verdict) -> Verdict {
        match self {
            Verdict::No => next(),
            found => found,
        }
    }
}

/// Detail and confidence of a yes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proof {
    /// Detail that narrows the cause; empty where there is none.
    pub detail: &'static str,
    /// Confidence, 0 to 1.
    pub confidence: f32,
}

/// Evidence that a rule would have needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing(pub &'static str);

impl Missing {
    /// Both SYNs, because they carry the window scale.
    pub const WINDOW_SCALE: Missing = Missing("window scale: the handshake was not captured");
    /// The true window, or the ACKs that opened it.
    pub const WINDOW: Missing = Missing(
        "the peer's window: more was in flight than it allows, so ACKs are missing or a middlebox changed a SYN",
    );
    /// The beginning of the connection, because the congestion window is modelled from there.
    pub const START: Missing = Missing("congestion window: the start of the connection was not captured");
    /// Packets that a paste leaves out or the capture dropped.
    pub const PACKETS: Missing = Missing("packets that the capture does not hold");
    /// The tap's distance from the sender, which decides the order of ACKs and data.
    pub const DISTANCE: Missing = Missing("how far from the sender the capture was taken, when this wait began");
    /// The sender's own side of a queue before the tap.
    pub const DEPARTURE: Missing =
        Missing("departure: a queue before the tap held what ended the wait, by its timestamps");
    /// The other subflows of a multipath connection.
    pub const SUBFLOWS: Missing =
        Missing("the other subflows: window and data are those of the whole multipath connection");
    /// Packets of the other end.
    pub const OTHER_END: Missing = Missing("packets of the other end: only one direction was captured");
    /// More flights of the same size.
    pub const ROUNDS: Missing = Missing("more flights alike: a small one alone shows no send buffer");
    /// ACKs of the peer that reached the sender.
    pub const ACKS: Missing =
        Missing("ACKs: data stayed unacknowledged for longer than any timer and was not sent again");
    /// ACKs, where no timestamps show it.
    pub const UNSTAMPED_ACKS: Missing =
        Missing("ACKs, perhaps: the capture lacks packets of the flow, and without timestamps nothing shows which");
    /// The order of data and ACKs, where two clocks seem to have stamped them.
    pub const ORDER: Missing = Missing(
        "the order of ACKs and data: ACKs come just after data that they may have released, without timestamps",
    );
    /// The time of a packet.
    pub const TIME: Missing = Missing("time: a packet carries a time that cannot be");
    /// Times between the steps of the clock that stamped the packets.
    pub const FINE_TIME: Missing = Missing("time: the stamps advance in steps of milliseconds");
    /// The limit that a sender reached with more data queued.
    pub const LIMIT: Missing = Missing("the sender's limit: more data was queued, for its last segment had no PSH");
    /// The time when the request reached the server.
    pub const REQUEST: Missing =
        Missing("when the request arrived: the server sent its SYN-ACK again after the request had passed the tap");
    /// A round trip, for comparison.
    pub const ROUND_TRIP: Missing = Missing("round trip time: nothing in this capture measures one");
}

/// A rule: a pure function of a pause's evidence.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The cause that the rule detects.
    pub cause: Cause,
    /// The function that judges a pause.
    pub judge: fn(&Pause, &Limits) -> Verdict,
}

/// Shorthand for [`Verdict::Yes`].
pub(super) const fn yes(detail: &'static str, confidence: f32) -> Verdict {
    Verdict::Yes(Proof { detail, confidence })
}

/// The capture holds packets out of order by so much that the order of the others is uncertain.
pub(super) fn is_blurred(pause: &Pause) -> bool {
    pause.disorder > LEAST_PAUSE
}
