//! Takes in segments that came late: what their absence had shown is taken back.

use super::super::builder::Idle;
use super::Watch;
use crate::flow::{End, Sending, connection::Effect};
use crate::wire::Segment;

impl Watch {
    /// Takes in that a segment came late: data that seemed lost when the last pause ended may only have been overtaken. If
    /// its absence had looked like a timeout, the model of the congestion window takes that back at once, because each
    /// later pause is frozen with the model's window.
    pub(super) fn comes_late(&mut self, segment: &Segment, sender: End, effect: Effect) {
        let (half, builder) = (self.connection.half(sender), &mut self.builders[sender]);
        if let Effect::Data(Sending::Late { retransmitted }) = effect {
            let start = half.offset(segment.seq);
            builder.on_late(start, start + i64::from(segment.payload), retransmitted);
            let held = half.overtaken_for(start, segment.time).filter(|_| !retransmitted);
            builder.was_overtaken(held.unwrap_or_default());
        }
        if matches!(effect, Effect::Data(Sending::Late { .. }) | Effect::Control)
            && half.ip_id.was_overtaken()
            && let Some(Idle { idle, rto }) = builder.on_overtaken(segment.time, segment.ip_id.unwrap_or(0))
        {
            let model = &mut self.models[sender];
            model.undo();
            model.on_idle(idle, rto);
        }
    }
}
