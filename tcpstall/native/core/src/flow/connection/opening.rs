//! What a handshake settles for the rest of the connection: the largest segments, and the first distances.

use super::Connection;
use crate::flow::end::End;
use crate::time::Nanos;

/// Size of TCP timestamps in each segment: 12 bytes (RFC 7323 §3, padded).
const TIMESTAMPS_SIZE: u32 = 12;
/// MSS where the SYN names none, IPv4: RFC 9293 §3.7.1.
const DEFAULT_MSS: u32 = 536;

impl Connection {
    /// Limits a sender's segments to the MSS that the peer announced and to its own MTU, by its own MSS option.
    pub(in crate::flow) fn agree_on_size(&mut self) {
        let handshake = &self.handshake;
        let options = if handshake.timestamps { TIMESTAMPS_SIZE } else { 0 };
        let [client, server] = handshake.mss;
        let named = [server, if handshake.syn.is_some() { client } else { server }];
        let sizes = named.map(|mss| mss.map_or(DEFAULT_MSS, u32::from));
        for (half, (most, named)) in self.halves.iter_mut().zip(sizes.into_iter().zip(named)) {
            half.set_mss(sizes[0].min(sizes[1]), most, options);
            if named.is_none() {
                half.peer_names_no_mss(options);
            }
        }
    }

    /// Takes in that an `end` answered after `span` in the handshake.
    pub(in crate::flow) fn opened(&mut self, end: End, now: Nanos, span: Nanos) {
        self.half_mut(end).vantage.opens(now, span);
        self.half_mut(end.peer()).peer_distance.opened(span);
    }

    /// Takes in that the client's first ACK passes.
    pub(in crate::flow) fn time_last_leg(&mut self, now: Nanos) {
        if let Some(span) = self.handshake.completed(now) {
            self.opened(End::Client, now, span);
        }
    }
}
