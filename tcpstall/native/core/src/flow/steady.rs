//! The short way of a bulk transfer at its sender: the next segment of each end is known but for its time and its ACK.

use super::connection::Connection;
use super::end::{End, split};
use super::events::Sending;
use super::half::{Next, SteadyAck, SteadyHalf};
use crate::wire::Segment;

/// Constants of a connection while each segment is as expected, and the next segments of the sender and of its peer.
#[derive(Clone, Copy, Debug)]
pub struct Steady {
    /// The end that sends data.
    pub sender: End,
    data: Next,
    ack: Next,
    /// The sender's half.
    pub half: SteadyHalf,
}

impl Connection {
    /// The steady state of a connection in which ACKs of `sender`'s data are calm.
    pub fn steady(&self, sender: End) -> Option<Steady> {
        let (own, peer) = (self.half(sender), self.half(sender.peer()));
        let ports = [self.client.port, self.server.port];
        // The port alone then shows the sender of a segment.
        let is_clear = ports[0] != ports[1] && !peer.ip_id.was_late() && peer.vantage.is_proven();
        let is_in_order = peer.snd_una <= peer.snd_nxt && peer.started() && !peer.awaits_acks();
        let half = own.steady().filter(|_| is_clear && is_in_order && self.is_calm(sender))?;
        let data = Next { port: ports[sender as usize], seq: own.next_seq(), ip_id: own.ip_id.next()? };
        let ack = Next { port: ports[sender.peer() as usize], seq: peer.next_seq(), ip_id: peer.ip_id.next()? };
        Some(Steady { sender, data, ack, half })
    }

    /// Takes in a full segment that is as expected.
    #[inline(always)]
    pub fn appends_steadily(&mut self, segment: &Segment, steady: &mut Steady, sender: End) -> Sending {
        self.segments += 1;
        self.end = segment.time;
        self.silence[sender.peer()].is_broken(segment.time);
        steady.data.seq = steady.data.seq.plus(steady.half.payload);
        steady.data.ip_id = steady.data.ip_id.map(|id| id.wrapping_add(1));
        self.half_mut(sender).append_steadily(segment, steady.half.payload)
    }

    /// Takes in the segment of an ACK that is as expected, except for the ACK.
    #[inline(always)]
    pub fn hears_steadily(&mut self, segment: &Segment, steady: &mut Steady, sender: End) {
        self.segments += 1;
        self.end = segment.time;
        self.silence[sender].is_broken(segment.time);
        let (half, peer) = split(&mut self.halves, sender);
        peer.measures_distance(half, segment);
        if segment.ip_id.is_some() {
            peer.ip_id.goes_on(segment);
            steady.ack.ip_id = steady.ack.ip_id.map(|id| id.wrapping_add(1));
        }
    }
}

impl Steady {
    /// The segment of full size is the one expected next, except for its time, its ACK, its window and its timestamps.
    #[inline(always)]
    pub fn is_next(&self, segment: &Segment) -> bool {
        self.data.is_met_by(segment)
    }

    /// The segments that a segment without payload acknowledges, if it is as expected.
    #[inline(always)]
    pub fn acked_by(&self, segment: &Segment, connection: &Connection, sender: End) -> Option<SteadyAck> {
        if !self.ack.is_met_by(segment) || segment.window != self.half.window_field {
            return None;
        }
        connection.half(sender).steady_ack(segment.ack, segment.time, &self.half)
    }
}

impl Next {
    #[inline(always)]
    fn is_met_by(&self, segment: &Segment) -> bool {
        segment.source.port == self.port && segment.seq == self.seq && segment.ip_id == self.ip_id
    }
}
