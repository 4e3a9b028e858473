//! Takes in new data of a sender: it ends a pause, or continues a burst.

use super::super::builder::{Idle, PauseEnd, Unheard};
use super::Watch;
use crate::flow::End;
use crate::flow::rounds::Spoken;
use crate::sender::timers;
use crate::time::Nanos;
use crate::wire::Segment;

impl Watch {
    /// Takes in new data; true if it ended a pause.
    pub(super) fn new_data(&mut self, segment: &Segment, sender: End, bytes: u32, hole: i64, lost: u32) -> bool {
        let builder = &mut self.builders[sender];
        let sending = builder.sending();
        if !sending && let Some(peer) = builder.last_peer_payload {
            builder.first_wait_from(peer.max(builder.last_data()));
        }
        let first_known = sending || builder.last_data() > Nanos::ZERO;
        let held_up = builder.held_up();
        let ends_pause = first_known && builder.is_prepared();
        let unheard = if ends_pause { self.ends_pause(segment, sender, hole, lost) } else { None };
        let (half, model, builder) =
            (self.connection.half(sender), &mut self.models[sender], &mut self.builders[sender]);
        if ends_pause || !sending {
            builder.start_burst(segment);
        }
        builder.extend(segment, bytes, half);
        if let Some(unheard) = unheard {
            builder.hears_at_last(&unheard);
        }
        if hole > 0 {
            let edge = half.snd_nxt - i64::from(bytes);
            builder.skips(segment.time, (edge - hole, edge), half);
        }
        model.on_send(half.seen_in_flight(), half.snd_una, half.snd_nxt);
        self.rounds.speaks(&Spoken { segment, bytes, held_up }, sender, &self.connection);
        self.builders[sender.peer()].on_peer_data(segment);
        ends_pause
    }

    /// Freezes the pause that new data ends; `hole` bytes and `lost` packets are missing before that data. Gives what the peer had sent
    /// and the sender had not received.
    fn ends_pause(&mut self, segment: &Segment, sender: End, hole: i64, mut lost: u32) -> Option<Unheard> {
        let (model, builder) = (&mut self.models[sender], &mut self.builders[sender]);
        let [half, peer] = [sender, sender.peer()].map(|end| self.connection.half(end));
        let unheard = builder.takes_back_unheard(segment, peer, half.vantage.now().unwrap_or_default());
        let half = self.connection.half_mut(sender);
        half.vantage.resumes(segment, segment.time - builder.current_burst().end);
        if lost > 0 && hole == 0 && builder.answers(segment.time, half.srtt) {
            // Data that answers the peer's at once waited for no timer: the missing packets went to others.
            half.ip_id.jumped();
            lost = 0;
        }
        let half = self.connection.half(sender);
        let mss = i64::from(half.mss());
        lost = lost.max(((hole + mss - 1) / mss) as u32);
        let (start, no_hole) = (half.offset(segment.seq), hole == 0);
        let hole = (start - hole, start);
        let id = segment.ip_id.unwrap_or(0);
        let missing_ids = (id.wrapping_sub(lost as u16), id);
        let (next_packet, base_rtt) = (Some(segment.packet), self.connection.base_rtt());
        let echo = segment.timestamps.map(|stamps| stamps.echo);
        let ending = PauseEnd { time: segment.time, next_packet, echo, lost, hole, missing_ids, base_rtt };
        let (idle, silence) = (segment.time - builder.last_sent(), segment.time - builder.last_progress());
        let fired = timers::fired(lost, i64::from(segment.payload) < mss);
        let expired = lost > 0
            && no_hole
            && silence >= timers::LINUX_RTO_MIN
            && timers::expired(half.srtt, builder.segments_out(), silence, &fired).is_some();
        let nothing_out = builder.close(&ending, half, model);
        if expired {
            // New to this tap, but packets were lost just before it: the timer retransmitted data that was lost
            // before the tap.
            model.on_timeout(lost, half.snd_una + i64::from(lost) * mss.min(i64::from(segment.payload)));
            builder.taken_for_timeout = Some(Idle { idle, rto: timers::rto(half.srtt) });
        } else if builder.sending()
            && (nothing_out || no_hole && lost == 0 && timers::would_have_fired(idle, half.srtt))
        {
            // The capture lacks the ACK of what seems to be out: the timer would have sent it again.
            model.on_idle(idle, timers::rto(half.srtt));
        }
        unheard
    }
}
