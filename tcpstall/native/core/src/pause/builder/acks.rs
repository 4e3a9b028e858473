//! Updates the open pause with ACKs.

use super::Builder;
use crate::flow::{Acked, Half};
use crate::sender::{Cwnd, timers};
use crate::time::Nanos;

impl Builder {
    /// Takes in an ACK that reached the sender, after [`Builder::begin`]; `half` is the state after it, `cwnd` the
    /// model before it. True if the ACK showed that the repair of a loss was needless.
    #[inline(always)]
    pub fn on_ack(&mut self, acked: &Acked, half: &Half, cwnd: &Cwnd) -> bool {
        self.heard_late(acked);
        self.largest_window = self.largest_window.max(half.window.unwrap_or(0));
        if acked.unseen_inside > 0 {
            self.acknowledges_unseen(half);
            self.open.unseen.inside += acked.unseen_inside;
        }
        let open = &mut self.open;
        if acked.bytes > 0 {
            self.initial_open = false;
        }
        let (mss, room) = (i64::from(half.mss()), half.room());
        let opened = match (acked.room_before, room) {
            (Some(before), Some(now)) => {
                // A sender with an open window and nothing in flight waited for no window.
                let waits =
                    || before < mss || open.all_acked.is_none_or(|at| acked.time - at <= timers::rto(half.srtt));
                now > before && waits()
            }
            _ => false,
        };
        if half.window.is_none() && acked.bytes == 0 && half.window_field > acked.field_before {
            open.rare_mut().widened = Some((acked.time, acked.packet));
        }
        if acked.overdue && self.sending {
            // This ACK had released the burst: the pause after the burst begins with the data now in flight.
            open.beginning = None;
        } else if acked.bytes > 0 || opened {
            if acked.bytes > 0 {
                self.counts(acked);
            }
            self.is_released(acked, half.srtt);
        }
        let open = &mut self.open;
        if acked.payload > 0 {
            open.message_at = Some(acked.time);
            open.message_acks += u32::from(acked.bytes > 0);
        }
        let has_room = room.is_some_and(|room| room >= mss);
        if !has_room {
            open.room_since = None;
        } else if acked.bytes > 0 && open.room_since.is_none() {
            open.room_since = Some(acked.time);
        }
        if acked.loss_hint {
            let rare = open.rare_mut();
            (rare.loss_hints, rare.last_hint) = (rare.loss_hints + 1, Some(acked.time));
        }
        if cwnd.repairs() {
            self.may_recover(*acked, half, cwnd);
        }
        let open = &mut self.open;
        if open.rare_ones().is_some_and(|rare| rare.persist.unheard > 0) {
            open.rare_mut().persist.heard();
        }
        self.reading.on_ack(acked.time, half.snd_una, acked.bytes, (acked.window_before, half.window), half.mss());
        if acked.blind {
            self.is_blind(acked, half);
        }
        let open = &mut self.open;
        if acked.unseen_tail > 0 {
            open.unseen.tail += acked.unseen_tail;
            open.unseen.tail_acked = open.unseen.tail_acked.or(Some(acked.time));
        }
        if acked.bytes > 0 || acked.loss_hint {
            self.heard = acked.time;
        }
        if half.flight() == 0 && open.all_acked.is_none() {
            open.all_acked = Some(acked.time);
        }
        if half.has_holes() {
            self.is_reported(acked.time);
        }
        let closed = self.holes.on_ack(acked.time, half.snd_una, half.has_holes());
        if closed.is_some() {
            self.open.rare_mut().closed_hole = closed;
        }
        // Nearly always the window is open, and was before.
        if self.open.rare_ones().is_some() || half.window.is_some_and(|window| window < mss) {
            self.watch_window(acked.time, half);
        }
        self.watches_path(acked, half);
        self.repairs.is_some() && self.shows_repair(*acked, half)
    }

    /// Nothing has proven the tap's distance yet.
    #[cold]
    pub(super) fn is_blind(&mut self, acked: &Acked, half: &Half) {
        let unmeasured = half.vantage.get().is_none();
        self.open.unseen.blind = true;
        self.open.unseen.unmeasured |= unmeasured;
        if unmeasured && acked.bytes > 0 {
            self.under_way.hears(&self.burst, acked.time, acked.bytes);
        }
    }

    /// A loss is being repaired: the ACK may end the recovery.
    #[inline(never)]
    fn may_recover(&mut self, acked: Acked, half: &Half, cwnd: &Cwnd) {
        self.open.recovered = self.open.recovered(&acked, half, cwnd);
    }

    /// True if a repetition of the last ACK would change nothing, as long as this sender sends nothing.
    #[inline]
    pub fn has_learnt(&self, half: &Half, cwnd: &Cwnd) -> bool {
        let open = &self.open;
        open.beginning.is_some()
            && open.all_acked.is_some()
            && open.rare_ones().is_none_or(|rare| rare.closed.is_none() && rare.persist.unheard == 0)
            && (open.unseen.blind || half.vantage.is_proven())
            && !self.reading.lags()
            && self.bottleneck.is_none()
            && !cwnd.repairs()
    }

    /// Tracks when the peer's window closes and reopens. A window of 0 is closed (RFC 9293 §3.8.6.1, Linux
    /// tcp_send_probe0); a window below a segment with nothing in flight is as good as closed. After its FIN, with all data
    /// acknowledged, the sender has nothing that a window could hold back (RFC 9293 §3.6).
    fn watch_window(&mut self, now: Nanos, half: &Half) {
        if half.fin.is_some() && half.flight() == 0 && self.open.rare().closed.is_none() {
            return;
        }
        let usable = i64::from(half.mss()).min(self.largest_window / 2);
        // A window of unknown scale is open unless its field is 0, because only 0 is 0 at every shift (RFC 7323 §2.2).
        let closed = half.window.is_some_and(|window| window == 0 || (window < usable && half.flight() == 0));
        if let Some(window) = half.window.filter(|_| closed) {
            self.open.rare_mut().persist.at(window);
        }
        match (closed, self.open.rare().closed) {
            (true, None) => {
                self.open.rare_mut().closed = Some(now);
                if !self.sending && self.burst.end == Nanos::ZERO {
                    self.first_wait_from(now);
                }
            }
            (true, Some(_)) => self.open.rare_mut().reopened = None,
            (false, Some(_)) if self.open.rare().reopened.is_none() => {
                self.open.rare_mut().reopened = Some(now);
            }
            _ => {}
        }
    }

    /// Takes in a segment that passed at `now` while the bytes between the offsets `missing` had not passed.
    pub fn skips(&mut self, now: Nanos, missing: (i64, i64), half: &Half) {
        self.holes.skips(now, missing);
        self.losses.get_or_insert_default().leave_a_hole(now, missing, half);
    }

    /// Takes in how long the network before the tap held data back while later data passed.
    pub fn was_overtaken(&mut self, held: Nanos) {
        let rare = self.open.rare_mut();
        rare.overtaken = rare.overtaken.max(held);
    }
}
