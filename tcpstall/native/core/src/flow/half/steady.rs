//! The short way of a bulk transfer at its sender: full segments, each sent once, and ACKs at their edges.

use super::{ABSURD_JUMP, Half};
use crate::flow::events::Sending;
use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::Segment;

/// Constants of a half while each segment is as expected.
#[derive(Clone, Copy, Debug)]
pub struct SteadyHalf {
    /// Payload of a full segment.
    pub payload: u32,
    /// The window field of each ACK.
    pub window_field: u16,
    /// That window, bytes.
    pub window: i64,
    /// Time from the tap to the sender and back.
    pub distance: Nanos,
}

/// Segments that a steady ACK takes out of flight.
#[derive(Clone, Copy, Debug)]
pub struct SteadyAck {
    /// Number of segments.
    pub segments: u32,
    /// Frames that bore them.
    pub(in crate::flow) frames: usize,
    /// Acknowledged bytes.
    pub bytes: i64,
    /// Segments in flight before.
    pub out_before: u32,
    /// Bytes in flight before.
    pub flight_before: i64,
    /// Time from the tap to the peer and back.
    pub to_peer: Nanos,
    /// Time from the sender to the peer and back.
    pub rtt: Nanos,
}

impl Half {
    /// ACKs of full segments can only take them out of flight and measure the round trip, whatever data follows.
    pub(in crate::flow) fn steady(&self) -> Option<SteadyHalf> {
        let distance = self.vantage.now().unwrap_or_default();
        let window = self.window?;
        let is_known = self.mss > 1 && self.never_seen == 0 && self.outstanding.is_whole();
        let is_here = self.vantage.is_proven() && !self.vantage.awaits_unseen() && distance <= self.early(distance);
        let is_open = window >= i64::from(self.mss) && self.peer_scale.bytes(self.window_field) == Some(window);
        let is_steady = self.is_calm() && is_known && self.is_placed() && is_here && is_open;
        let (payload, window_field) = (self.mss, self.window_field);
        is_steady.then_some(SteadyHalf { payload, window_field, window, distance })
    }

    /// The sequence number after the newest data.
    pub(in crate::flow) fn next_seq(&self) -> SeqNo {
        self.base.unwrap_or_default().plus(self.snd_nxt as u32)
    }

    /// Takes in a full segment that is as expected, except for the sums of [`Half::has_appended`].
    #[inline(always)]
    pub(in crate::flow) fn append_steadily(&mut self, segment: &Segment, payload: u32) -> Sending {
        self.settled = false;
        self.snd_nxt += i64::from(payload);
        let flight = self.snd_nxt - self.snd_una;
        self.outstanding.push(segment, self.snd_nxt, payload, 0, payload, flight);
        self.max_flight = self.max_flight.max(flight);
        Sending::New { bytes: payload, hole: 0, lost: 0 }
    }

    /// Counts the full segments, `bytes` together, that were taken in so.
    pub fn has_appended(&mut self, bytes: u64, steady: &SteadyHalf) {
        self.frames += bytes / u64::from(steady.payload);
        self.bytes += bytes;
    }

    /// The segments up to `ack`, if that is the edge of one with more in flight after it, each was sent once, and the ACK
    /// `passed` no sooner than the soonest did.
    #[inline(always)]
    pub(in crate::flow) fn steady_ack(&self, ack: SeqNo, passed: Nanos, steady: &SteadyHalf) -> Option<SteadyAck> {
        let bytes = self.offset(ack) - self.snd_una;
        let (segments, frames, sent) = self.outstanding.whole_until(self.snd_una + bytes)?;
        let to_peer = passed - sent;
        ((1..=ABSURD_JUMP).contains(&bytes) && self.peer_distance.get().is_some_and(|least| to_peer >= least))
            .then_some(SteadyAck {
                segments,
                frames,
                bytes,
                out_before: self.outstanding.segments(),
                flight_before: self.snd_nxt - self.snd_una,
                to_peer,
                rtt: to_peer.plus(steady.distance),
            })
    }

    /// Takes in such an ACK; true if its round trip and the one before were close to the smallest.
    #[inline(always)]
    pub fn acknowledges_steadily(&mut self, ack: &SteadyAck, passed: Nanos) -> bool {
        self.ack_passed = passed;
        self.bare_ack = true;
        self.outstanding.forget_whole(ack.frames, ack.segments);
        self.samples(Some(ack.rtt));
        let is_close = self.measures_round_trip(ack.to_peer, ack.rtt);
        self.keeps_round_trip(Some(ack.rtt), passed);
        self.snd_una += ack.bytes;
        is_close
    }
}
