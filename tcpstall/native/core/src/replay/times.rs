//! Times that a forecast is about.

use serde::Serialize;

use crate::time::Nanos;

/// Times of one transfer, captured or replayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Times {
    /// Time from the client's SYN to the arrival of the last byte.
    pub transfer_ns: Nanos,
    /// Each exchange's latency for the client.
    pub exchanges_ns: Vec<Nanos>,
}
