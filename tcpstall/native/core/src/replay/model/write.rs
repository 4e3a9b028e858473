//! The application: waits, computes, and writes as much as the send buffer takes.

use std::cmp::Ordering;

use super::host::{ApplicationState, FIRST, Host};
use super::{Event, World};
use crate::replay::setup::{LARGEST_FRAME, UNLIMITED};
use crate::sender::cwnd::{CongestionPhase, INITIAL_WINDOW};
use crate::time::Nanos;

/// Size of the unsent rest at which a longer write call returns, bytes: about the content of an autotuned send buffer
/// beyond the congestion window (Linux tcp_sndbuf_expand: twice the window; tcp_wmem begins with 16 KB to 85 KB).
pub const WRITTEN_AHEAD: i64 = 65_536;

impl Host {
    /// Continues the application as far as it can go now.
    pub(super) fn goes_on(&mut self, world: &mut World<'_>) {
        loop {
            let state = self.writer;
            match state {
                ApplicationState::Waiting => {
                    let Some(step) = self.setup(world).steps.get(self.step) else {
                        self.writer = ApplicationState::Done;
                        return;
                    };
                    if self.rcv_nxt < step.heard {
                        return;
                    }
                    self.writer = ApplicationState::Thinking;
                    world.after(step.pause, Event::Write(self.end));
                    return;
                }
                ApplicationState::Writing(left) if !self.fills(left, world) => return,
                ApplicationState::Writing(_) => self.writer = ApplicationState::Returning,
                ApplicationState::Returning => {
                    let buffered = self.setup(world).is_buffered();
                    if world.now < self.awaited || !buffered && self.snd_nxt < self.written - WRITTEN_AHEAD {
                        return;
                    }
                    self.step += 1;
                    self.writer = ApplicationState::Waiting;
                }
                ApplicationState::Closed | ApplicationState::Thinking | ApplicationState::Done => return,
            }
        }
    }

    /// Begins a write at its time.
    pub(super) fn writes(&mut self, world: &mut World<'_>) {
        let bytes = self.setup(world).steps[self.step].bytes;
        self.starts.push((self.written, world.now));
        self.idles(world);
        if let Some(bbr) = &mut self.bbr
            && self.snd_nxt == self.written
        {
            bbr.writes(self.board.in_flight(), world.now);
        }
        self.writer = ApplicationState::Writing(bytes);
        self.goes_on(world);
    }

    /// Fills the buffer; true if everything fitted.
    fn fills(&mut self, left: i64, world: &mut World<'_>) -> bool {
        let mut left = left;
        let mut woken = false;
        if self.blocked {
            let queued = self.written - self.snd_una;
            if self.setup(world).wakes_at(self.written).is_some_and(|wake| queued > wake) {
                return false;
            }
            let at_once = self.setup(world).frames.is_some_and(|frames| frames.at_once);
            if !self.awake && !at_once {
                // The writer runs after all acknowledgements of this moment: a process takes longer to wake than these
                // take to arrive.
                if !self.waking {
                    self.waking = true;
                    world.after(Nanos::ZERO, Event::Wake(self.end));
                }
                return false;
            }
            (self.blocked, self.awake, woken) = (false, false, true);
        }
        while left > 0 {
            let taken = left.min(self.room(woken, world));
            self.blocked = taken <= 0;
            if self.blocked {
                self.whole_frames |= self.snd_nxt == self.written;
                break;
            }
            woken = false;
            self.written += taken;
            left -= taken;
            self.writer = ApplicationState::Writing(left);
            self.sends(world);
        }
        self.writer = ApplicationState::Writing(left);
        left == 0
    }

    /// Runs the woken writer.
    pub(super) fn wakes(&mut self, world: &mut World<'_>) {
        (self.waking, self.awake) = (false, true);
        let end = self.setup(world);
        if !end.is_buffered() {
            // Linux tcp_sndbuf_expand: twice the congestion window, and no less than twice the initial one.
            let window = i64::from(self.window().max(INITIAL_WINDOW));
            self.buffer = self.buffer.max(2 * window * end.mss);
            self.filled = (self.snd_una + self.buffer).max(self.snd_nxt + end.mss);
            self.sends(world);
        }
        self.goes_on(world);
    }

    /// Room in the buffer at its present level.
    fn room(&self, woken: bool, world: &World<'_>) -> i64 {
        let end = self.setup(world);
        let queued = self.written - self.snd_una;
        if let Some(frames) = end.frames {
            let (frame, unsent) = (self.frame(end.mss), self.written - self.snd_nxt);
            // Nothing of the last frame is left to be filled again where a push sends whole frames.
            let full = unsent == 0 && queued >= frames.full() && self.push(end.mss) >= frame;
            return if full { 0 } else { frame - unsent };
        }
        let Some(mut level) = end.level(self.written, woken) else { return i64::MAX };
        if level.until == self.written && level.full >= UNLIMITED {
            level = end.level(self.written, true).unwrap_or(level);
        }
        // An empty buffer takes something, whatever its size.
        let room = if queued == 0 { (level.full - queued).max(end.mss) } else { level.full - queued };
        match level.until.cmp(&self.written) {
            Ordering::Greater => room.min(level.until - self.written),
            // The writer was blocked here in the capture.
            Ordering::Equal if !woken && level.full < UNLIMITED => 0,
            Ordering::Equal | Ordering::Less => room,
        }
    }

    /// Size of a whole frame (Linux tcp_xmit_size_goal, tcp_bound_to_half_wnd).
    fn frame(&self, mss: i64) -> i64 {
        (LARGEST_FRAME.min(self.largest_window / 2) / mss * mss).max(mss)
    }

    /// Bytes that a push sends of a frame: what the pacing rate sends in 1/1024 s (Linux tcp_tso_autosize,
    /// tcp_update_pacing_rate).
    fn push(&self, mss: i64) -> i64 {
        let Some(srtt) = self.srtt.filter(|srtt| *srtt > Nanos::ZERO) else { return 0 };
        let gain = if self.cwnd.phase() == CongestionPhase::SlowStart { 2.0 } else { 1.2 };
        let rate = gain * f64::from(self.cwnd.segments()) * mss as f64 * 1e9 / srtt.0 as f64;
        // Linux adds a share that halves with each 512 microseconds of the shortest round trip.
        let halvings = self.least_rtt.unwrap_or(srtt).0 / 512_000;
        let near = if halvings < 31 { 65_536 >> halvings } else { 0 };
        (rate / 1_024.0) as i64 + near
    }

    /// Takes in a write after a silence: an idle period longer than a timeout lowers the window (Linux
    /// tcp_slow_start_after_idle_check).
    fn idles(&mut self, world: &World<'_>) {
        if self.setup(world).idle_restart && self.board.is_empty() && self.snd_nxt > FIRST {
            self.cwnd.on_idle(world.now - self.last_sent, self.rto());
        }
    }
}
