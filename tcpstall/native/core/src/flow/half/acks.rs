//! Applies the peer's segments when they reach the sender: acknowledgements, SACK reports and windows.

use super::outstanding::Gone;
use super::pending::PendingAck;
use super::window::Scale;
use super::{ABSURD_JUMP, Half, memory::TIGHT_ACKS};
use crate::flow::events::Acked;
use crate::flow::tap::vantage::LONGEST_DELAYED_ACK;
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// ACKs that wait until they reach the sender; beyond this number the oldest are applied at once.
const PENDING_ACKS: usize = 4096;
/// Duplicate ACKs that start a fast retransmission: RFC 5681 §3.2.
const DUPLICATES: u32 = 3;

impl Half {
    /// Keeps an ACK until it reaches the sender.
    #[inline]
    pub fn awaits(&mut self, ack: PendingAck) {
        self.pending.push_back(ack);
    }

    /// Takes in a segment of the peer that passes the tap towards this sender, `echoed` after the segment whose TSval
    /// it is the first to echo; returns what is on its way to the sender, if that is anything new.
    #[inline(always)]
    pub fn passes(&mut self, segment: &Segment, echoed: Option<Nanos>, overdue: bool) -> Option<PendingAck> {
        // The window in a RST is never used.
        if !segment.flags.has(Flags::ACK) || segment.flags.has(Flags::RST) {
            return None;
        }
        if self.settled && self.is_known(segment) {
            return None;
        }
        if self.base.is_none() {
            self.begins(segment.ack);
            self.ack_passed = segment.time;
        }
        let mut pending = PendingAck {
            time: segment.time,
            ack: self.offset(segment.ack),
            window: self.peer_scale.bytes(segment.window).map(|window| window as u32),
            field: segment.window,
            packet: segment.packet,
            payload: segment.payload,
            end: segment.seq.plus(segment.payload),
            heard: false,
            echo: segment.timestamps.map(|stamps| stamps.echo),
            echoed,
            sack_count: 0,
            overdue,
        };
        if segment.flags.has(Flags::SYN) {
            // RFC 7323 §2.2: the window in a SYN is never scaled.
            pending.window = Some(u32::from(segment.window));
        }
        let newest = self.acked_at_tap();
        if pending.ack < newest && self.awaits_first_ack() {
            self.had_in_flight(segment, pending.ack);
        } else if pending.ack < newest {
            let newer = self.pending.iter().find(|newer| newer.ack > pending.ack);
            _ = self.disorder.record(segment.time - newer.map_or(self.ack_passed, |newer| newer.time));
        } else if pending.ack > newest {
            self.ack_passed = segment.time;
            self.bare_ack |= segment.payload == 0;
            if let Some(clock) = &mut self.clock {
                clock.hears(segment.time, pending.ack);
            }
        }
        if segment.payload > 0
            && let Some(clock) = &mut self.clock
        {
            clock.is_answered();
        }
        for block in segment.sack_blocks() {
            self.pending_sacks.push_back((self.offset(block.left), self.offset(block.right)));
            pending.sack_count += 1;
        }
        // Each segment of a burst says the same. Where the distance is not proven, an ACK also tells that.
        let said = segment.payload > 0
            && self.pending.back().is_some_and(|newest| newest.is_repeated_by(&pending))
            && self.vantage.is_proven();
        (!said).then_some(pending)
    }

    /// Time until which data of the peer with the ACK and window of its last segment, perhaps `news`, tells this sender nothing.
    #[inline(always)]
    pub fn told_until(&self, news: bool) -> Nanos {
        match self.pending.back() {
            Some(newest) if self.vantage.is_proven() => newest.told_until(),
            None if !news => Nanos::LATEST,
            _ => Nanos::ZERO,
        }
    }

    /// Nothing of this sender is in flight, as far as the capture shows.
    #[inline]
    pub fn is_all_acked(&self) -> bool {
        self.snd_una == self.snd_nxt && !self.flight_unknown && self.sacked.is_empty()
    }

    /// Notes that a repetition of the last ACK would change nothing: all is acknowledged, and the caller has learnt that.
    #[inline]
    pub fn settle(&mut self, learnt: bool) {
        self.settled = learnt;
    }

