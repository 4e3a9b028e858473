//! A recovery that ended inside a pause: the data in flight from then on, and the window that allowed it.

use super::evidence::{Context, Pause};
use super::open::Open;
use crate::flow::{Acked, Half};
use crate::sender::Cwnd;
use crate::sender::cwnd::Phase;
use crate::time::Nanos;
use crate::traits::Read;

/// State after the ACK of everything that had been sent when the loss was noticed (the recovery point of RFC 6675 §5).
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Recovered {
    /// Time when that ACK reached the sender.
    pub at: Nanos,
    flight: i64,
    segments: u32,
    room: Option<i64>,
    window: Option<i64>,
    cwnd: u32,
    acks: u32,
    acked: i64,
    hints: u32,
}

impl Recovered {
    /// Recognises the ACK that ends the recovery; `half` is the state after it, `cwnd` the model before it.
    pub(super) fn by(acked: &Acked, half: &Half, cwnd: &Cwnd, open: &Open) -> Option<Box<Recovered>> {
        let cwnd = cwnd.after_recovery(half.snd_una).filter(|_| !half.has_holes() && half.flight() > 0)?;
        Some(Box::new(Recovered {
            at: acked.time,
            flight: half.flight(),
            segments: half.flight_segments(),
            room: half.room(),
            window: half.window,
            cwnd,
            acks: open.acks,
            acked: open.acked,
            hints: open.loss_hints,
        }))
    }
}

impl Pause {
    /// Rest of the pause after a recovery that ended inside it with data in flight: from then on the window that the loss
    /// left is a normal window.
    pub fn after_recovery(&self) -> Option<Pause> {
        let recovered = self.recovered.as_deref()?;
        let sent_again = self.repair.iter().flat_map(|repair| &repair.attempts).map(|attempt| attempt.time).max();
        let repairing = self.first_retransmission.max(sent_again) > Some(recovered.at);
        let missing = self.hole.is_some_and(|hole| hole.until.is_none());
        if !self.ended || repairing || missing || self.loss_hints > recovered.hints {
            return None;
        }
        let mut rest = self.clone();
        rest.before.end = recovered.at.max(self.start());
        (rest.flight_at_start, rest.segments_at_start) = (recovered.flight, recovered.segments);
        (rest.segments_held, rest.room_held) = (recovered.segments, recovered.room);
        (rest.room_at_start, rest.window) = (recovered.room, recovered.window);
        (rest.cwnd, rest.phase) = (recovered.cwnd.max(recovered.segments), Phase::CongestionAvoidance);
        (rest.acks, rest.acked) = (self.acks - recovered.acks, self.acked - recovered.acked);
        (rest.retransmissions, rest.first_retransmission, rest.repair) = (0, None, None);
        (rest.recovering, rest.hole, rest.recovered, rest.loss_hints) = (false, None, None, 0);
        rest.losses = self.losses.max(1);
        // The flight at the pause's start was compared with the neighbours, so those results go; the sender's traits
        // remain.
        let read = Read { climb: 0, ..self.context.read };
        rest.context = Context { traits: self.context.traits, read, ..Context::default() };
        Some(rest)
    }
}
