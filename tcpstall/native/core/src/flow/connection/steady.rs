//! The short way of a bulk transfer at its sender: the next segment of each end is known but for its time and its ACK.

use super::Connection;
use crate::flow::end::{End, split};
use crate::flow::events::Sending;
use crate::flow::half::{SteadyAck, SteadyHalf};
use crate::flow::tap::ip_id::{Followed, IpId};
use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::Segment;

/// The next segment of an end, as its last one lets expect it.
#[derive(Clone, Copy, Debug)]
struct Next {
    seq: SeqNo,
    ip_id: Option<u16>,
    /// Segments that were as expected, and of the newest the time, the ACK and the TTL.
    count: u32,
    time: Nanos,
    ack: SeqNo,
    ttl: Option<u8>,
}

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
        let is_clear = !peer.ip_id.was_late() && peer.vantage.is_proven();
        let is_in_order = peer.snd_una <= peer.snd_nxt && peer.started() && !peer.awaits_acks();
        let half = own.steady().filter(|_| is_clear && is_in_order && self.is_calm(sender))?;
        let (data, ack) = (Next::of(own.next_seq(), &own.ip_id)?, Next::of(peer.next_seq(), &peer.ip_id)?);
        Some(Steady { sender, data, ack, half })
    }

    /// True if the segment is of `sender`'s in this connection.
    #[inline(always)]
    fn is_from(&self, segment: &Segment, sender: End) -> bool {
        match sender {
            End::Client => segment.source == self.client && segment.destination == self.server,
            End::Server => segment.source == self.server && segment.destination == self.client,
        }
    }

    /// Takes in a full segment that is as expected.
    #[inline(always)]
    pub fn appends_steadily(&mut self, segment: &Segment, steady: &mut Steady, sender: End) -> Sending {
        self.segments += 1;
        self.end = segment.time;
        self.silence[sender.peer()].is_broken(segment.time);
        steady.data.seq = steady.data.seq.plus(steady.half.payload);
        steady.data.is_met(segment);
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
        steady.ack.is_met(segment);
    }

    /// Counts the segments that were as expected. Returns the bytes of those from offset `from` on.
    pub fn leaves_steady(&mut self, steady: &Steady, from: i64) -> u64 {
        let (half, peer) = split(&mut self.halves, steady.sender);
        let bytes = (half.snd_nxt - from) as u64;
        half.has_appended(bytes, &steady.half);
        steady.data.is_counted_by(&mut half.ip_id);
        steady.ack.is_counted_by(&mut peer.ip_id);
        bytes
    }
}

impl Steady {
    /// The segment of full size is the one expected next, except for its time, its ACK, its window and its timestamps.
    #[inline(always)]
    pub fn is_next(&self, segment: &Segment, connection: &Connection, sender: End) -> bool {
        self.data.is_met_by(segment) && connection.is_from(segment, sender)
    }

    /// The segments that a segment without payload acknowledges, if it is as expected.
    #[inline(always)]
    pub fn acked_by(&self, segment: &Segment, connection: &Connection, sender: End) -> Option<SteadyAck> {
        let is_next = self.ack.is_met_by(segment) && connection.is_from(segment, sender.peer());
        if !is_next || segment.window != self.half.window_field {
            return None;
        }
        connection.half(sender).steady_ack(segment.ack, segment.time, &self.half)
    }
}

impl Next {
    /// The segment from `seq` on, of an end whose packets have those IP-IDs.
    fn of(seq: SeqNo, ids: &IpId) -> Option<Next> {
        Some(Next { seq, ip_id: ids.next()?, count: 0, time: Nanos::ZERO, ack: SeqNo(0), ttl: None })
    }

    #[inline(always)]
    fn is_met_by(&self, segment: &Segment) -> bool {
        segment.seq == self.seq && segment.ip_id == self.ip_id
    }

    /// Takes in such a segment.
    #[inline(always)]
    fn is_met(&mut self, segment: &Segment) {
        self.count += 1;
        self.ip_id = self.ip_id.map(|id| id.wrapping_add(1));
        (self.time, self.ack, self.ttl) = (segment.time, segment.ack, segment.ttl);
    }

    /// Counts the packets of such segments.
    fn is_counted_by(&self, ids: &mut IpId) {
        if let Some(next) = self.ip_id.filter(|_| self.count > 0) {
            let Next { count, time, ack, ttl, .. } = *self;
            ids.went_on(count, Followed { id: next.wrapping_sub(1), time, ack, ttl });
        }
    }
}
