//! What one acknowledgement tells a congestion control about the path.

use crate::time::Nanos;

/// The sender's state at an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Highest offset acknowledged.
    pub snd_una: i64,
    /// Highest offset sent.
    pub snd_nxt: i64,
    /// SACK reports still leave holes above that.
    pub holes: bool,
    /// When the ACK reached the sender.
    pub now: Nanos,
    /// The round trip that it measures, `None` where what it covers was sent more than once (Karn).
    pub sample: Option<Nanos>,
    /// The smallest round trip measured so far.
    pub least: Option<Nanos>,
}
