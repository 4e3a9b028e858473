//! Infers when a sender received the packets that passed the tap towards it.

use super::ack_round::AckRound;
use crate::flow::connection::Connection;
use crate::flow::end::End;
use crate::flow::half::Half;
use crate::flow::half::pending::PendingAck;
use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// Largest distance of a tap at the sender's host: the time that hosts need to answer.
pub const AT_HOST: Nanos = Nanos::from_micros(250);
/// Longest time in which a kernel answers a SYN-ACK.
const ANSWER: Nanos = Nanos::from_micros(100);

/// Divisor of the distance to the peer: a tap so much closer to the sender may be at its host.
pub(in crate::flow) const FAR: i64 = 10;

impl Connection {
    /// True unless the capture holds nothing that this `end` sent.
    pub fn has_spoken(&self, end: End) -> bool {
        let (own, peer) = (self.half(end), self.half(end.peer()));
        own.frames > 0 || own.syn_seen || own.fin.is_some() || peer.window_field > 0 || peer.snd_una > 1
    }

    /// Learns the tap's distances from the segment, and the packets that its sender has received, before the ACKs that
    /// reached the sender are applied; `round` is its last burst. True if the sender had received a packet that the tap has not seen.
    #[inline(always)]
    pub fn hears(&mut self, segment: &Segment, sender: End, round: impl FnOnce() -> AckRound) -> bool {
        let unseen = segment.payload > 0 && self.half_mut(sender).vantage.has_unseen(segment);
        self.measure(segment, sender);
        if segment.payload > 0 {
            let Connection { handshake, halves, .. } = self;
            let half = &mut halves[sender];
            half.has_heard(segment, || handshake.answered().filter(|_| sender == End::Server), round);
            if !half.is_placed() {
                half.is_clocked(segment);
            }
        }
        unseen
    }

    /// The same for data that continues a run with the timestamps of its segment before, since which the other end may have
    /// `answered`: the rest is known.
    #[inline(always)]
    pub fn hears_again(&mut self, segment: &Segment, sender: End, answered: bool) {
        self.half_mut(sender).vantage.from_end_again(segment);
        if answered {
            self.half_mut(sender.peer()).vantage.towards_again(segment);
        }
    }
}

impl Half {
    /// Time by which an ACK may reach the sender earlier than the distance says.
    #[inline]
    pub(in crate::flow) fn early(&self, distance: Nanos) -> Nanos {
        // Before the other direction was measured, only an answer faster than most networks is a host's.
        let least = self.peer_distance.or_handshake().map_or(ANSWER, |peer| peer.part(FAR));
        let here = distance < AT_HOST.min(least);
        // At the sender's own host, the sender has received every packet that the tap has seen: the distance is only
        // its time to answer. Elsewhere data would sort before the ACK that triggers it without some slack for the
        // clock's granularity.
        if here { distance } else { (distance.scaled(0.02) + Nanos::from_micros(20)).min(distance) }
    }

    /// Takes in that this sender acknowledges the peer's data below `ack`: what said more than data had come with that data
    /// or before it.
    #[inline(never)]
    pub fn has_received(&mut self, ack: SeqNo) {
        let heard = self.pending.iter().rposition(|pending| pending.payload > 0 && ack.since(pending.end) >= 0);
        self.pending.iter_mut().take(heard.map_or(0, |last| last + 1)).for_each(|pending| pending.heard = true);
    }

    /// The peer's segment acknowledges more of this sender's data than any before it, at the tap.
    #[inline]
    pub fn is_news(&self, segment: &Segment) -> bool {
        segment.flags.has(Flags::ACK) && self.started() && self.offset(segment.ack) > self.acked_at_tap()
    }

    /// Rounds of burst and silence have nothing to say of the sender's distance: a packet has proven it, and not only with an
    /// application's answer.
    #[inline(always)]
    pub(in crate::flow) fn is_placed(&self) -> bool {
        self.syn_seen || self.vantage.is_proven_by_host()
    }

    /// Learns the sender's distance from rounds of burst and silence, where nothing else has proven it.
    #[cold]
    fn is_clocked(&mut self, segment: &Segment) {
        let (from, mss) = (self.offset(segment.seq), self.mss());
        if self.started() && from < self.snd_nxt {
            self.clock = None;
        } else if let Some(distance) = self.clock.get_or_insert_default().follows(segment, from, mss) {
            self.vantage.is_clocked(segment.time, distance);
            self.clock = None;
        }
    }

    /// The peer's window was shut: a single byte is a probe, which a timer sends and no ACK (RFC 9293 §3.8.6.1).
    fn is_shut(&self) -> bool {
        self.room().is_some_and(|room| room <= 0) || self.pending.iter().any(|ack| ack.window == Some(0))
    }

    /// Learns from data beyond the window. A sender never sends beyond the window (RFC 9293 §3.8.6): such data shows
    /// that an ACK thought to be on its way has arrived, and the distance of the sender. Timestamps measure the
    /// distance better, because the ACK may have been one that the capture lost. Some senders do send beyond the
    /// window: their distance would have to be below half of `answered`, the time in which a kernel answered the SYN. Data
    /// after a silence as long as the distance follows the ACK whose window it needed: a slow host took longer for the SYN.
    #[inline(always)]
    pub fn has_heard(
        &mut self,
        segment: &Segment,
        answered: impl FnOnce() -> Option<Nanos>,
        round: impl FnOnce() -> AckRound,
    ) {
        if segment.timestamps.is_some() {
            return;
        }
        if self.pending.is_empty() && self.sooner == 0 {
            return;
        }
        if segment.payload == 1 && self.is_shut() {
            return;
        }
        self.has_answered(segment);
        self.ends_round(segment, round);
        let (Some(room), false) = (self.room(), self.pending.is_empty()) else { return };
        let end = self.offset(segment.seq) + i64::from(segment.payload);
        // What had been sent before may go again at any time, by a timer: where the window shrank, beyond it (RFC 1122 §4.2.2.16).
        // What fits the window of an earlier ACK, before rounding moved its edge back, shows no later one.
        if end - self.snd_nxt <= room.max(0) + self.peer_scale.rounding() {
            return;
        }
        // Some senders scale the window of a SYN, too (RFC 7323 §2.2 says no).
        let scaled = self.peer_scale.bytes(self.window_field).is_some_and(|window| end - self.snd_una <= window);
        let told = self.pending.iter().find(|ack| ack.window.is_some_and(|window| ack.ack + i64::from(window) >= end));
        let distance = self.vantage.get().unwrap_or_default();
        let least = if scaled { distance } else { answered().unwrap_or_default() }.scaled(0.5);
        let wakes = |ack: &PendingAck| self.newest_sent().is_some_and(|sent| ack.time - sent >= distance);
        if let Some(ack) = told.filter(|ack| segment.time - ack.time >= least || wakes(ack)) {
            self.vantage.sample(segment.time, segment.time - ack.time);
        }
    }
}
