//! The application: waits, computes, and writes as much as the send buffer takes.

use std::cmp::Ordering;

use super::host::{ApplicationState, FIRST, Host};
use super::{Event, World};
use crate::replay::setup::UNLIMITED;
use crate::sender::cwnd::INITIAL_WINDOW;
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
                    let buffered = !self.setup(world).send_buffer.is_empty();
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
            if !self.awake {
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
        if end.send_buffer.is_empty() {
            // Linux tcp_sndbuf_expand: twice the congestion window, and no less than twice the initial one.
            let window = i64::from(self.cwnd.segments().max(INITIAL_WINDOW));
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

    /// Takes in a write after a silence: an idle period longer than a timeout lowers the window (Linux
    /// tcp_slow_start_after_idle_check).
    fn idles(&mut self, world: &World<'_>) {
        if self.setup(world).idle_restart && self.board.is_empty() && self.snd_nxt > FIRST {
            self.cwnd.on_idle(world.now - self.last_sent, self.rto());
        }
    }
}
