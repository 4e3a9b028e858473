//! Losses that were none: some senders take the lowered window back, others keep it.

use super::Cwnd;

impl Cwnd {
    /// Undoes the last loss, which was none: restores the state before it (Linux tcp_undo_cwnd_reduction).
    pub fn undo(&mut self) {
        self.perhaps_undone = false;
        if let Some((window, ssthresh)) = self.before_loss.take() {
            self.window = self.window.max(window);
            self.ssthresh = ssthresh;
            self.recover = None;
            self.lost_until = None;
            self.losses -= 1;
        }
    }

    /// Takes in that the last loss was none. A sender need not undo it (RFC 4015 and RFC 5682 §3 are no requirements): what it
    /// sends shows whether the window came back.
    pub fn may_undo(&mut self) {
        self.perhaps_undone = self.before_loss.is_some();
    }

    /// Takes in that so many segments stayed in flight through a wait: the window came back if they are closer to what it was
    /// before the loss that was none.
    pub(super) fn shows_undoing(&mut self, out: f64) {
        // Until the repair would be over, more than the lowered window is still in flight.
        let open = self.perhaps_undone && !self.repairs();
        if open && self.before_loss.is_some_and(|(before, _)| out + out > self.window + before) {
            self.undo();
        }
    }
}
