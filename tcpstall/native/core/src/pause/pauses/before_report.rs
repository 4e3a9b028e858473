//! The part of a pause before the report of a loss let the sender begin the repair.

use super::super::{Facts, Pause, Trigger};
use super::Rest;

impl Pause<'_> {
    /// The pause until its first retransmission, where a report of the loss triggered that, nothing had reported a loss when the
    /// pause began, and new data ended it: so far the sender waited as if nothing had been lost.
    pub fn before_report(&self) -> Option<Rest> {
        let known = self.recovering || self.hole.and_then(|hole| hole.reported).is_some_and(|at| at <= self.start());
        let at = self.first_retransmission.filter(|_| self.ended && !known)?;
        let repair = self.repair.as_deref()?;
        if !repair.attempts.iter().any(|attempt| attempt.time == at && attempt.trigger == Trigger::Fast) {
            return None;
        }
        let first = repair.first;
        let heard_later = self.last_ack.is_some_and(|ack| ack > at);
        let facts = Facts {
            end: at,
            next_packet: Some(first.packet),
            acks: first.acks,
            acked: first.acked,
            segments_held: self.segments_at_start,
            let_pass: 0,
            room_held: self.room_at_start,
            left_in_flight: (self.flight_at_start - first.acked).max(0),
            last_ack: self.last_ack.filter(|_| first.acks > 0).map(|ack| ack.min(at)),
            last_ack_packet: self.last_ack_packet.filter(|_| first.acks > 0 && !heard_later),
            all_acked: self.all_acked.filter(|acked| *acked <= at),
            room_since: self.room_since.filter(|since| *since <= at),
            loss_hints: 0,
            last_hint: None,
            // Losses are counted at the end of the pause.
            losses: self.losses.saturating_sub(repair.attempts.len() as u32),
            ..self.without_repairs()
        };
        Some(Rest { facts, context: *self.context })
    }

    /// The facts as if nothing had been sent again in the pause.
    pub fn without_repairs(&self) -> Facts {
        Facts {
            retransmissions: 0,
            first_retransmission: None,
            repair: None,
            recovering: false,
            hole: None,
            ..self.facts.clone()
        }
    }
}
