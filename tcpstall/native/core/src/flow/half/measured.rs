//! Round trips that ACKs measure.

use super::Half;
use crate::flow::events::Acked;
use crate::flow::tap::min_rtt::MinRtt;
use crate::time::Nanos;

impl Half {
    /// Takes in the round trip of the newest frame that an ACK took out of flight, whether or not all of it was.
    #[inline(always)]
    pub(super) fn samples(&mut self, sample: Option<Nanos>) {
        if let Some(sample) = sample.filter(|sample| self.least_rtt.is_none_or(|least| *sample < least)) {
            self.least_rtt = Some(sample);
        }
    }

    /// Takes in the round trip that an ACK measures, which `passed` the tap then: its newest frame was `sent` once.
    #[inline(always)]
    pub(super) fn measures(&mut self, sent: Nanos, passed: Nanos, acked: &mut Acked) {
        let (span, rtt) = (passed - sent, acked.time - sent);
        acked.steady = self.measures_round_trip(span, rtt);
        acked.rtt = Some(rtt);
    }

    /// Takes in a round trip `rtt`, of which `span` from the tap on; true if that one and the one before were close to the
    /// smallest.
    #[inline(always)]
    pub(super) fn measures_round_trip(&mut self, span: Nanos, rtt: Nanos) -> bool {
        let steady = self.peer_distance.get().is_some_and(|least| MinRtt::is_steady(span, least));
        let still = steady && self.steady;
        self.steady = steady;
        self.peer_distance.sample(span);
        self.smooth(rtt);
        still
    }

    /// Remembers a round trip that an ACK measured, which `passed` the tap then.
    #[inline(always)]
    pub(super) fn keeps_round_trip(&mut self, rtt: Option<Nanos>, passed: Nanos) {
        if let Some(rtt) = rtt {
            self.newest_rtt = Some((passed, rtt));
            self.round_trips.add(rtt);
        }
    }

    #[inline]
    fn smooth(&mut self, sample: Nanos) {
        // RFC 6298 §2: alpha = 1/8.
        self.srtt = Some(match self.srtt {
            None => sample,
            Some(srtt) => srtt.plus((sample - srtt).part(8)),
        });
    }
}
