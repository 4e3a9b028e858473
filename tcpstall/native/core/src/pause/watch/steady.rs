//! The short way of a bulk transfer at its sender: full segments and ACKs of others before them by turns, each as expected.
//!
//! What such a segment can change is known before it comes: positions, times, round trips and the congestion window. Notes
//! on the pause that an ACK might begin are put off until the next segment: nearly always that is data, and there was no
//! pause. Anything else first brings the flow to the state that the other ways leave.

use super::super::LEAST_PAUSE;
use super::super::builder::PutOff;
use super::run::{Run, TURNS};
use super::{SeenSegment, SegmentKind, Watch};
use crate::flow::{Connection, End, Steady, SteadyAck, split};
use crate::sender::AckSample;
use crate::time::Nanos;
use crate::wire::Segment;

/// Full segments of a steady run from which on the run is looked at again at once: something that it is used to ended it.
const LONG: u64 = 8;

/// A steady run.
#[derive(Clone, Copy, Debug)]
pub(super) struct InStep {
    steady: Steady,
    /// The ACK since the newest data.
    put_off: Option<PutOff>,
    /// Offset from which on data is not counted yet.
    from: i64,
    /// Data prolongs a response, and is not counted there yet.
    answers: bool,
}

impl Watch {
    /// Begins to take the short way after data of `sender`, if each of the next segments can only be as expected or end it.
    #[inline(never)]
    pub(super) fn becomes_steady(&mut self, sender: End) {
        let Some(steady) = self.connection.steady(sender) else { return };
        let (builder, peer) = (&self.builders[sender], &self.builders[sender.peer()]);
        let is_steady = builder.is_steady(&steady.half, self.connection.end)
            && peer.has_peer_data(builder.last_data())
            && self.models[sender].is_steady();
        let (from, answers) = (self.connection.half(sender).snd_nxt, self.rounds.is_answered_by(sender));
        self.steady = is_steady.then_some(InStep { steady, put_off: None, from, answers });
    }

    /// The next segments of the flow may be as expected. Meanwhile some sums lag behind: frames, bytes, the burst, the round.
    #[inline]
    pub fn is_in_step(&self) -> bool {
        self.steady.is_some()
    }

    /// Takes in a segment while the run is steady.
    #[inline(never)]
    pub(super) fn sees_in_step(&mut self, segment: &Segment, sender: End) -> SeenSegment {
        if self.steps_along(std::slice::from_ref(segment), &[0], Nanos(i64::MAX), 1) == 0 {
            self.leaves_step();
            return self.sees(segment);
        }
        let (sender, kind) =
            if segment.payload > 0 { (sender, SegmentKind::New) } else { (sender.peer(), SegmentKind::Bare) };
        SeenSegment { sender, kind, ended_pause: false }
    }

    /// Takes in the segments at those places as long as each is the flow's next, is as expected, and comes before `until`;
    /// stops after one of `every` segments of the flow. Returns their number. Each end has code of its own.
    #[inline(never)]
    pub fn steps_along(&mut self, segments: &[Segment], places: &[u16], until: Nanos, every: u64) -> usize {
        let Some(run) = self.run.filter(|_| self.steady.is_some()) else { return 0 };
        let segments = places.iter().map_while(|place| segments.get(usize::from(*place)));
        let segments = segments.take_while(|segment| segment.time < until);
        match run.sender {
            End::Client => self.walks(segments, &run, every, End::Client),
            End::Server => self.walks(segments, &run, every, End::Server),
        }
    }

