//! Learns that a sender is nearer than its answer in the handshake said: its data ends a silence sooner after an ACK.
//!
//! Without timestamps, data in one direction measures the distance of its sender only in the handshake, where an answer may be
//! late: a host looks up its neighbour first (RFC 826), a device on the path or a radio link wakes up. All ACKs would then
//! seem to reach the sender after the data that they released.

use crate::flow::half::Half;
use crate::packet_no::PacketNo;
use crate::time::Nanos;
use crate::wire::Segment;

/// Shortest distance that rounds can measure: on a shorter path hosts' own times count as much.
const LEAST: Nanos = Nanos::from_millis(2);
/// Divisor of the distance: a silence that ends sooner by less than this part hardly ends so by chance.
const A_LITTLE: i64 = 8;
/// Divisor of the distance: the least part of it that the silence, and the time after the ACK, may be. A SYN that is sent again
/// is answered later than that.
const SOONEST: i64 = 4;
/// Ratio of the distance to that of the peer, to which the tap is nearer: it sees the ACK soon after the data.
const FARTHER: i64 = 2;
/// Largest difference between two rounds that are alike, as a share, and at least.
const EVEN: f64 = 0.03;
const HOST: Nanos = Nanos::from_micros(300);

/// The burst before a silence of a sender, and the silence.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct AckRound {
    /// New payload bytes of the burst.
    pub bytes: u64,
    /// Bytes of its last frame.
    pub last_frame: u32,
    /// That frame had PSH.
    pub pushed: bool,
    /// ACKs of new data that have reached the sender in the silence.
    pub acks: u32,
    /// Time from the burst's first ACK to the next data, at the tap.
    pub span: Nanos,
    /// Time of that data, if it measured nothing; bytes in flight after the burst's first ACK, and the packet of that ACK.
    ended: Nanos,
    left: i64,
    packet: PacketNo,
}

/// The first ACK of a burst, which may have reached the sender before the data that ended the pause.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FirstAck {
    /// Time from that ACK to that data, at the tap: the largest distance at which it had.
    pub span: Nanos,
    /// Bytes in flight after it.
    pub left: i64,
    /// Its packet.
    pub packet: PacketNo,
}

impl AckRound {
    /// The burst before a silence that has not ended.
    pub fn of(bytes: u64, last_frame: u32, pushed: bool, acks: u32) -> AckRound {
        AckRound { bytes, last_frame, pushed, acks, ..AckRound::default() }
    }

    /// Segments that left together: a slow line would have separated them. A short segment alone ends a write.
    fn is_burst(&self, mss: u32) -> bool {
        self.bytes >= u64::from(mss) * 2 || self.last_frame < mss
    }

    /// The sender had more to send: the last segment is whole and without PSH (RFC 9293 §3.9.1.2).
    fn is_cut(&self, mss: u32) -> bool {
        self.last_frame.is_multiple_of(mss.max(1)) && !self.pushed
    }

    /// The round took as long as the one `before`, and is larger by whole segments: the congestion window grew.
    fn has_grown_since(&self, before: &AckRound, mss: u32) -> bool {
        let whole = |round: &AckRound| round.bytes.is_multiple_of(u64::from(mss.max(1)));
        let (least, most) = (self.span.min(before.span), self.span.max(before.span));
        let even = most - least <= least.scaled(EVEN).max(HOST);
        even && whole(self) && whole(before) && self.bytes > before.bytes && before.bytes > 0
    }
}

impl Half {
    /// Learns from data of this sender that ends a silence before the first ACK of its last burst, `round`, can have reached
    /// the sender, at a tap that is no nearer to the sender than to its peer. Where an ACK without payload has confirmed
    /// the distance, data that comes sooner keeps a pace of its own.
    pub(in crate::flow) fn ends_round(&mut self, segment: &Segment, round: impl FnOnce() -> AckRound) {
        let (now, Some(distance)) = (segment.time, self.vantage.now()) else { return };
        let is_new = self.snd_una < self.snd_nxt && self.offset(segment.seq) >= self.snd_nxt;
        if !is_new || distance < LEAST || self.vantage.is_confirmed() {
            return;
        }
        let silence = self.newest_sent().map_or(Nanos::ZERO, |sent| now - sent);
        let far = self.peer_distance.or_handshake().is_some_and(|peer| peer.times(FARTHER) <= distance);
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
        if sooner <= early || round.span.times(SOONEST) < distance {
            return;
        }
        let before = self.round.take().unwrap_or_default();
        // An earlier ACK may have released the data.
        let earlier = self.pending.iter().any(|ack| ack.ack > self.snd_una && ack.ack <= begun);
        let alone = round.acks == 0 && !earlier && !self.arrival(ack, now).1;
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
