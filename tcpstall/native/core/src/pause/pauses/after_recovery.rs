//! The rest of a pause after a recovery that ended inside it.

use super::super::Trigger;
use super::{Context, Pause, Rest};
use crate::sender::cwnd::CongestionPhase;
use crate::time::Nanos;
use crate::traits::Read;

/// Divisor of a wait: a report of a loss came at its end if less than that part was left.
const LATE: i64 = 4;

impl Pause<'_> {
    /// Rest of the pause after a recovery that ended inside it with data in flight: from then on the window that the loss
    /// left is a normal window.
    pub fn after_recovery(&self) -> Option<Rest> {
        let recovered = self.recovered.as_deref()?;
        let sent_again = self.repair.iter().flat_map(|repair| &repair.attempts).map(|attempt| attempt.time).max();
        let repairing = self.first_retransmission.max(sent_again) > Some(recovered.at);
        let missing = self.hole.is_some_and(|hole| hole.until.is_none());
        let disturbed = repairing || missing || self.loss_hints > recovered.hints;
        if !self.ended || disturbed && !self.is_repaired_anew(recovered.at) {
            return None;
        }
        let mut rest = self.facts.clone();
        rest.before.end = recovered.at.max(self.start());
        (rest.flight_at_start, rest.segments_at_start) = (recovered.flight, recovered.segments);
        (rest.segments_held, rest.room_held) = (recovered.segments, recovered.room);
        (rest.room_at_start, rest.window) = (recovered.room, recovered.window);
        (rest.cwnd, rest.phase) = (recovered.cwnd.max(recovered.segments), CongestionPhase::CongestionAvoidance);
        rest.let_pass = 0;
        (rest.acks, rest.acked) = (self.acks - recovered.acks, self.acked - recovered.acked);
        (rest.retransmissions, rest.first_retransmission, rest.repair) = (0, None, None);
        (rest.recovering, rest.hole, rest.recovered) = (false, None, None);
        (rest.loss_hints, rest.last_hint) = (0, None);
        (rest.left_together, rest.cut_short) = (false, false);
        rest.losses = self.losses.max(1);
        // The flight at the pause's start was compared with the neighbours, so those results go; the sender's traits
        // remain.
        let read = Read { climb: 0, ..self.context.read };
        let context = Context { traits: self.context.traits, read, ..Context::default() };
        Some(Rest { facts: rest, context })
    }

    /// A report of another loss, at the end of the wait, is all that came after the recovery had ended at `at`: until that
    /// report the sender knew of no loss.
    fn is_repaired_anew(&self, at: Nanos) -> bool {
        let later = self.repair.iter().flat_map(|repair| &repair.attempts).filter(|attempt| attempt.time > at);
        let Some(first) = later.clone().map(|attempt| attempt.time).min() else { return false };
        let reported = later.clone().all(|attempt| attempt.trigger == Trigger::Fast);
        let closed = |until: Option<Nanos>| until.is_some_and(|until| until <= at);
        let unknown = self.hole.is_none_or(|hole| closed(hole.until) || hole.reported.is_none_or(|known| known > at));
        let rest = self.end - first;
        reported && unknown && rest <= self.tolerance().times(2) && rest.times(LATE) <= self.end - at
    }
}
