//! The application: it waits, thinks, and writes as much as the send buffer takes.

use super::host::{FIRST, Host, Writer};
use super::{Event, World};

/// A write call of more than this returns only when all but so much was sent: about what a send buffer that tunes itself
/// holds beyond the congestion window (Linux tcp_sndbuf_expand: twice the window; tcp_wmem begins with 16 KB to 85 KB).
pub const WRITTEN_AHEAD: i64 = 65_536;

impl Host {
    /// The application does what it can now.
    pub(super) fn goes_on(&mut self, world: &mut World<'_>) {
        loop {
            let state = self.writer;
            match state {
                Writer::Waiting => {
                    let Some(step) = self.setup(world).steps.get(self.step) else {
                        self.writer = Writer::Done;
                        return;
                    };
                    if self.rcv_nxt < step.heard {
                        return;
                    }
                    self.writer = Writer::Thinking;
                    world.after(step.pause, Event::Write(self.end));
                    return;
                }
                Writer::Writing(left) if !self.fills(left, world) => return,
                Writer::Writing(_) => self.writer = Writer::Returning,
                Writer::Returning => {
                    let buffered = self.setup(world).send_buffer.is_some();
                    if !buffered && self.snd_nxt < self.written - WRITTEN_AHEAD {
                        return;
                    }
                    self.step += 1;
                    self.writer = Writer::Waiting;
                }
                Writer::Closed | Writer::Thinking | Writer::Done => return,
            }
        }
    }

    /// The moment to write has come.
    pub(super) fn writes(&mut self, world: &mut World<'_>) {
        let bytes = self.setup(world).steps[self.step].bytes;
        self.starts.push((self.written, world.now));
        self.idles(world);
        self.writer = Writer::Writing(bytes);
        self.goes_on(world);
    }

    /// The buffer takes what it can; true if that was all.
    fn fills(&mut self, left: i64, world: &mut World<'_>) -> bool {
        let queued = self.written - self.snd_una;
        let taken = match self.setup(world).send_buffer {
            None => left,
            Some(buffer) if queued <= buffer.wake || queued == 0 => left.min((buffer.full - queued).max(1)),
            // A writer that is not yet blocked fills the buffer whatever its level.
            Some(buffer) if queued < buffer.full && self.is_fresh(left, world) => left.min(buffer.full - queued),
            Some(_) => 0,
        };
        self.written += taken;
        self.writer = Writer::Writing(left - taken);
        if taken > 0 {
            self.sends(world);
        }
        taken == left
    }

    fn is_fresh(&self, left: i64, world: &World<'_>) -> bool {
        left == self.setup(world).steps[self.step].bytes
    }

    /// It writes after a silence: an idle longer than a timeout lowers the window (Linux tcp_slow_start_after_idle_check).
    fn idles(&mut self, world: &World<'_>) {
        if self.setup(world).idle_restart && self.board.is_empty() && self.snd_nxt > FIRST {
            self.cwnd.on_idle(world.now - self.last_sent, self.rto());
        }
    }
}