    /// The segment acknowledges and announces the same as the last ACK: true for most data of a peer, in the other
    /// direction.
    #[inline(always)]
    fn is_known(&self, segment: &Segment) -> bool {
        let near = self.base.unwrap_or_default().plus(self.snd_una as u32);
        segment.ack == near
            && segment.window == self.window_field
            && segment.sack_count == 0
            && !segment.flags.has(Flags::SYN)
            && self.pending.is_empty()
            && self.window == self.peer_scale.bytes(segment.window)
            && self.vantage.queue() == Nanos::ZERO
    }

    /// Time of the ACK of this new data, if the capture holds that ACK first: the data had passed before it.
    #[inline(always)]
    pub fn acknowledged_at(&self, segment: &Segment) -> Option<Nanos> {
        if segment.payload == 0 || self.base.is_none() {
            return None;
        }
        if let Some(passed) = self.ahead.as_ref().and_then(|ahead| ahead.passed(self.range(segment), segment.time)) {
            return Some(passed);
        }
        if self.acked_at_tap() <= self.snd_nxt {
            return None;
        }
        let end = self.offset(segment.seq) + i64::from(segment.payload);
        let ack = self.pending.iter().find(|ack| ack.ack >= end).filter(|_| end > self.snd_nxt)?;
        Some(ack.time)
    }

    fn range(&self, segment: &Segment) -> (i64, i64) {
        let start = self.offset(segment.seq);
        (start, start + i64::from(segment.payload))
    }

    /// Enough reports of a loss have come for a repair to begin: SACK blocks, or without SACK three duplicate ACKs (RFC
    /// 5681 §3.2).
    pub fn may_repair(&self) -> bool {
        self.sack_permitted || self.is_loss_reported()
    }

    /// The receiver reports a loss: by SACK blocks above a hole, or without SACK by three duplicate ACKs, whatever was sent since.
    pub fn is_loss_reported(&self) -> bool {
        self.has_holes() || self.duplicates >= DUPLICATES
    }

    /// Time of the newest data.
    pub(in crate::flow) fn newest_sent(&self) -> Option<Nanos> {
        self.outstanding.newest()
    }

    /// True if a segment without payload follows data of its sender that the tap has not seen.
    #[inline]
    pub fn is_ahead(&self, segment: &Segment) -> bool {
        self.snd_nxt > 1 && (1..ABSURD_JUMP).contains(&(self.offset(segment.seq) - self.snd_nxt))
    }

