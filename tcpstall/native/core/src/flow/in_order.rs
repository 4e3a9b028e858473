//! The short way of most segments: each is the next of its sender in an open connection.

use super::connection::{Connection, Effect, State};
use super::end::End;
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

    /// Takes in a segment that is in order, as [`Connection::sees`] does.
    #[inline(always)]
    pub fn goes_on(&mut self, segment: &Segment, sender: End, overdue: bool) -> Effect {
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
        self.half_mut(peer).acknowledged(segment, echoed, overdue);
        effect
    }
}
