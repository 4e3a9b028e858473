//! The parts that an exchange's latency is the sum of.

use serde::Serialize;

use crate::causes::Cause;
use crate::time::Nanos;

/// Which leg of the exchange a part belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The handshake.
    Handshake,
    /// The requester sends or waits to send.
    Request,
    /// One base round trip: the last byte of the request out, the first of the response back.
    Travel,
    /// The responder's own time.
    Think,
    /// The responder sends or waits to send.
    Response,
    /// Both ends had the word at once.
    Overlap,
    /// Travel and the responder's own time, not told apart for want of a base round trip.
    Turnaround,
}

impl Phase {
    /// Every one, in the order of an exchange.
    pub const ALL: [Phase; 7] = [
        Phase::Handshake,
        Phase::Request,
        Phase::Travel,
        Phase::Think,
        Phase::Response,
        Phase::Overlap,
        Phase::Turnaround,
    ];

    /// The word in the report.
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

/// A share of an exchange's latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The leg.
    pub part: Phase,
    /// Why its sender waited; `None` while it sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The narrower word of the cause.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub detail: &'static str,
    /// How many waits it adds up.
    #[serde(skip_serializing_if = "is_zero")]
    pub waits: u32,
    /// How long.
    pub duration_ns: Nanos,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Part {
    /// A part without a cause.
    pub(super) fn plain(part: Phase, duration_ns: Nanos) -> Part {
        Part { part, cause: None, detail: "", waits: 0, duration_ns }
    }
}

/// A span in base round trips, to a tenth.
pub fn round_trips(span: Nanos, base_rtt: Option<Nanos>) -> Option<f64> {
    let base = base_rtt.filter(|base| *base > Nanos::ZERO)?;
    Some((span.0 as f64 * 10.0 / base.0 as f64).round() / 10.0)
}

/// Parts as they add up: equal ones become one.
#[derive(Default)]
pub(super) struct Sum {
    pub(super) parts: Vec<Part>,
}

impl Sum {
    pub(super) fn add(&mut self, part: Part) {
        if part.duration_ns <= Nanos::ZERO {
            return;
        }
        let same = |other: &&mut Part| (other.part, other.cause, other.detail) == (part.part, part.cause, part.detail);
        match self.parts.iter_mut().find(same) {
            Some(known) => {
                known.duration_ns += part.duration_ns;
                known.waits += part.waits;
            }
            None => self.parts.push(part),
        }
    }
}
