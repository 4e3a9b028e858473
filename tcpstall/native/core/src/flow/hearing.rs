//! When a sender hears of what passed the tap towards it.

use super::connection::{Connection, Direction};
use super::half::Half;
use crate::time::Nanos;
use crate::wire::Segment;

/// A tap no further from a sender than hosts need to answer is at that host.
pub const AT_HOST: Nanos = Nanos::from_micros(250);
/// A kernel answers a SYN-ACK within this time.
const ANSWER: Nanos = Nanos::from_micros(100);

impl Connection {
    /// The smallest round trip of the whole path as it was at `time`.
    pub fn base_rtt_at(&self, time: Nanos) -> Option<Nanos> {
        let [client, server] = &self.halves;
        match (client.distance.level.at(time), server.distance.level.at(time)) {
            (Some(a), Some(b)) => Some(a + b).max(self.base_rtt()),
            _ => self.base_rtt(),
        }
    }

    /// What the segment tells of the tap's distances and of what its sender has heard, before the ACKs that reached it are applied;
    /// true if it had heard something that the tap has not seen.
    #[inline]
    pub fn hears(&mut self, segment: &Segment, sender: Direction) -> bool {
        let unseen = segment.payload > 0 && self.half_mut(sender).distance.has_unseen(segment);
        self.measure(segment, sender);
        if segment.payload > 0 {
            let answered = self.handshake.answered().filter(|_| sender == Direction::Server);
            self.half_mut(sender).has_heard(segment, answered);
        }
        unseen
    }
}

impl Half {
    /// By how much sooner than the distance says an ACK may have reached the sender.
    #[inline]
    pub(super) fn early(&self, distance: Nanos) -> Nanos {
        // Before the other way was measured only an answer sooner than most networks are is a host's.
        let least = self.peer_distance.get().map_or(ANSWER, |peer| peer.scaled(0.1));
        let here = distance < AT_HOST.min(least);
        // At the sender's own host what the tap has seen the sender has seen: the distance is only how fast it answers.
        // Elsewhere replies would sort after the data that they trigger without some slack for the clock's grain.
        if here { distance } else { (distance.scaled(0.02) + Nanos::from_micros(20)).min(distance) }
    }

    /// A sender never sends beyond the window (RFC 9293 §3.8.6): data beyond what it has been told of by now shows that
    /// an ACK thought to be on its way has arrived, and how near the sender is. Where timestamps measure that, they are
    /// better: it may have been an ACK that the capture lost. Some senders do go beyond it: they would have to be nearer by
    /// half than `answered`, how soon a kernel answered the SYN.
    #[inline]
    pub fn has_heard(&mut self, segment: &Segment, answered: Option<Nanos>) {
        if segment.timestamps.is_some() {
            return;
        }
        let (Some(room), false) = (self.room(), self.pending.is_empty()) else { return };
        let end = self.offset(segment.seq) + i64::from(segment.payload);
        if end - self.snd_nxt <= room {
            return;
        }
        let told = self.pending.iter().find(|ack| ack.window.is_some_and(|window| ack.ack + i64::from(window) >= end));
        let least = answered.unwrap_or_default().scaled(0.5);
        if let Some(ack) = told.filter(|ack| segment.time - ack.time >= least) {
            self.distance.sample(segment.time, segment.time - ack.time);
        }
    }
}
