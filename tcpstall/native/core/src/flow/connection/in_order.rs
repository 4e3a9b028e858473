//! The short way of most segments: each is the next of its sender in an open connection.

use super::{Connection, Effect, State};
use crate::flow::end::{End, split};
use crate::flow::events::Sending;
use crate::flow::half::CalmAck;
use crate::flow::half::pending::PendingAck;
use crate::wire::{Flags, Segment};

/// Flags of which such a segment has the ACK alone.
const LOOK: Flags = Flags::SYN.with(Flags::FIN).with(Flags::RST).with(Flags::ACK);

impl Connection {
    /// True if the segment is its sender's next in an open connection: it says nothing beyond its payload, its ACK and its
    /// options.
    #[inline(always)]
    pub fn is_in_order(&self, segment: &Segment, sender: End) -> bool {
        segment.flags.0 & LOOK.0 == Flags::ACK.0
            && self.state == State::Open
            && !(segment.goes_on || segment.options_cut)
            && self.is_under_way(segment, sender)
            && self.half(sender).is_followed_by(segment)
    }

    /// The handshake is over, or was not captured and learns nothing from the segment.
    #[inline(always)]
    fn is_under_way(&self, segment: &Segment, sender: End) -> bool {
        let handshake = &self.handshake;
        handshake.done.is_some()
            || sender == End::Server
            || (handshake.syn_ack.is_none() && (segment.payload == 0 || handshake.spoken.is_some()))
    }

    /// True if the next segment of `sender`, with the same ACK and window as this one, could bring nothing but data and the
    /// ACKs that have reached the sender by then: the tap's distance is measured, and the capture is in order.
    #[inline(always)]
    pub fn is_quiet(&self, sender: End) -> bool {
        let half = self.half(sender);
        let in_order = !half.awaits_more_than_sent() && !half.is_acked_ahead();
        half.is_placed() && in_order && !self.half(sender.peer()).vantage.awaits_unseen()
    }

    /// True if the segment has the ACK alone, and nothing of it is cut, continued or reported missing.
    #[inline(always)]
    pub fn is_plain(segment: &Segment) -> bool {
        segment.flags.0 & LOOK.0 == Flags::ACK.0 && !(segment.goes_on || segment.options_cut) && segment.sack_count == 0
    }

    /// True if data of `sender`, in an open connection, is its next in order.
    #[inline(always)]
    pub fn continues(&self, segment: &Segment, sender: End) -> bool {
        segment.flags.0 & LOOK.0 == Flags::ACK.0
            && !(segment.goes_on || segment.options_cut)
            && self.half(sender).is_followed_by(segment)
    }

    /// True if ACKs of the peer without payload, each next in order, can only acknowledge data of `sender`.
    pub fn is_calm(&self, sender: End) -> bool {
        let under_way = self.handshake.done.is_some() || sender == End::Client || self.handshake.syn_ack.is_none();
        under_way && self.half(sender).is_calm()
    }

    /// The ACK that a segment without payload brings to `sender`, whose half is calm, if the segment is its peer's next in
    /// order and brings nothing else.
    #[inline(always)]
    pub fn calm_ack(&self, segment: &Segment, sender: End) -> Option<CalmAck> {
        let peer = sender.peer();
        let is_due = self.half(peer).ip_id.is_due(segment);
        let is_next = segment.flags.0 & LOOK.0 == Flags::ACK.0
            && segment.payload == 0
            && segment.time >= self.end
            && self.sender(segment) == peer
            && !(segment.goes_on || segment.options_cut)
            && self.half(peer).is_joined_by(segment)
            && (is_due || !self.half(peer).ip_id.is_repeated_by(segment));
        if is_next { self.half(sender).calm_ack(segment, is_due) } else { None }
    }

    /// Takes in the segment of such an ACK, except for the ACK.
    #[inline(always)]
    pub fn hears_calm(&mut self, segment: &Segment, ack: &CalmAck, sender: End) {
        self.segments += 1;
        self.end = segment.time;
        self.silence[sender].is_broken(segment.time);
        let (half, peer) = split(&mut self.halves, sender);
        peer.measures_distance(half, segment);
        if ack.is_due {
            peer.ip_id.goes_on(segment);
        } else {
            peer.ip_id.follow(segment, peer.mss());
        }
    }

    /// Takes in data that continues a run of `sender`.
    #[inline(always)]
    pub fn appends(&mut self, segment: &Segment, sender: End) -> Sending {
        self.segments += 1;
        self.end = segment.time;
        self.silence[sender.peer()].is_broken(segment.time);
        self.half_mut(sender).append(segment)
    }

    /// Takes in a segment that is in order, as [`Connection::sees`] does; its ACK is the caller's to pass on.
    #[inline(always)]
    pub fn goes_on(&mut self, segment: &Segment, sender: End, overdue: bool) -> (Effect, Option<PendingAck>) {
        let peer = sender.peer();
        self.segments += 1;
        self.end = self.end.max(segment.time);
        self.silence[peer].is_broken(segment.time);
        let half = self.half_mut(sender);
        let effect = if segment.payload > 0 {
            Effect::Data(half.append(segment))
        } else {
            half.ip_id.follow(segment, half.mss());
            Effect::Control
        };
        let echoed = half.vantage.last_span();
        (effect, self.half_mut(peer).passes(segment, echoed, overdue))
    }
}
