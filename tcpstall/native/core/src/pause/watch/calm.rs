//! The short way of ACKs that come between the data of a run, where they can bring nothing else than the acknowledgement.

use super::{SeenSegment, SegmentKind, Watch};
use crate::flow::{CalmAck, End, connection::Effect, split};
use crate::sender::AckSample;
use crate::wire::Segment;

impl Watch {
    /// ACKs of `sender`'s data, each in order, can only acknowledge: nothing is lost, repaired or closed, and nothing is on its
    /// way to the peer.
    pub(super) fn is_calm(&self, sender: End) -> bool {
        !self.connection.half(sender.peer()).awaits_acks()
            && self.connection.is_calm(sender)
            && self.builders[sender].is_calm()
            && !self.models[sender].repairs()
    }

    /// Takes in a segment without payload while a run of `sender` goes on. Each end has code of its own.
    #[inline(never)]
    pub(super) fn sees_ack(&mut self, segment: &Segment, sender: End) -> SeenSegment {
        match sender {
            End::Client => self.hears_from_peer(segment, End::Client),
            End::Server => self.hears_from_peer(segment, End::Server),
        }
    }

    #[inline(always)]
    fn hears_from_peer(&mut self, segment: &Segment, sender: End) -> SeenSegment {
        match self.connection.calm_ack(segment, sender) {
            Some(ack) => self.acknowledges(segment, &ack, sender),
            None => self.sees_bare(segment),
        }
    }

    /// Takes in a calm ACK of `sender`'s data, as [`Watch::takes_in`] does.
    #[inline(always)]
    fn acknowledges(&mut self, segment: &Segment, ack: &CalmAck, sender: End) -> SeenSegment {
        self.connection.hears_calm(segment, ack, sender);
        let (half, peer) = split(&mut self.connection.halves, sender);
        let (model, builder) = (&mut self.models[sender], &mut self.builders[sender]);
        let begins = builder.begin(half, model);
        let acked = half.acknowledges(segment, ack, peer.vantage.last_span());
        if let Some(rtt) = acked.rtt.filter(|_| !acked.steady) {
            self.connection.measures(sender, &acked, rtt, builder.heard());
            self.spikes[sender].measures(&acked, || self.connection.base_rtt_at(acked.time));
        }
        let (half, peer) = split(&mut self.connection.halves, sender);
        if begins {
            builder.begins_at(half.srtt);
        }
        if builder.on_calm_ack(&acked, half) {
            model.may_undo();
        }
        let sample = AckSample {
            snd_una: half.snd_una,
            snd_nxt: half.snd_nxt,
            holes: false,
            now: acked.time,
            sample: acked.sample,
            least: half.least_rtt,
        };
        model.on_ack(acked.segments, &sample);
        half.settle(half.is_all_acked() && builder.has_learnt(half, model));
        if let Some(span) = acked.to_peer {
            peer.vantage.is_at_most(acked.time, span);
        }
        let acker = sender.peer();
        if self.connection.half(acker).ip_id.was_overtaken() {
            self.run = None;
            self.comes_late(segment, acker, Effect::Control);
        } else if let Some(run) = &mut self.run {
            run.answered = true;
        }
        SeenSegment { sender: acker, kind: SegmentKind::Bare, ended_pause: false }
    }
}

#[cfg(test)]
pub(super) mod tests;
