//! Learns that a sender is nearer than its answer in the handshake said: its data ends a silence sooner after an ACK.
//!
//! Without timestamps, data in one direction measures the distance of its sender only in the handshake, where an answer may be
//! late: a host looks up its neighbour first (RFC 826), a device on the path or a radio link wakes up. All ACKs would then
//! seem to reach the sender after the data that they released.

use super::{HOST_TIME, NEARER};
use crate::flow::half::Half;
use crate::flow::half::pending::PendingAck;
use crate::flow::tap::ack_round::{AckRound, FirstAck};
use crate::time::Nanos;
use crate::wire::Segment;

/// Divisor of the distance: a silence that ends sooner by less than this part hardly ends so by chance.
const A_LITTLE: i64 = 8;
/// Divisor of the distance: the least part of it that the silence, and the time after the ACK, may be. A SYN that is sent again
/// is answered later than that.
const SOONEST: i64 = 4;
/// Round trips after a repair in which duplicate ACKs still come: the sender's report of it, and the last data before that.
const REPAIRS: i64 = 2;

impl Half {
    /// Learns from data of this sender that ends a silence before the first ACK of its last burst, `round`, can have reached
    /// the sender, at a tap far nearer to its peer, which sees the ACK soon after the data. Where an ACK without payload has
    /// confirmed the distance, data that comes sooner keeps a pace of its own; on a short path hosts' own times count as much.
    pub(in crate::flow) fn ends_round(&mut self, segment: &Segment, round: impl FnOnce() -> AckRound) {
        let (now, Some(distance)) = (segment.time, self.vantage.now()) else { return };
        let is_new = self.snd_una < self.snd_nxt && self.offset(segment.seq) >= self.snd_nxt;
        if !is_new || distance < HOST_TIME + HOST_TIME || self.vantage.is_confirmed() {
            return;
        }
        let silence = self.newest_sent().map_or(Nanos::ZERO, |sent| now - sent);
        let far = self.peer_distance.or_handshake().is_some_and(|peer| peer.times(NEARER) <= distance);
        if far && silence.times(SOONEST) >= distance {
            self.measures_round(now, distance, round());
        }
    }

    /// The first ACK of the burst before the pause that data ended at `now`, if it had not reached the sender by the distance then.
    #[inline]
    pub fn first_ack(&self, now: Nanos) -> Option<FirstAck> {
        let AckRound { ended, span, left, packet, .. } = **self.round.as_ref()?;
        (ended == now).then_some(FirstAck { span, left, packet })
    }

    #[cold]
    fn measures_round(&mut self, now: Nanos, distance: Nanos, round: AckRound) {
        let begun = self.snd_nxt - round.bytes as i64;
        let Some(ack) = self.pending.iter().find(|ack| ack.ack > begun) else { return };
        let (early, left) = (self.early(distance), self.snd_nxt - ack.ack);
        let mut round = AckRound { span: now - ack.time, left, packet: ack.packet, ..round };
        let sooner = distance - round.span;
        // Where the peer's window may have been full, a window update may have released the data.
        let full = self.room().is_some_and(|room| room < i64::from(self.mss()));
        // Duplicate ACKs (RFC 3042 §2, RFC 5681 §3.2) or a timer may have released data that follows a repair.
        let repairs = now - self.last_repair <= distance.times(REPAIRS);
        if full || repairs || sooner <= early || round.span.times(SOONEST) < distance {
            return;
        }
        let before = self.round.take().unwrap_or_default();
        // An earlier ACK may have released the data.
        let widens =
            |ack: &PendingAck| self.window.is_some_and(|now| ack.window.is_some_and(|next| i64::from(next) > now));
        let mut earlier = self.pending.iter().take_while(|earlier| earlier.packet != ack.packet);
        let passed = earlier.any(|earlier| earlier.ack > self.snd_una || widens(earlier));
        let alone = round.acks == 0 && !passed && !self.arrival(ack, now).1;
        let mss = self.mss();
        let released = round.is_cut(mss) || sooner.times(A_LITTLE) <= distance;
        if alone && released && round.is_burst(mss) || round.has_grown_since(&before, mss) {
            self.vantage.sample(now, round.span);
        } else if round.bytes >= u64::from(mss) * 2 {
            round.ended = now;
        }
        self.round = Some(Box::new(round));
    }
}
