//! Learns that the tap is nearer to a sender than the first answers said: its data follows ACKs sooner than they allow.

mod round;

use super::ack_arrival::FAR;
use crate::flow::half::Half;
use crate::flow::half::pending::PendingAck;
use crate::time::Nanos;
use crate::wire::Segment;

/// Longest time that a host takes to answer: an interrupt is held back (ethtool -C rx-usecs), or a process must be
/// woken.
const HOST_TIME: Nanos = Nanos::from_millis(1);
/// Divisor of a kernel's first answers' time: the distance is at least this part of it.
const SOONEST: i64 = 4;
/// Ratio of a silence to the distance at which the silence ends just after an ACK by chance once in 16 times.
const BY_CHANCE: i64 = 16;
/// Silences in a row that end so, from which the distance is too long: by chance once in 4,096 times.
const IN_A_ROW: u8 = 3;
/// The same ratio to the time after the ACK, where an application was asked for the answers: by chance once in 64 times.
const SELDOM: i64 = 64;
/// Ratio of the distances of both ends, to one of which the tap is far nearer.
const NEARER: i64 = 2;
/// Time after an ACK that counts at least: hardly a host answers sooner.
const HARDLY: Nanos = Nanos::from_micros(20);

impl Half {
    /// The data answers the ACK although it came sooner than the distance allows. On a path as short as hosts are slow,
    /// the first answers took as much of the host's time as of the distance. Data soon after an ACK, after a silence many times
    /// as long, hardly comes by chance.
    pub(in crate::flow) fn is_woken_by(&self, ack: &PendingAck, distance: Nanos, now: Nanos) -> bool {
        let silence = || self.newest_sent().map_or(Nanos::ZERO, |sent| ack.time - sent);
        distance <= HOST_TIME
            && self.snd_una < self.snd_nxt
            && (now - ack.time).times(SOONEST) >= distance
            && silence() >= distance.times(BY_CHANCE)
    }

    /// Learns from data that answers an ACK sooner than the distance allows, one silence after the other: a host takes longer
    /// for its answer in the handshake than for later ones, and without timestamps little else measures the distance.
    #[inline(never)]
    pub(in crate::flow) fn has_answered(&mut self, segment: &Segment) {
        let (now, confirmed) = (segment.time, self.vantage.shortest().is_confirmed());
        let Some(distance) = self.vantage.now() else { return };
        let sooner = if confirmed { self.answers_sooner(distance, now) } else { None };
        let at_once = !confirmed || self.is_far_nearer(distance);
        let answered = sooner.or_else(|| if at_once { self.goes_on(segment, distance, confirmed) } else { None });
        if let Some(span) = answered {
            self.sooner += 1;
            if self.sooner == IN_A_ROW {
                self.sooner = 0;
                self.vantage.sample(now, span);
            }
        } else if self.newest_sent().is_some_and(|sent| now - sent > HOST_TIME) {
            self.sooner = 0;
        }
    }

    /// Time after the ACK that woke a host as in [`Half::is_woken_by`]. Where the path is no longer than hosts are slow, a
    /// host's time says nothing.
    fn answers_sooner(&self, distance: Nanos, now: Nanos) -> Option<Nanos> {
        let is_long = self.peer_distance.or_handshake().is_some_and(|peer| distance <= peer.part(FAR));
        let early = self.early(distance);
        let is_sooner =
            |ack: &&PendingAck| ack.time.plus(distance) - now > early && self.is_woken_by(ack, distance, now);
        self.pending.front().filter(|_| is_long).filter(is_sooner).map(|ack| now - ack.time)
    }

    /// The tap is far nearer to this sender than to its peer, on a path longer than hosts are slow: there the writes of an
    /// application do not meet ACKs by habit, as they meet the delayed ACKs (RFC 9293 §3.8.6.3) of a peer beside the tap.
    fn is_far_nearer(&self, distance: Nanos) -> bool {
        let least = distance.max(HOST_TIME + HOST_TIME).times(NEARER);
        self.peer_distance.or_handshake().is_some_and(|peer| peer >= least)
    }

    /// Time after the ACK that new data follows at once although no kernel's answer has confirmed the distance: an application
    /// may have thought before each answer, however long. The sender has received this ACK, whatever the distance.
    fn goes_on(&mut self, segment: &Segment, distance: Nanos, confirmed: bool) -> Option<Nanos> {
        let seldom = if confirmed { BY_CHANCE } else { SELDOM };
        let (now, sent) = (segment.time, self.newest_sent()?);
        let goes_on = self.snd_una < self.snd_nxt && self.offset(segment.seq) >= self.snd_nxt;
        let ack = self.pending.front().filter(|_| goes_on)?;
        let (came, span) = (ack.time, now - ack.time);
        if span >= distance || confirmed && span < HARDLY || came - sent < span.max(HARDLY).times(seldom) {
            return None;
        }
        // Where a kernel's answer says otherwise, once may be an accident. The sender has those that came with this ACK, too.
        let with_it = |ack: &&mut PendingAck| (ack.time - came).times(2) <= span && (!confirmed || self.sooner > 0);
        self.pending.iter_mut().take_while(with_it).for_each(|ack| ack.heard = true);
        Some(span)
    }
}
