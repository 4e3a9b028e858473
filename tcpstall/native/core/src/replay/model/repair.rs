//! Recovery: limits transmissions while losses are repaired (RFC 9937, proportional rate reduction, as Linux does it).

/// One recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    /// Offset whose acknowledgement ends the recovery.
    pub(super) until: i64,
    /// Window after the recovery, segments.
    target: u32,
    /// Segments outstanding when the recovery began, including the lost ones.
    out_before: u32,
    delivered: u32,
    sent: u32,
    /// Segments that may be sent now.
    pub(super) budget: u32,
}

impl Repair {
    /// Starts a recovery; the first segment is retransmitted whatever the window.
    pub(super) fn new(until: i64, target: u32, out_before: u32) -> Repair {
        Repair { until, target, out_before: out_before.max(1), delivered: 0, sent: 0, budget: 1 }
    }

    /// Takes in that `segments` are known to have arrived and `in_flight` are in flight. `progress`: the left edge
    /// moved, and no further segment is lost.
    pub(super) fn delivers(&mut self, segments: u32, in_flight: u32, progress: bool) {
        self.delivered += segments;
        let allowed = if in_flight > self.target {
            let share = u64::from(self.delivered) * u64::from(self.target);
            (share.div_ceil(u64::from(self.out_before)) as u32).saturating_sub(self.sent)
        } else {
            let least = self.delivered.saturating_sub(self.sent).max(segments) + u32::from(progress);
            least.min(self.target - in_flight)
        };
        self.budget = allowed.max(u32::from(self.sent == 0));
    }

    /// A segment was sent.
    pub(super) fn sends(&mut self) {
        self.sent += 1;
        self.budget = self.budget.saturating_sub(1);
    }
}
