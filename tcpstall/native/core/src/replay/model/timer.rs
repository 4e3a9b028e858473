//! The sender's timers: probe, timeout, and the wait for reordered segments.

use super::host::{Host, Purpose};
use super::{Event, World};
use crate::sender::cwnd::CongestionPhase;
use crate::sender::timers::{TICK, probe_timeout};
use crate::time::Nanos;

/// Doublings after which Linux gives up (tcp_retries2).
const MOST_DOUBLINGS: u32 = 15;

impl Host {
    /// Sets the timer that the state requires.
    pub(super) fn arms(&mut self, world: &mut World<'_>) {
        self.timer += 1;
        if self.board.is_empty() {
            self.purpose = Purpose::Timeout;
            if self.edge > self.snd_nxt && self.written > self.snd_nxt {
                self.purpose = Purpose::Persist;
                world.after(self.rto(), Event::Timer(self.end, self.timer));
            }
            return;
        }
        let tail = self.board.sacked() == 0 && self.board.lost() == 0 && self.cwnd.phase() != CongestionPhase::Recovery;
        let late = Nanos(TICK.0 / 2);
        let span =
            if self.board.sacked() > 0 && self.board.lost() == 0 && self.cwnd.phase() != CongestionPhase::Recovery {
                self.purpose = Purpose::Reordering;
                Nanos(self.least_rtt.unwrap_or_default().0 / 4)
            } else if tail && world.setup.sack && !self.probed && self.backoff == 0 {
                self.purpose = Purpose::Probe;
                probe_timeout(self.srtt, self.board.in_flight()).min(self.rto()) + late
            } else {
                self.purpose = Purpose::Timeout;
                self.rto().times(1 << self.backoff.min(MOST_DOUBLINGS)) + late
            };
        world.after(span, Event::Timer(self.end, self.timer));
    }

    pub(super) fn times_out(&mut self, timer: u32, world: &mut World<'_>) {
        if timer != self.timer || self.board.is_empty() != (self.purpose == Purpose::Persist) {
            return;
        }
        match self.purpose {
            Purpose::Reordering => {
                self.finds_losses(world);
                if self.board.lost() == 0 {
                    // Too soon for the newest of them: only the timeout remains.
                    self.timer += 1;
                    self.purpose = Purpose::Timeout;
                    world.after(self.rto(), Event::Timer(self.end, self.timer));
                    return;
                }
            }
            Purpose::Probe => {
                self.probed = true;
                self.stamps(world);
                if !self.sends_new(world)
                    && let Some(range) = self.board.probe(world.now)
                {
                    self.sent_again += 1;
                    self.puts(range, world);
                }
                self.arms(world);
            }
            Purpose::Persist => {
                self.must_squeeze = true;
                self.purpose = Purpose::Timeout;
            }
            Purpose::Timeout => {
                self.repair = None;
                self.unanswered = if self.backoff == 0 { 0 } else { self.unanswered };
                self.board.lose_all();
                self.cwnd.on_timeout(0, self.snd_nxt);
                if let Some(bbr) = &mut self.bbr {
                    bbr.on_timeout();
                }
                self.backoff += 1;
                self.must_resend = true;
            }
        }
        self.sends(world);
        self.goes_on(world);
    }
}
