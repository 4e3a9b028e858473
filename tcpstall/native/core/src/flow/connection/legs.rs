//! Lengths of the path's two legs: from the tap to the client and to the server.

use super::Connection;
use crate::flow::end::End;
use crate::time::Nanos;

impl Connection {
    /// Both ends' stamps advance faster than any clock: the capture stamped packets in clumps, after they had passed. A queue
    /// holds one direction.
    pub fn is_stamped_late(&self) -> bool {
        self.halves.iter().all(|half| half.vantage.tsval_clock.is_compressed())
    }

    /// The smallest round trip of the whole path.
    pub fn base_rtt(&self) -> Option<Nanos> {
        let [to_client, to_server] = self.distances();
        to_client.zip(to_server).map(|(a, b)| a + b)
    }

    /// The smallest round trips from the tap to the client and to the server.
    #[inline]
    pub fn distances(&self) -> [Option<Nanos>; 2] {
        self.kept_distances.unwrap_or_else(|| self.distances_so_far())
    }

    /// Fixes the distances at the end of the flow.
    pub fn keep_distances(&mut self) {
        self.kept_distances = Some(self.distances_so_far());
    }

    fn distances_so_far(&self) -> [Option<Nanos>; 2] {
        let late = self.disorder();
        let leg = |end: End| {
            let (own, peer) = (self.half(end), self.half(end.peer()));
            let other = peer.vantage.shortest().opening_excess();
            least(own.vantage.shortest().usual(late, other), peer.peer_distance.usual(late, other))
        };
        [leg(End::Client), leg(End::Server)]
    }

    /// Largest delay with which the capture holds packets of the flow.
    pub fn disorder(&self) -> Nanos {
        let [client, server] = &self.halves;
        client.disorder.and(server.disorder).extent(self.segments)
    }

    /// The smallest round trip of the whole path at `time`.
    pub fn base_rtt_at(&self, time: Nanos) -> Option<Nanos> {
        let [client, server] = &self.halves;
        match (client.vantage.min_rtt.at(time), server.vantage.min_rtt.at(time)) {
            (Some(a), Some(b)) => Nanos::later(Some(a + b), self.base_rtt()),
            _ => self.base_rtt(),
        }
    }
}

fn least(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
