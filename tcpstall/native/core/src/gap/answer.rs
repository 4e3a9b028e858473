//! The ACK that ended a wait: how long its round trip was, and how long the peer had been silent before it.

use crate::flow::Acked;
use crate::time::Nanos;

/// The ACKs inside one gap, as far as they tell who kept the sender waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Answer {
    /// The longest round trip that an ACK inside it measured.
    pub rtt: Option<Nanos>,
    /// How long no ACK had come before that one.
    pub silence: Nanos,
    /// Segments that were in flight before it.
    pub out: u32,
    /// Bytes that were in flight before the first ACK inside it.
    flight: i64,
    first: Option<Nanos>,
    last: Option<Nanos>,
}

impl Answer {
    /// An ACK of new data; the last one before it came at `heard`.
    #[inline]
    pub(super) fn hears(&mut self, acked: &Acked, heard: Nanos) {
        if self.first.is_none() {
            self.first = Some(acked.time);
            self.flight = acked.flight_before;
        }
        self.last = Some(acked.time);
        if acked.rtt > self.rtt {
            self.rtt = acked.rtt;
            self.silence = acked.time - heard;
            self.out = acked.out_before;
        }
    }

    /// No ACK came for a while, then at once ACKs for everything.
    pub fn at_once_for_all(&self, acked: i64, least_pause: Nanos) -> bool {
        let span = self.last.zip(self.first).map(|(last, first)| last - first);
        acked >= self.flight && span.is_some_and(|span| span <= least_pause)
    }
}
