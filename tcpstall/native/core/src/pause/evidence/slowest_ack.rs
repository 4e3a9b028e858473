//! The ACKs inside one pause: the round trip that they measured, and the peer's silence before them.

use super::super::packed::packed;
use crate::flow::Acked;
use crate::time::Nanos;

/// Evidence from the ACKs inside one pause on who kept the sender waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SlowestAck {
    /// The longest round trip that an ACK inside the pause measured.
    pub rtt: Option<Nanos>,
    /// The peer's silence before that ACK.
    pub silence: Nanos,
    /// Segments in flight before that ACK.
    pub out: u32,
    /// Bytes in flight before the first ACK inside the pause.
    flight: i64,
    first: Option<Nanos>,
    last: Option<Nanos>,
}

packed!(SlowestAck { rtt, silence, out, flight, first, last });

impl SlowestAck {
    /// No ACK came.
    pub(in super::super) fn is_blank(&self) -> bool {
        *self == SlowestAck::default()
    }

    /// Takes in an ACK of new data; the ACK of new data before it came at `heard`.
    #[inline]
    pub(in super::super) fn hears(&mut self, acked: &Acked, heard: Nanos) {
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

    /// No ACK came for at least `least_pause`, then ACKs for all data came at once.
    pub fn at_once_for_all(&self, acked: i64, least_pause: Nanos) -> bool {
        let span = self.last.zip(self.first).map(|(last, first)| last - first);
        acked >= self.flight && span.is_some_and(|span| span <= least_pause)
    }
}
