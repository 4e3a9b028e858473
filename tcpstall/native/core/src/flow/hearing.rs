//! When a sender hears of what passed the tap towards it.

use super::connection::{Connection, Direction};
use super::half::Half;
use super::pending::PendingAck;
use crate::time::Nanos;
use crate::wire::Segment;

/// A tap no further from a sender than hosts need to answer is at that host.
pub const AT_HOST: Nanos = Nanos::from_micros(250);
/// A kernel answers a SYN-ACK within this time.
const ANSWER: Nanos = Nanos::from_micros(100);

/// Hosts take up to this long to answer: an interrupt that is held back (ethtool -C rx-usecs), a process that must be woken.
const HOST_TIME: Nanos = Nanos::from_millis(1);
/// Of the time that the first answers took the distance makes this part at least.
const SOONEST: i64 = 4;
/// A silence so many times as long as the distance ends just after an ACK by chance once in as many.
const BY_CHANCE: i64 = 16;

impl Connection {
    /// True unless the capture holds nothing that this `end` sent.
    pub fn has_spoken(&self, end: Direction) -> bool {
        let (own, peer) = (self.half(end), self.half(end.peer()));
        own.frames > 0 || own.syn_seen || own.fin.is_some() || peer.window_field > 0 || peer.snd_una > 1
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
        let least = self.peer_distance.or_handshake().map_or(ANSWER, |peer| peer.scaled(0.1));
        let here = distance < AT_HOST.min(least);
        // At the sender's own host what the tap has seen the sender has seen: the distance is only how fast it answers.
        // Elsewhere replies would sort after the data that they trigger without some slack for the clock's grain.
        if here { distance } else { (distance.scaled(0.02) + Nanos::from_micros(20)).min(distance) }
    }

    /// On a path as short as hosts are slow, what the first answers took was as much the host's time as the distance. Data that
    /// follows the ACK of everything sooner than that, after a silence of many times as long, answers it all the same: it would
    /// hardly come just then by chance.
    pub(super) fn is_woken_by(&self, ack: &PendingAck, distance: Nanos, now: Nanos) -> bool {
        let silence = || self.newest_sent().map_or(Nanos::ZERO, |sent| ack.time - sent);
        distance <= HOST_TIME
            && ack.ack >= self.snd_nxt
            && self.snd_una < self.snd_nxt
            && (now - ack.time).times(SOONEST) >= distance
            && silence() >= distance.times(BY_CHANCE)
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