    /// Data that is yet to come was acknowledged before the tap saw it.
    #[inline]
    pub(in crate::flow) fn is_acked_ahead(&self) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| ahead.reaches_beyond(self.snd_nxt))
    }

    /// True if a segment of the peer may be on its way to the sender.
    #[inline]
    pub fn awaits_acks(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The newest of these acknowledges data that the tap has not seen.
    #[inline(always)]
    pub(in crate::flow) fn awaits_more_than_sent(&self) -> bool {
        self.pending.back().is_some_and(|newest| newest.ack > self.snd_nxt)
    }

    /// Takes the next ACK that reached the sender before `now`, if there is one, with the time when it did.
    #[inline]
    pub fn next_due(&mut self, now: Nanos) -> Option<(PendingAck, Nanos)> {
        let pending = self.pending.front()?;
        let (time, due) = self.arrival(pending, now);
        let most = if self.tight { TIGHT_ACKS } else { PENDING_ACKS };
        if !due && self.pending.len() < most {
            return None;
        }
        Some((self.pending.pop_front()?, time))
    }

    /// Time when an ACK that passed the tap reaches the sender; true if it has by `now`.
    #[inline(always)]
    pub fn arrival(&self, ack: &PendingAck, now: Nanos) -> (Nanos, bool) {
        let distance = self.vantage.now().unwrap_or_default();
        let time = ack.time.plus(distance);
        if ack.heard {
            return (time.min(now), true);
        }
        (time, time <= now || time - self.early(distance) <= now || self.is_woken_by(ack, distance, now))
    }

    /// The state before an ACK that reached the sender at `time`.
    #[inline(always)]
    pub fn before(&self, ack: &PendingAck, time: Nanos, now: Nanos) -> Acked {
        Acked {
            time,
            passed: ack.time,
            early: time > now,
            overdue: ack.overdue,
            packet: ack.packet,
            bytes: (ack.ack - self.snd_una).max(0),
            segments: 0,
            out_before: self.flight_segments(),
            flight_before: self.flight(),
            room_before: self.room(),
            window_before: self.window,
            field_before: self.window_field,
            unseen_inside: 0,
            unseen_tail: 0,
            blind: !self.vantage.is_proven(),
            sample: None,
            to_peer: None,
            loss_hint: false,
            duplicate: ack.reported_twice(&self.pending_sacks),
            echo: ack.echo,
            rtt: None,
            steady: false,
            payload: ack.payload,
        }
    }

    /// Applies an ACK that reached the sender at `time`; `acked` is the state before it.
    #[inline(always)]
    pub fn apply(&mut self, ack: &PendingAck, time: Nanos, acked: &mut Acked) {
        let advance = ack.ack - self.snd_una;
        if advance > ABSURD_JUMP {
            self.pending_sacks.drain(..self.pending_sacks.len().min(usize::from(ack.sack_count)));
            return;
        }
        if self.probed == Some(ack.ack) {
            self.bytes += (ack.ack - self.snd_nxt).max(0) as u64;
            self.snd_nxt = self.snd_nxt.max(ack.ack);
        }
        if ack.ack > self.snd_nxt + 1 {
            // Acknowledged without being seen: the capture lost the data. The extra one is a FIN.
            acked.unseen_tail = ack.ack - self.snd_nxt;
            self.ahead.get_or_insert_default().insert(self.snd_nxt, ack.ack, ack.time);
            self.never_seen += acked.unseen_tail;
            self.snd_nxt = ack.ack;
        }
        if advance >= 0 {
            self.flight_unknown = false;
        }
        if advance > 0 {
            let mut gone = self.outstanding.acknowledge(ack.ack, self.mss());
            if self.never_seen > 0 || !self.unseen.is_empty() {
                gone = self.doubts(gone, ack.time);
            }
            acked.sample = gone.touched.map(|sent| time - sent);
            let late = |sent: &Nanos| ack.time - *sent > LONGEST_DELAYED_ACK;
            let waited = ack.payload > 0 && !self.syn_seen;
            if waited {
                gone.touched.take_if(|sent| late(sent));
                gone.sent.take_if(|sent| late(sent));
            }
            acked.to_peer = gone.touched.map(|sent| ack.time - sent);
            self.samples(acked.sample);
            // An ACK that fills a hole also acknowledges data that arrived long before: it measures no round trip.
            if let Some(sent) = gone.sent.filter(|_| self.sacked.is_empty() && !self.hinted) {
                self.measures(sent, ack.time, acked);
            } else {
                // RFC 7323 §4.1: the echo measures the round trip even where Karn's rule forbids it, if it echoes the
                // repair: some stacks echo the last segment before the hole.
                let of_repair = |sent: &Nanos| *sent >= self.last_again && !(waited && late(sent));
                let echoed = ack.echoed.filter(|span| of_repair(&(ack.time - *span)));
                acked.rtt = echoed.map(|span| span + (time - ack.time));
            }
            self.keeps_round_trip(acked.rtt, ack.time);
            (self.hinted, self.duplicates) = (false, 0);
            self.snd_una = ack.ack;
            // Data that SACK had reported before does not count again (Linux raises the window by the newly delivered
            // segments of an ACK).
            let reported = self.sacked.forget_below(ack.ack);
            let reported = if reported > 0 { reported / i64::from(self.mss()) } else { 0 };
            acked.segments = gone.segments.saturating_sub(reported as u32);
            if !self.unseen.is_empty() {
                for (left, right) in self.unseen.below(ack.ack) {
                    self.ahead.get_or_insert_default().insert(left, right, ack.time);
                }
                acked.unseen_inside = self.unseen.forget_below(ack.ack);
                self.never_seen += acked.unseen_inside;
                acked.segments = self.without_unseen(acked.segments, acked.unseen_inside, advance);
            }
        }
        for _ in 0..ack.sack_count {
            let Some((left, right)) = self.pending_sacks.pop_front() else { break };
            if left >= self.snd_una && right <= self.snd_nxt {
                let before = self.sacked.bytes();
                self.sacked.insert(left, right);
                acked.loss_hint |= self.sacked.bytes() > before;
            }
        }
        if advance >= 0 {
            let window = ack.window.map(i64::from);
            // With SACK a duplicate ACK without new blocks is no report of a loss (RFC 6675 §2).
            let classic = !self.sack_permitted && ack.sack_count == 0;
            if classic && advance == 0 && ack.payload == 0 && window == self.window && self.snd_nxt > self.snd_una {
                acked.loss_hint = true;
                self.duplicates += 1;
            }
            if self.peer_scale == Scale::Unknown && self.unscaled.is_shown(advance, self.window_field, ack.field) {
                self.peer_scale = Scale::Absent;
            }
            self.window = window.or_else(|| self.peer_scale.bytes(ack.field));
            self.window_field = ack.field;
        }
        self.hinted |= acked.loss_hint;
    }

    /// Forgets when the frames of an ACK were sent if the ACK came sooner than any before: where packets are missing, it
    /// answers a packet that the capture lacks, not the repair.
    #[cold]
    pub(super) fn doubts(&self, gone: Gone, acked: Nanos) -> Gone {
        let Some(least) = self.peer_distance.get() else { return gone };
        let believed = |sent: &Nanos| acked - *sent >= least.scaled(0.5);
        Gone { touched: gone.touched.filter(believed), sent: gone.sent.filter(believed), ..gone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::SeqNo;

    const FAR: Nanos = Nanos::from_millis(20);

    /// A sender that is far from the tap, with data outstanding.
    fn sender(proven: bool) -> Half {
        let mut half = Half { peer_scale: Scale::Absent, sack_permitted: true, ..Half::default() };
        half.start(SeqNo(0));
        half.snd_nxt = 101;
        if proven {
            half.vantage.sample(Nanos::ZERO, FAR);
        }
        half
    }

    fn answer(us: i64, ack: u32, window: u16, payload: u32) -> Segment {
        let (time, ack, flags) = (Nanos::from_micros(us), SeqNo(ack), Flags::ACK);
        Segment { time, ack, window, payload, flags, ..Segment::default() }
    }

    fn passes(half: &mut Half, answer: &Segment) {
        let ack = half.passes(answer, None, false);
        half.pending.extend(ack);
    }

    /// Number of ACKs on their way.
    fn on_their_way(mut half: Half, answers: &[Segment]) -> usize {
        answers.iter().for_each(|answer| passes(&mut half, answer));
        half.pending.len()
    }

    #[test]
    fn the_segments_of_a_burst_that_say_the_same_are_one_ack_on_its_way() {
        let burst = [answer(0, 101, 500, 1_000), answer(2, 101, 500, 1_000), answer(4, 101, 500, 1_000)];
        assert_eq!(on_their_way(sender(true), &burst), 1);
        // Without a proven distance each shows when the sender may have had it.
        assert_eq!(on_their_way(sender(false), &burst), 3);
    }

    #[test]
    fn what_is_new_or_later_or_no_data_is_an_ack_of_its_own() {
        let first = answer(0, 51, 500, 1_000);
        let others =
            [answer(2, 101, 500, 1_000), answer(2, 51, 400, 1_000), answer(2, 51, 500, 0), answer(200, 51, 500, 1_000)];
        for other in others {
            assert_eq!(on_their_way(sender(true), &[first, other]), 2, "{other:?}");
        }
    }

    #[test]
    fn acknowledged_data_of_the_peer_brought_its_ack_sooner_than_the_distance_says() {
        let (mut half, now) = (sender(true), Nanos::from_millis(10));
        passes(&mut half, &answer(0, 101, 500, 1_000));
        assert!(half.next_due(now).is_none());
        half.has_received(SeqNo(999));
        assert!(half.next_due(now).is_none(), "a part of it");
        half.has_received(SeqNo(1_000));
        assert!(half.next_due(now).is_some_and(|(_, time)| time <= now));
    }
}
