//! Notes what the sender sends again, and its probes.

use super::Builder;
use crate::flow::Half;
use crate::pause::evidence::repair::{Attempt, FirstCopy, Trigger};
use crate::pause::losses::Losses;
use crate::pause::repairs::{Again, RepairTotals};
use crate::sender::Cwnd;
use crate::sender::cwnd::CongestionPhase;
use crate::time::Nanos;
use crate::wire::Segment;

impl Builder {
    /// Takes in old data that the sender sent again, which the tap had `seen` or not; returns the attempt where this begins
    /// one.
    pub fn on_retransmission(&mut self, segment: &Segment, seen: bool, half: &Half, cwnd: &Cwnd) -> Option<Attempt> {
        self.begin(half, cwnd);
        let time = segment.time;
        let start = half.offset(segment.seq);
        let unheard = start < half.snd_una;
        if unheard {
            self.was_unheard(start);
        }
        let hints = self.open.rare().loss_hints > 0 || half.is_loss_reported();
        let again = Again {
            segment,
            half,
            heard: if unheard { self.burst.end } else { self.heard },
            hinted: hints && half.may_repair(),
            recovering: cwnd.phase() == CongestionPhase::Recovery,
            first: FirstCopy { time, packet: segment.packet, acks: self.open.acks, acked: self.open.acked },
            pause: self.pauses.len(),
            quietly: seen && !hints,
        };
        let attempt = self.repairs.get_or_insert_default().sends(&again, &mut self.open.repair);
        match (&attempt, &mut self.losses) {
            (Some(Attempt { trigger: Trigger::Fast | Trigger::Timeout, .. }), losses) if seen => {
                let end = start + i64::from(segment.payload);
                losses.get_or_insert_default().are_repaired(time, (start, end), half);
            }
            (_, Some(losses)) if !seen => losses.are_repaired_before_tap(start),
            _ => {}
        }
        let rare = self.open.rare_mut();
        rare.retransmissions += 1;
        rare.first_retransmission = rare.first_retransmission.or(Some(time));
        rare.last_retransmission = Some(time);
        attempt
    }

    /// Takes in a probe of the peer's window, or a keep-alive.
    pub fn on_probe(&mut self, time: Nanos, payload: u32, half: &Half, cwnd: &Cwnd) {
        if self.last_data() == Nanos::ZERO {
            // The connection was idle when the capture began.
            self.first_wait_from(time);
        }
        self.begin(half, cwnd);
        let rare = self.open.rare_mut();
        rare.probes += 1;
        rare.persist.probed(payload);
    }

    /// Retransmissions since the last new data.
    pub fn retransmissions(&self) -> u32 {
        self.open.rare().retransmissions
    }

    /// True if old data was sent again after `time`.
    pub fn repairs_after(&self, time: Nanos) -> bool {
        self.open.rare().last_retransmission.is_some_and(|again| again > time)
    }

    /// All repairs of this direction.
    pub fn repairs(&self) -> RepairTotals {
        self.repairs.as_ref().map_or_else(RepairTotals::default, |repairs| repairs.totals)
    }

    /// The losses that they repaired; `None` where neither a repair nor a hole showed one.
    pub fn losses(&self) -> Option<&Losses> {
        self.losses.as_deref()
    }

    /// Memory that repairs take, bytes.
    pub(in crate::pause) fn memory(&self) -> usize {
        let losses = self.losses.as_ref().map_or(0, |losses| losses.memory());
        losses + self.repairs.as_ref().map_or(0, |repairs| repairs.memory())
    }

    /// Shrinks the repairs because memory is short.
    pub(in crate::pause) fn shrink(&mut self) {
        if let Some(repairs) = &mut self.repairs {
            repairs.shrink();
        }
    }
}
