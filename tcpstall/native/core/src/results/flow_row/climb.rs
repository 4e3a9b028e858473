//! Cost of an idle restart: the waits of the climb back, less those that the old window would have needed too.

use super::super::rows::StallRow;
use crate::causes::{Cause, PausePart};
use crate::pause::Pause;

/// The present climb of one sender.
#[derive(Debug, Default)]
pub(super) struct Climb {
    rows: Vec<usize>,
    bytes: u64,
    after: u64,
    old_window: u64,
}

impl Climb {
    /// Adds the next part of the sender's pauses in order of time; `row` is its index in the list, if it is listed.
    pub(super) fn add(&mut self, pause: &Pause, part: &PausePart, row: Option<usize>, stalls: &mut [StallRow]) {
        match (part.cause, row) {
            (Cause::IdleRestart, Some(row)) => {
                self.rows.push(row);
                self.bytes += pause.before.bytes;
                self.after = pause.after.bytes;
                let segments = u64::from(pause.cwnd_before_idle.unwrap_or(0));
                self.old_window = self.old_window.max(segments * u64::from(pause.mss));
            }
            // A pause in which everything was acknowledged ends the climb: the next climb starts from its own idle
            // period.
            (Cause::AppLimited | Cause::ZeroWindow, _) => self.finish(stalls),
            _ => {}
        }
    }

    /// Ends the climb: its first row gets its cost, so that costs add up over a flow. The data after the climb counts
    /// up to one old window, which it would have filled.
    pub(super) fn finish(&mut self, stalls: &mut [StallRow]) {
        let climb = std::mem::take(self);
        if climb.old_window == 0 {
            return;
        }
        let sent = climb.bytes + climb.after.min(climb.old_window);
        let waits_anyway = sent.div_ceil(climb.old_window).saturating_sub(1);
        let extra = (climb.rows.len() as u64).saturating_sub(waits_anyway);
        if let Some(first) = climb.rows.first() {
            stalls[*first].evidence.rare.get_mut().extra_round_trips = Some(extra);
        }
    }
}
