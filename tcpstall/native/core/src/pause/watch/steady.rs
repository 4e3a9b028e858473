//! The short way of a bulk transfer at its sender: full segments and ACKs of others before them by turns, each as expected.
//!
//! What such a segment can change is known before it comes: positions, times, round trips and the congestion window. Notes
//! on the pause that an ACK might begin are put off until the next segment: nearly always that is data, and there was no
//! pause. Anything else first brings the flow to the state that the other ways leave.

use super::super::LEAST_PAUSE;
use super::super::builder::PutOff;
use super::{SeenSegment, SegmentKind, Watch};
use crate::flow::{Acked, Connection, End, Steady, split};
use crate::sender::AckSample;
use crate::wire::Segment;

/// Times that data follows a calm ACK before the run is looked at: short flows never pay for it.
pub(super) const TURNS: u8 = 4;

/// A steady run, and the ACK since its newest data.
#[derive(Clone, Copy, Debug)]
pub(super) struct InStep {
    steady: Steady,
    put_off: Option<PutOff>,
}

impl Watch {
    /// Begins to take the short way after data of `sender`, if each of the next segments can only be as expected or end it.
    #[inline(never)]
    pub(super) fn becomes_steady(&mut self, sender: End) {
        let Some(steady) = self.connection.steady(sender) else { return };
        let half = &steady.half;
        let is_steady = self.builders[sender].is_steady(half.window, half.payload) && self.models[sender].is_steady();
        self.steady = is_steady.then_some(InStep { steady, put_off: None });
    }

    /// Takes in a segment of a steady run. Each end has code of its own.
    #[inline(never)]
    pub(super) fn goes_on_steadily(&mut self, segment: &Segment, sender: End) -> SeenSegment {
        let seen = match sender {
            End::Client => self.steps(segment, End::Client),
            End::Server => self.steps(segment, End::Server),
        };
        match seen {
            Some(seen) => seen,
            None => self.steps_out(segment),
        }
    }

    #[inline(never)]
    fn steps_out(&mut self, segment: &Segment) -> SeenSegment {
        self.leaves_step();
        self.sees(segment)
    }

    /// Takes in a segment as expected.
    #[inline(always)]
    fn steps(&mut self, segment: &Segment, sender: End) -> Option<SeenSegment> {
        let InStep { steady, put_off } = self.steady.as_ref()?;
        if !Connection::is_plain(segment) || segment.time < self.connection.end {
            return None;
        }
        if segment.payload == steady.half.payload {
            let run = self.run.as_ref()?;
            let is_next = steady.is_next(segment)
                && segment.ack == run.ack
                && segment.window == run.window
                && segment.timestamps == run.timestamps
                && segment.time < run.told_until
                && segment.time - self.builders[sender].last_data() <= LEAST_PAUSE;
            is_next.then(|| self.sends_steadily(segment, sender)).flatten()
        } else if segment.payload == 0 && put_off.is_none() {
            let ack = steady.acked_by(segment, &self.connection, sender)?;
            let (time, passed) = (segment.time.plus(steady.half.distance), segment.time);
            let stance = self.models[sender].stance();
            self.hears_steadily(segment, PutOff { time, passed, packet: segment.packet, ack, stance }, sender)
        } else {
            None
        }
    }

    /// Takes in a full segment.
    #[inline(always)]
    fn sends_steadily(&mut self, segment: &Segment, sender: End) -> Option<SeenSegment> {
        let InStep { steady, put_off } = self.steady.as_mut()?;
        let heard = put_off.take().map(|put_off| put_off.time);
        self.connection.hears_again(segment, sender, heard.is_some());
        self.connection.appends_steadily(segment, steady, sender);
        let (builder, peer) = split(&mut self.builders, sender);
        let half = self.connection.half(sender);
        builder.goes_on_steadily(segment, steady.half.window, half, heard);
        self.models[sender].on_send(half.flight_segments(), half.snd_una, half.snd_nxt);
        self.rounds.goes_on(segment, segment.payload, sender, &self.connection);
        peer.on_peer_data(segment);
        Some(SeenSegment { sender, kind: SegmentKind::New, ended_pause: false })
    }

    /// Takes in an ACK of full segments.
    #[inline(always)]
    fn hears_steadily(&mut self, segment: &Segment, mut put_off: PutOff, sender: End) -> Option<SeenSegment> {
        let InStep { steady, .. } = self.steady.as_mut()?;
        let window = steady.half.window;
        self.connection.hears_steadily(segment, steady, sender);
        self.connection.half_mut(sender).acknowledges_steadily(&mut put_off.ack, segment.time);
        if !put_off.ack.is_close {
            self.measures_path(put_off.acked(window), sender);
        }
        let (half, peer) = split(&mut self.connection.halves, sender);
        self.builders[sender].watches_steadily(&put_off, half);
        let sample = AckSample {
            snd_una: half.snd_una,
            snd_nxt: half.snd_nxt,
            holes: false,
            now: put_off.time,
            sample: Some(put_off.ack.rtt),
            least: half.least_rtt,
        };
        self.models[sender].on_ack(put_off.ack.segments, &sample);
        peer.vantage.is_at_most(put_off.time, put_off.ack.to_peer);
        if let Some(in_step) = &mut self.steady {
            in_step.put_off = Some(put_off);
        }
        Some(SeenSegment { sender: sender.peer(), kind: SegmentKind::Bare, ended_pause: false })
    }

    /// Takes in a round trip that is news.
    #[inline(never)]
    fn measures_path(&mut self, acked: Acked, sender: End) {
        let Some(rtt) = acked.rtt else { return };
        self.connection.measures(sender, &acked, rtt, self.builders[sender].heard());
        self.spikes[sender].measures(&acked, || self.connection.base_rtt_at(acked.time));
    }

    /// Brings the flow to the state that the other ways leave.
    pub(super) fn leaves_step(&mut self) {
        let Some(InStep { steady, put_off }) = self.steady.take() else { return };
        let Some(put_off) = put_off else { return };
        let sender = steady.sender;
        self.builders[sender].notes(&put_off, self.connection.half(sender), &self.models[sender]);
        if let Some(run) = &mut self.run {
            run.answered = true;
        }
    }
}

#[cfg(test)]
mod tests;
