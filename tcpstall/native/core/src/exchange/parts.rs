//! Parts of an exchange's latency, which sum to it.

use crate::causes::Cause;
use crate::few::Few;
use crate::json::{named, row};
use crate::time::Nanos;

/// Phase of the exchange that a part belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The handshake.
    Handshake,
    /// The requester sends or waits to send.
    Request,
    /// One base round trip: the last byte of the request travels to the server, the first of the response back.
    Travel,
    /// The responder's own time.
    Think,
    /// The responder sends or waits to send.
    Response,
    /// Both ends send or wait to send.
    Overlap,
    /// Travel and the responder's own time together, because the base round trip is unknown.
    Turnaround,
}

impl Phase {
    /// All phases, in the order of an exchange.
    pub const ALL: [Phase; 7] = [
        Phase::Handshake,
        Phase::Request,
        Phase::Travel,
        Phase::Think,
        Phase::Response,
        Phase::Overlap,
        Phase::Turnaround,
    ];

    /// Name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Handshake => "handshake",
            Phase::Request => "request",
            Phase::Travel => "travel",
            Phase::Think => "think",
            Phase::Response => "response",
            Phase::Overlap => "overlap",
            Phase::Turnaround => "turnaround",
        }
    }
}

row! {
    /// A share of an exchange's latency.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LatencyPart {
        /// Phase of the part.
        pub part: Phase,
        /// Cause of the wait; `None` while the sender sent.
        #[json(if_any)]
        pub cause: Option<Cause>,
        /// Detail of the cause.
        #[json(if_any)]
        pub detail: &'static str,
        /// Number of waits in the sum.
        #[json(if_any)]
        pub waits: u32,
        /// Length of the part.
        pub duration_ns: Nanos,
    }
}

named!(Phase);

impl LatencyPart {
    /// A part without a cause.
    pub(super) fn plain(part: Phase, duration_ns: Nanos) -> LatencyPart {
        LatencyPart { part, cause: None, detail: "", waits: 0, duration_ns }
    }
}

/// A span in base round trips, to a tenth.
pub fn round_trips(span: Nanos, base_rtt: Option<Nanos>) -> Option<f64> {
    let base = base_rtt.filter(|base| *base > Nanos::ZERO)?;
    Some((span.0 as f64 * 10.0 / base.0 as f64).round() / 10.0)
}

/// Sum of parts: equal ones become one.
#[derive(Default)]
pub(super) struct Sum {
    pub(super) parts: Few<LatencyPart, 6>,
}

impl Sum {
    pub(super) fn add(&mut self, part: LatencyPart) {
        if part.duration_ns <= Nanos::ZERO {
            return;
        }
        let same =
            |other: &&mut LatencyPart| (other.part, other.cause, other.detail) == (part.part, part.cause, part.detail);
        match self.parts.iter_mut().find(same) {
            Some(known) => {
                known.duration_ns += part.duration_ns;
                known.waits += part.waits;
            }
            None => self.parts.push(part),
        }
    }
}
