//! Freezes a pause at its end: its notes become evidence that does not change any more.

use super::{Builder, PauseEnd};
use crate::flow::tap::tsval_clock::TsvalClock;
use crate::flow::{Half, Short};
use crate::pause::LEAST_PAUSE;
use crate::pause::burst::Burst;
use crate::pause::evidence::Facts;
use crate::pause::evidence::unseen::Unseen;
use crate::pause::open::Left;
use crate::sender::Cwnd;
use crate::sender::cwnd::CongestionPhase;
use crate::time::Nanos;

impl Builder {
    pub(super) fn freeze(&self, ending: &PauseEnd, half: &Half, cwnd: &Cwnd, left: Left) -> Facts {
        let (open, rare) = (&self.open, self.open.rare());
        let at = open.beginning.unwrap_or_default();
        let freeing = self.train;
        let peer = open.peer_first.is_none_or(|first| first <= ending.time);
        let segments_held = freeing.map_or(at.segments, |train| train.segments);
        let filled = self.holes.misses(ending.hole.1) && !half.ip_id.was_overtaken();
        let clock = ending.next_packet.map(|_| &half.vantage.tsval_clock);
        let mut facts = Facts {
            sender: self.sender,
            before: self.burst,
            first: !self.sending,
            end: ending.time.max(self.burst.end),
            ended: ending.next_packet.is_some(),
            after: Burst::default(),
            next_packet: ending.next_packet,
            base_rtt: ending.base_rtt,
            srtt: at.srtt,
            // ACKs from before any measurement were applied as they passed, although this packet may have shown the distance.
            distance: half.vantage.now().filter(|_| !open.unseen.unmeasured).unwrap_or_default(),
            stamps_apart: clock.and_then(TsvalClock::apart),
            left_together: false,
            held_up: half.vantage.is_held_up(),
            jitter: half.vantage.jitter(),
            disorder: Nanos::ZERO,
            mss: half.mss(),
            mss_known: half.mss_is_sure(),
            flight_at_start: at.flight,
            segments_at_start: at.segments,
            segments_held,
            let_pass: freeing.map_or(0, |train| train.segments.saturating_sub(train.segments_at_last)),
            room_at_start: at.room,
            room_held: freeing.map_or(at.room, |train| train.room),
            window: at.window,
            window_field: at.window_field,
            least_room: None,
            multipath: false,
            scale_inferred: false,
            largest_window: at.largest_window,
            short_segment_out: at.short != Short::None,
            short_only_cut: at.short == Short::Cut,
            cut_short: false,
            briefs_out: at.briefs,
            short_segment_left: left.short != Short::None,
            acks: open.acks,
            slowest_ack: open.slowest_ack,
            acked: open.acked,
            acked_in_time: open.acked_in_time,
            last_ack: open.last_ack,
            last_ack_packet: freeing.map(|train| train.first_packet).or(open.last_ack_packet),
            widened: rare.widened,
            left_before_ack: self.left_before_ack(ending, half),
            all_acked: open.all_acked,
            room_since: open.room_since,
            left_in_flight: left.flight,
            closed: rare.closed,
            reopened: rare.reopened,
            probes: rare.probes,
            persist: rare.persist,
            reading: self.reading.backlog(ending.time.max(self.burst.end)),
            // More segments in flight than the model allows: a larger initial window, or growth that the model missed.
            cwnd: at.cwnd.max(segments_held),
            two_per_ack: at.two_per_ack,
            phase: at.phase,
            losses: cwnd.losses(),
            cwnd_before_idle: at.before_idle,
            old_window_known: cwnd.old_window_known(),
            cwnd_after_idle: at.after_idle,
            message_acks: open.message_acks,
            message_at: open.message_at,
            peer_bytes: if peer { open.peer_bytes } else { 0 },
            peer_first: open.peer_first.filter(|_| peer),
            peer_last: open.peer_last.filter(|_| peer),
            peer_packet: open.peer_packet.filter(|_| peer),
            retransmissions: rare.retransmissions,
            first_retransmission: rare.first_retransmission,
            repair: open.repair.clone(),
            held: clock.and_then(TsvalClock::held).unwrap_or_default(),
            overtaken: rare.overtaken,
            lost_before_tap: ending.lost,
            numbered: half.ip_id.counts(),
            hole_before: ending.hole.1 - ending.hole.0,
            left_edge: half.snd_una,
            acks_lost: false,
            loss_hints: rare.loss_hints,
            last_hint: rare.last_hint,
            recovering: at.phase == CongestionPhase::Recovery,
            recovered: open.recovered.clone(),
            hole: self.holes.longest(rare.closed_hole, filled, self.burst.end, ending.time),
            left_out: rare.left_out,
            from_start: half.syn_seen,
            flight_unknown: left.unknown,
            cwnd_known: at.cwnd_known,
            unseen: Unseen {
                heard: left.heard_unseen,
                oldest: self.oldest_out(half, &left),
                departure: open.unseen.departure
                    || clock.is_some_and(|clock| clock.may_hide(ending.time - self.burst.end)),
                ..open.unseen
            },
        };
        if let Some(under_way) = self.under_way.within(&self.burst, open.acked) {
            facts.has_under_way(under_way, self.under_way.last);
        }
        facts
    }

    /// The sender had not received the first ACK of the last train when the data that ends the pause left it, by the TSval that
    /// the data echoes (RFC 7323 §4.3).
    fn left_before_ack(&self, ending: &PauseEnd, half: &Half) -> bool {
        let Some(unheard) = ending.echo.and_then(|echo| half.vantage.unheard_since(echo)) else { return false };
        let distance = half.vantage.now().unwrap_or_default();
        // While payload of the peer is unacknowledged, segments update no echo.
        let spoken = self.last_peer_payload.is_some_and(|at| at.plus(distance) > self.burst.end);
        // An ACK before it may have released the data, which met this one on the way.
        let earlier = half.vantage.last_span().is_some_and(|span| span - distance <= LEAST_PAUSE);
        // A stamp from before the last burst says more of the stack than of the path: headers may be written with the data.
        let recent = unheard.plus(distance) >= self.burst.end;
        self.train.is_some_and(|train| unheard <= train.first_passed) && recent && !spoken && !earlier
    }

    /// Start of the retransmission timer of the oldest data in flight (RFC 6298 §5).
    fn oldest_out(&self, half: &Half, left: &Left) -> Option<Nanos> {
        let sent = half.head_sent().filter(|_| left.flight > 0)?.max(self.heard);
        Some(self.repairs.as_ref().and_then(|repairs| repairs.last).map_or(sent, |again| again.max(sent)))
    }
}
