//! Applies ACKs at the time when they reach the sender, which is later than they passed the tap.

use super::Watch;
use crate::flow::{End, PendingAck};
use crate::sender::AckSample;
use crate::time::Nanos;
use crate::wire::Segment;

/// Round trip from the tap to the peer that an ACK measured, and the time of the ACK.
#[derive(Clone, Copy, Debug)]
struct ToPeer {
    time: Nanos,
    span: Nanos,
    /// No application was asked for the answer, or timestamps measure the path besides.
    proves: bool,
}

impl Watch {
    /// Applies the ACKs that the sender of a segment has received; true if there were any.
    #[inline(always)]
    pub(super) fn receives_acks(&mut self, segment: &Segment, sender: End) -> bool {
        if !self.connection.half(sender).awaits_acks() {
            return false;
        }
        if self.connection.half(sender.peer()).is_news(segment) {
            self.connection.half_mut(sender).has_received(segment.ack);
        }
        self.apply_waiting_acks(sender, segment.time)
    }

    #[inline(always)]
    pub(super) fn apply_acks(&mut self, sender: End, now: Nanos) {
        if self.connection.half(sender).awaits_acks() {
            self.apply_waiting_acks(sender, now);
        }
    }

    /// Applies the ACKs that have reached the sender by `now`; true if there were any.
    #[inline(never)]
    pub(super) fn apply_waiting_acks(&mut self, sender: End, now: Nanos) -> bool {
        let (mut to_peer, mut any): (Option<ToPeer>, bool) = (None, false);
        while let Some((ack, time)) = self.connection.half_mut(sender).next_due(now) {
            any = true;
            let span = self.apply(&ack, time, sender, now);
            if let Some(span) = span.filter(|span| to_peer.is_none_or(|least| *span < least.span)) {
                to_peer = Some(ToPeer { time, span, proves: ack.proves_path() });
            }
        }
        self.has_applied(to_peer, sender);
        any
    }

    /// Passes an ACK on to the sender: at once where it has reached the sender, as near its sender.
    #[inline(always)]
    pub(super) fn pass_on(&mut self, ack: PendingAck, sender: End, now: Nanos) {
        let half = self.connection.half_mut(sender);
        if !half.awaits_acks() && ack.bears_no_sacks() {
            let (time, arrived) = half.arrival(&ack, now);
            if arrived {
                let to_peer = self.apply(&ack, time, sender, now);
                return self.has_applied(to_peer.map(|span| ToPeer { time, span, proves: ack.proves_path() }), sender);
            }
        }
        half.awaits(ack);
        self.apply_waiting_acks(sender, now);
    }

    /// Applies an ACK that reached the sender at `time`. Returns the round trip to the peer that it measures.
    #[inline(never)]
    fn apply(&mut self, ack: &PendingAck, time: Nanos, sender: End, now: Nanos) -> Option<Nanos> {
        let (model, builder) = (&mut self.models[sender], &mut self.builders[sender]);
        let half = self.connection.half_mut(sender);
        let begins = builder.begin(half, model);
        let mut acked = half.before(ack, time, now);
        half.apply(ack, time, &mut acked);
        if let Some(rtt) = acked.rtt.filter(|_| !acked.steady) {
            self.connection.measures(sender, &acked, rtt, builder.heard());
            self.spikes[sender].measures(&acked, || self.connection.base_rtt_at(acked.time));
        }
        let half = self.connection.half(sender);
        if begins {
            builder.begins_at(half.srtt);
        }
        if builder.on_ack(&acked, half, model) {
            model.may_undo();
        }
        let sample = AckSample {
            snd_una: half.snd_una,
            snd_nxt: half.snd_nxt,
            holes: half.has_holes(),
            now: acked.time,
            sample: acked.sample,
            least: half.least_rtt,
        };
        model.on_ack(acked.segments, &sample);
        acked.to_peer
    }

    /// Takes in that ACKs have reached the sender; the nearest answer of the peer among them measures the path to it.
    #[inline(always)]
    fn has_applied(&mut self, to_peer: Option<ToPeer>, sender: End) {
        let half = self.connection.half_mut(sender);
        half.settle(half.is_all_acked() && self.builders[sender].has_learnt(half, &self.models[sender]));
        if let Some(ToPeer { time, span, proves }) = to_peer {
            let peer = self.connection.half_mut(sender.peer());
            if proves {
                peer.vantage.is_at_most(time, span);
            } else if peer.syn_seen {
                peer.vantage.is_at_most_by_answer(time, span);
            } else {
                peer.vantage.is_at_most_with_thought(time, span);
            }
        }
    }
}
