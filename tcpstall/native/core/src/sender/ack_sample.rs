//! State of the path at an acknowledgement, as input to the congestion control.

use crate::time::Nanos;

/// The sender's state at an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Highest offset acknowledged.
    pub snd_una: i64,
    /// Highest offset sent.
    pub snd_nxt: i64,
    /// Holes in the SACK reports remain above `snd_una`.
    pub holes: bool,
    /// Time when the ACK reached the sender.
    pub now: Nanos,
    /// The round trip that the ACK measures, `None` where the data it covers was sent more than once (Karn).
    pub sample: Option<Nanos>,
    /// The smallest round trip measured so far.
    pub least: Option<Nanos>,
}