    #[inline(always)]
    fn walks<'a>(&mut self, segments: impl Iterator<Item = &'a Segment>, run: &Run, every: u64, sender: End) -> usize {
        let before = self.connection.segments;
        let last = before - before % every + every;
        for segment in segments {
            if self.steps(segment, run, sender).is_none() || self.connection.segments == last {
                break;
            }
        }
        (self.connection.segments - before) as usize
    }

    /// Takes in a segment if it is as expected.
    #[inline(always)]
    fn steps(&mut self, segment: &Segment, run: &Run, sender: End) -> Option<()> {
        let InStep { steady, put_off, .. } = self.steady.as_ref()?;
        if !Connection::is_plain(segment) || segment.time < self.connection.end {
            return None;
        }
        if segment.payload == steady.half.payload {
            let is_next = steady.is_next(segment, &self.connection, sender)
                && segment.ack == run.ack
                && segment.window == run.window
                && segment.timestamps == run.timestamps
                && segment.time < run.told_until
                && segment.time - self.builders[sender].last_data() <= LEAST_PAUSE;
            is_next.then(|| self.sends_steadily(segment, sender)).flatten()
        } else if segment.payload == 0 && put_off.is_none() {
            let ack = steady.acked_by(segment, &self.connection, sender)?;
            self.hears_steadily(segment, ack, sender)
        } else {
            None
        }
    }

    /// Takes in a full segment.
    #[inline(always)]
    fn sends_steadily(&mut self, segment: &Segment, sender: End) -> Option<()> {
        let InStep { steady, put_off, answers, .. } = self.steady.as_mut()?;
        let heard = put_off.take().map(|put_off| put_off.time);
        self.connection.hears_again(segment, sender, heard.is_some());
        self.connection.appends_steadily(segment, steady, sender);
        let half = self.connection.half(sender);
        self.builders[sender].goes_on_steadily(segment, &steady.half, half, heard);
        self.models[sender].on_send(half.flight_segments(), half.snd_una, half.snd_nxt);
        if !*answers {
            self.rounds.goes_on(segment, segment.payload, sender, &self.connection);
        }
        Some(())
    }

    /// Takes in an ACK of full segments.
    #[inline(always)]
    fn hears_steadily(&mut self, segment: &Segment, ack: SteadyAck, sender: End) -> Option<()> {
        let InStep { steady, put_off, .. } = self.steady.as_mut()?;
        let time = segment.time.plus(steady.half.distance);
        let SteadyAck { bytes, out_before, flight_before, rtt, to_peer, .. } = ack;
        let stance = self.models[sender].stance();
        *put_off = Some(PutOff { time, packet: segment.packet, bytes, out_before, flight_before, rtt, stance });
        self.connection.hears_steadily(segment, steady, sender);
        if !self.connection.half_mut(sender).acknowledges_steadily(&ack, segment.time) {
            self.measures_path(sender);
        }
        let (half, peer) = split(&mut self.connection.halves, sender);
        self.builders[sender].watches_steadily(time, to_peer, half);
        let (snd_una, snd_nxt, least) = (half.snd_una, half.snd_nxt, half.least_rtt);
        let sample = AckSample { snd_una, snd_nxt, holes: false, now: time, sample: Some(rtt), least };
        self.models[sender].on_ack(ack.segments, &sample);
        peer.vantage.is_at_most(time, to_peer);
        Some(())
    }

    /// Takes in the round trip of the newest ACK, which is news.
    #[inline(never)]
    fn measures_path(&mut self, sender: End) {
        let Some(InStep { steady, put_off: Some(put_off), .. }) = &self.steady else { return };
        let acked = put_off.acked(&steady.half);
        self.connection.measures(sender, &acked, put_off.rtt, self.builders[sender].heard());
        self.spikes[sender].measures(&acked, || self.connection.base_rtt_at(acked.time));
    }

    /// Brings the flow to the state that the other ways leave.
    pub(super) fn leaves_step(&mut self) {
        let Some(InStep { steady, put_off, from, answers }) = self.steady.take() else { return };
        let sender = steady.sender;
        let (builder, peer) = split(&mut self.builders, sender);
        let bytes = self.connection.leaves_steady(&steady, from);
        let half = steady.half;
        builder.has_gone_on(bytes, &half);
        peer.has_more_peer_data(bytes, &builder.burst);
        if answers {
            let newest = Segment { time: builder.burst.end, ..Segment::default() };
            self.rounds.goes_on(&newest, 0, sender, &self.connection);
        }
        if let Some(put_off) = &put_off {
            builder.notes(put_off, &half, self.connection.half(sender), &self.models[sender]);
        }
        if let Some(run) = &mut self.run {
            run.answered = put_off.is_some();
            run.turns = if bytes >= LONG * u64::from(half.payload) { TURNS - 1 } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests;
