//! Sender: sends what the window, pacing and Nagle's rule permit.

use super::host::{Host, Purpose};
use super::measured::Measured;
use super::{Event, Packet, World};
use crate::time::Nanos;

/// Segments that a paced sender sends at once (Linux: a quantum of two segments at least, 16 KB at high rates).
const QUANTUM: i64 = 2;

impl Host {
    /// Sends everything that may be sent.
    pub(super) fn sends(&mut self, world: &mut World<'_>) {
        let mut sent = false;
        while self.sends_one(world) {
            sent = true;
        }
        let squeezed = self.board.is_empty() && self.edge > self.snd_nxt && self.written > self.snd_nxt;
        if sent || squeezed && self.purpose != Purpose::Persist {
            self.arms(world);
        }
    }

    fn sends_one(&mut self, world: &mut World<'_>) -> bool {
        if !self.may_pace(world) {
            return false;
        }
        let open = match self.repair {
            Some(repair) if self.bbr.is_none() => repair.budget > 0,
            _ => self.board.in_flight() < self.window(),
        };
        if self.board.lost() > 0 {
            if !open && !self.must_resend {
                return false;
            }
            self.must_resend = false;
            return self.resends(world);
        }
        open && self.sends_new(world)
    }

    fn resends(&mut self, world: &mut World<'_>) -> bool {
        self.stamps(world);
        let Some(range) = self.board.resend(world.now) else { return false };
        self.sent_again += 1;
        self.unanswered += 1;
        self.puts(range, world);
        true
    }

    /// Sends one segment of new data, if there is one to be sent.
    pub(super) fn sends_new(&mut self, world: &mut World<'_>) -> bool {
        let end = self.setup(world);
        let queued = self.written - self.snd_nxt;
        let room = self.edge - self.snd_nxt;
        let size = queued.min(end.mss);
        if size <= 0 || room <= 0 || self.awaits_writer(world) {
            return false;
        }
        // Linux tcp_snd_wnd_test and the silly window rule (RFC 1122 §4.2.3.4): half of the largest window is worth
        // sending.
        let small = room < size && 2 * room < self.largest_window.min(2 * end.mss);
        // A frame of several segments is cut at the window's edge (Linux tcp_mss_split_point).
        let framed = end.cuts_frames
            && (self.last_sent == world.now || end.spacing().is_some())
            && !(end.nagle && self.board.has_short());
        if !small && self.starts_late(world) {
            return false;
        }
        if small && !framed && !std::mem::take(&mut self.must_squeeze) {
            return false;
        }
        let size = size.min(room);
        if size == queued && size < end.mss && end.nagle && self.board.has_short() {
            return false;
        }
        let start = self.snd_nxt;
        self.snd_nxt += size;
        self.stamps(world);
        self.board.push(start, self.snd_nxt, world.now, end.mss);
        self.puts((start, self.snd_nxt), world);
        self.cwnd.on_send(self.board.in_flight(), self.snd_una, self.snd_nxt);
        self.last_sent = world.now;
        true
    }

    /// True if a buffer that the kernel tunes has no more data: a writer is woken where a third of the buffer is free, and
    /// writes after all acknowledgements of this moment. They may show a loss; without one it writes in time.
    fn awaits_writer(&mut self, world: &mut World<'_>) -> bool {
        let end = self.setup(world);
        let loses = !end.losses.is_empty() || end.loss_share > 0.0;
        if !loses || !end.one_segment || end.is_buffered() {
            return false;
        }
        if !self.waking && 3 * (self.filled - self.snd_una) <= 2 * self.buffer {
            self.waking = true;
            world.after(Nanos::ZERO, Event::Wake(self.end));
        }
        self.snd_nxt >= self.filled
    }

    /// True while the host itself waits, as it did about here in the capture: only where nothing is outstanding.
    fn starts_late(&mut self, world: &mut World<'_>) -> bool {
        if !self.board.is_empty() {
            return false;
        }
        if world.now < self.awaited {
            return true;
        }
        let (mss, late) = (self.setup(world).mss, &self.setup(world).late_starts[self.waits..]);
        // The replay may stop elsewhere than the capture: the last wait since its stop before.
        let passed = late.partition_point(|late| late.at < self.snd_nxt + mss);
        let Some(wait) = passed.checked_sub(1).and_then(|last| late.get(last)) else { return false };
        self.waits += passed;
        self.awaited = world.now + wait.after;
        self.late += wait.after;
        world.after(wait.after, Event::Paced(self.end));
        true
    }

    /// Notes the state of the delivery for the next transmission.
    pub(super) fn stamps(&mut self, world: &World<'_>) {
        if let Some(bbr) = &mut self.bbr {
            self.board.stamp = bbr.delivery().stamps(world.now, self.board.is_empty());
        }
    }

    /// Sends a segment, with the pending acknowledgement.
    pub(super) fn puts(&mut self, (start, end): (i64, i64), world: &mut World<'_>) {
        let packet = Packet { start, bytes: end - start, ..self.acknowledgement() };
        self.answers(world);
        if let Some(repair) = &mut self.repair {
            repair.sends();
        }
        self.paces(end - start, world);
        if let Some(bbr) = &mut self.bbr {
            bbr.sends();
        }
        world.carry(self.end, packet);
    }

    /// Rate at which segments follow each other, whatever the window.
    fn spacing(&self, world: &World<'_>) -> Option<f64> {
        let paced = self.bbr.as_ref().and_then(Measured::pace);
        self.setup(world).spacing().into_iter().chain(paced).reduce(f64::min)
    }

    fn may_pace(&mut self, world: &mut World<'_>) -> bool {
        if self.spacing(world).is_none() || world.now >= self.pace_free {
            return true;
        }
        if !self.pace_set {
            self.pace_set = true;
            world.after(self.pace_free - world.now, Event::Paced(self.end));
        }
        false
    }

    fn paces(&mut self, bytes: i64, world: &World<'_>) {
        let end = self.setup(world);
        let Some(pace) = self.spacing(world) else { return };
        let span = Nanos((bytes as f64 / pace * 1e9) as i64);
        let quantum = Nanos((QUANTUM as f64 * end.mss as f64 / pace * 1e9) as i64);
        self.pace_free = self.pace_free.max(world.now - quantum) + span;
    }

    pub(super) fn paced(&mut self, world: &mut World<'_>) {
        self.pace_set = false;
        self.sends(world);
        self.goes_on(world);
    }
}
