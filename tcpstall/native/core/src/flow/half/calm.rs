//! The short way of an ACK at a calm half: it acknowledges new data, and can show nothing else.

use super::window::Scale;
use super::{ABSURD_JUMP, Half};
use crate::flow::events::Acked;
use crate::time::Nanos;
use crate::wire::Segment;

/// An ACK of new data, without anything else, that reached the sender as soon as it passed the tap.
#[derive(Clone, Copy, Debug)]
pub struct CalmAck {
    /// Offset up to which it acknowledges.
    ack: i64,
    /// The window that it announces.
    window: i64,
    /// Time when it reached the sender.
    time: Nanos,
    /// Its IP-ID follows that of its sender's last packet.
    pub(in crate::flow) is_due: bool,
}

impl Half {
    /// An ACK of new data can only take that data out of flight: nothing is SACKed, missing, repaired or probed, no other ACK
    /// is on its way, and the scale of the peer's window is known.
    pub(in crate::flow) fn is_calm(&self) -> bool {
        let complete = self.sacked.is_empty() && self.unseen.is_empty() && !self.is_acked_ahead();
        let undisturbed = !self.hinted && self.duplicates == 0 && self.probed.is_none() && self.pending.is_empty();
        let known = !self.flight_unknown && self.peer_scale != Scale::Unknown && self.window.is_some();
        complete && undisturbed && known && self.clock.is_none() && self.started()
    }

    /// The ACK that a segment of the peer without payload brings, if it is such an ACK and leaves room for a full segment;
    /// its IP-ID may be the one that `is_due`.
    #[inline(always)]
    pub(in crate::flow) fn calm_ack(&self, segment: &Segment, is_due: bool) -> Option<CalmAck> {
        let (ack, window) = (self.offset(segment.ack), self.peer_scale.bytes(segment.window)?);
        let is_plain = segment.sack_count == 0 && window >= i64::from(self.mss());
        let is_new = (1..=ABSURD_JUMP).contains(&(ack - self.snd_una)) && ack <= self.snd_nxt;
        if !is_plain || !is_new || self.vantage.awaits_unseen() {
            return None;
        }
        let distance = self.vantage.now().unwrap_or_default();
        let arrives = distance <= self.early(distance);
        arrives.then_some(CalmAck { ack, window, time: segment.time.plus(distance), is_due })
    }

    /// Applies such an ACK, `echoed` after the segment whose TSval it is the first to echo: the data up to it leaves the
    /// flight, and measures the round trip.
    #[inline(always)]
    pub fn acknowledges(&mut self, segment: &Segment, calm: &CalmAck, echoed: Option<Nanos>) -> Acked {
        let (passed, time) = (segment.time, calm.time);
        let mut acked = Acked {
            time,
            passed,
            early: time > passed,
            packet: segment.packet,
            bytes: calm.ack - self.snd_una,
            out_before: self.outstanding.segments(),
            flight_before: self.snd_nxt - self.snd_una,
            room_before: self.room(),
            window_before: self.window,
            blind: !self.vantage.is_proven(),
            echo: segment.timestamps.map(|stamps| stamps.echo),
            ..Acked::default()
        };
        self.ack_passed = passed;
        self.bare_ack = true;
        let mut gone = self.outstanding.acknowledge(calm.ack, self.mss());
        if self.never_seen > 0 {
            gone = self.doubts(gone, passed);
        }
        acked.segments = gone.segments;
        acked.sample = gone.touched.map(|sent| time - sent);
        acked.to_peer = gone.touched.map(|sent| passed - sent);
        self.samples(acked.sample);
        if let Some(sent) = gone.sent {
            self.measures(sent, passed, &mut acked);
        } else {
            // Of data that was sent again only the echo measures (RFC 7323 §4.1).
            let echoed = echoed.filter(|span| passed - *span >= self.last_again);
            acked.rtt = echoed.map(|span| span + (time - passed));
        }
        self.keeps_round_trip(acked.rtt, passed);
        (self.snd_una, self.window, self.window_field) = (calm.ack, Some(calm.window), segment.window);
        acked
    }
}
