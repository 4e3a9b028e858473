//! Receiver: the times of acknowledgements, and the windows in them.

use super::host::{CONVERSATION, FIRST, Host};
use super::{Event, Packet, World};
use crate::replay::setup::{WindowGrowth, WindowOpening};
use crate::time::Nanos;

/// Linux's shortest delay of an acknowledgement (TCP_ATO_MIN, HZ/25).
const DELAYED_ACK: Nanos = Nanos::from_millis(40);
/// Bytes that arrive for each by which the right edge of a closing window moves.
const CLOSES: i64 = 4;
/// Window of a receiver that never announced one: the largest that any sender may use (RFC 7323 §2.3).
const NO_LIMIT: i64 = 1 << 30;

/// True if the window closed between these acknowledgements.
fn closes(before: &WindowOpening, next: &WindowOpening) -> bool {
    (next.edge - before.edge) * CLOSES < next.arrived - before.arrived
}

impl Host {
    pub(super) fn receives(&mut self, packet: &Packet, world: &mut World<'_>) {
        let end = packet.start + packet.bytes;
        self.last_heard = world.now;
        self.rcv_mss = self.rcv_mss.max(packet.bytes);
        let before = self.rcv_nxt;
        if end <= self.rcv_nxt {
            (self.must_acknowledge, self.twice) = (true, true);
        } else if packet.start > self.rcv_nxt {
            self.must_acknowledge = true;
            self.newest = Some(self.keep(packet.start, end));
        } else {
            self.rcv_nxt = end;
            self.must_acknowledge |= !self.ahead.is_empty();
            self.joins();
        }
        self.newest = self.newest.filter(|(_, right)| *right > self.rcv_nxt);
        if self.rcv_nxt > before {
            self.arrivals.push((self.rcv_nxt, world.now));
            self.unacknowledged += self.rcv_nxt - before;
            // The last acknowledgement before late ones.
            self.must_acknowledge |= self.setup(world).held.iter().any(|(from, _)| *from == self.rcv_nxt);
            if let Some(growth) = self.tuned(world) {
                self.growth.arrives(growth, world.now, before, world.setup.rtt);
            }
            self.announce(world);
        }
        if self.must_acknowledge || self.unacknowledged > self.rcv_mss && !self.is_late(world) {
            // RFC 5681 §4.2: each segment above or at a hole is acknowledged at once, otherwise every second one.
            self.acknowledges(world);
        }
        self.arrived += packet.bytes;
        if !self.settling {
            self.settling = true;
            world.after(Nanos::ZERO, Event::Settle(self.end));
        }
    }

    /// Keeps data that arrived above a hole; returns its range.
    fn keep(&mut self, start: i64, end: i64) -> (i64, i64) {
        let (mut left, mut right) = (start, end);
        // Ranges are disjoint, so those that touch this one are the last of those that begin no later than its end.
        while let Some((a, b)) =
            self.ahead.range(..=right).next_back().map(|(a, b)| (*a, *b)).filter(|(_, b)| *b >= left)
        {
            self.ahead.remove(&a);
            (left, right) = (left.min(a), right.max(b));
        }
        self.ahead.insert(left, right);
        (left, right)
    }

    fn joins(&mut self) {
        while let Some(first) = self.ahead.first_entry().filter(|first| *first.key() <= self.rcv_nxt) {
            self.rcv_nxt = self.rcv_nxt.max(first.remove());
        }
        if self.newest.is_none() {
            self.newest = self.ahead.last_key_value().map(|(left, right)| (*left, *right));
        }
    }

    /// Acknowledges the packets of this moment; a driver merges them, so that the last of several segments does not
    /// wait either.
    pub(super) fn settles(&mut self, world: &mut World<'_>) {
        self.settling = false;
        let end = self.setup(world);
        let alone = std::mem::take(&mut self.arrived) <= self.rcv_mss;
        if self.unacknowledged == 0 {
            return;
        }
        // Linux delays ACKs only in a conversation. Otherwise a reader that has read everything acknowledges it
        // (__tcp_cleanup_rbuf), and so does a receiver with more than one of the sender's usual segments
        // (__tcp_ack_snd_check).
        let delayed = (self.interactive || end.delays_always) && end.delayed_ack > Nanos::ZERO && alone;
        // A segment by itself, such as a probe, is answered.
        let held = !alone && self.is_held(world);
        if !delayed && !held {
            self.acknowledges(world);
        } else {
            self.ack_turn += 1;
            let delay = if held { end.delayed_ack.max(DELAYED_ACK) } else { end.delayed_ack };
            world.after(delay, Event::DelayedAck(self.end, self.ack_turn));
        }
    }

    /// True if the newest data is acknowledged with all that arrive at this moment, or later.
    fn is_late(&self, world: &World<'_>) -> bool {
        let openings = &self.setup(world).openings;
        let around = self.opened.checked_sub(1).map(|last| &openings[last]).zip(openings.get(self.opened));
        self.is_held(world) || around.is_some_and(|(before, next)| closes(before, next))
    }

    /// True if the newest data arrived where the window could not move, so that they are acknowledged late.
    fn is_held(&self, world: &World<'_>) -> bool {
        self.setup(world).held.iter().any(|(from, to)| *from < self.rcv_nxt && self.rcv_nxt <= *to)
    }

    pub(super) fn delayed(&mut self, turn: u32, world: &mut World<'_>) {
        if turn == self.ack_turn && self.unacknowledged > 0 {
            // Linux tcp_delack_timer_handler: an end that has to be waited for is in no conversation.
            self.interactive = false;
            self.acknowledges(world);
        }
    }

    pub(super) fn acknowledges(&mut self, world: &mut World<'_>) {
        let packet = self.acknowledgement();
        self.ack_turn += 1;
        (self.unacknowledged, self.must_acknowledge, self.twice) = (0, false, false);
        world.carry(self.end, packet);
    }

    /// Outgoing data carries the acknowledgement and shows a conversation, in which further ACKs are delayed (Linux
    /// pingpong).
    pub(super) fn answers(&mut self, world: &World<'_>) {
        self.interactive |= self.rcv_nxt > FIRST && world.now - self.last_heard < CONVERSATION;
        self.ack_turn += 1;
        (self.unacknowledged, self.must_acknowledge, self.twice) = (0, false, false);
    }

    pub(super) fn acknowledgement(&self) -> Packet {
        let sack = self.newest.filter(|_| !self.ahead.is_empty());
        Packet { start: 0, bytes: 0, ack: self.rcv_nxt, edge: self.own_edge, sack, twice: self.twice }
    }

    /// Sets the window as captured when the same amount had arrived.
    pub(super) fn announce(&mut self, world: &mut World<'_>) {
        let end = self.setup(world);
        if end.openings.is_empty() {
            self.own_edge = self.rcv_nxt + NO_LIMIT;
            return;
        }
        // Segments cut elsewhere than in the capture may leave less than a segment of room at another offset.
        let stopped = self.own_edge > 0 && self.own_edge - self.rcv_nxt < self.rcv_mss;
        while let Some(opening) = end.openings.get(self.opened) {
            let early = stopped && opening.after > Nanos::ZERO && !self.awaits_reader(&end.openings);
            if opening.arrived > self.rcv_nxt + if early { self.rcv_mss } else { 0 } {
                break;
            }
            self.opened += 1;
            if opening.after == Nanos::ZERO {
                self.wanted_edge = self.wanted_edge.max(opening.edge);
            } else {
                world.after(opening.after, Event::Room(self.end, opening.edge));
            }
        }
        self.wanted_edge = self.wanted_edge.max(self.between(&end.openings));
        if end.reads.is_none() {
            self.wanted_edge = self.wanted_edge.max(self.rcv_nxt + self.grown);
        }
        self.reads(world);
    }

    /// Growth of the window; one of a connection used before has grown.
    fn tuned(&self, world: &World<'_>) -> Option<WindowGrowth> {
        self.setup(world).growth.filter(|_| !self.is_used())
    }

    /// Moves the edge at the rate at which the application reads.
    fn reads(&mut self, world: &mut World<'_>) {
        let wanted = self
            .tuned(world)
            .map_or(self.wanted_edge, |growth| self.growth.edge(growth, self.rcv_nxt, self.wanted_edge));
        let moved = wanted - self.own_edge;
        let Some(rate) = self.setup(world).reads.filter(|_| self.own_edge > 0 && moved > 0) else {
            self.own_edge = self.own_edge.max(wanted);
            return;
        };
        let since = (world.now - self.edge_time).0 as f64 / 1e9;
        let allowed = (since * rate) as i64;
        let step = moved.min(allowed);
        if step >= moved || step >= 2 * self.rcv_mss.max(1) {
            self.own_edge += step;
            self.edge_time = world.now;
        }
        if wanted > self.own_edge && !self.room_set {
            // Only one such event is pending at a time: otherwise each announcement would add another.
            self.room_set = true;
            let next = (wanted - self.own_edge).min(2 * self.rcv_mss.max(1));
            let span = Nanos((next as f64 / rate * 1e9) as i64 + 1) - (world.now - self.edge_time);
            world.after(span.or_zero(), Event::Read(self.end));
        }
    }

    /// True if the reader still has to make room for the last opening.
    fn awaits_reader(&self, openings: &[WindowOpening]) -> bool {
        let last = openings[..self.opened].last();
        last.is_some_and(|last| last.after > Nanos::ZERO && self.wanted_edge < last.edge)
    }

    /// Window between two captured acknowledgements, assumed to have grown evenly; after the last it stays.
    fn between(&self, openings: &[WindowOpening]) -> i64 {
        // Data that the reader still has to make room for is no growth.
        let Some(before) = openings[..self.opened].last().filter(|_| !self.awaits_reader(openings)) else { return 0 };
        match openings.get(self.opened).filter(|next| next.after == Nanos::ZERO && next.arrived > before.arrived) {
            // A window that closes opens by a segment or more at once (RFC 1122 §4.2.3.3).
            Some(next) if closes(before, next) => before.edge,
            Some(next) => {
                let share = (self.rcv_nxt - before.arrived) as f64 / (next.arrived - before.arrived) as f64;
                before.edge + ((next.edge - before.edge) as f64 * share) as i64
            }
            None if self.opened == openings.len() => before.edge - before.arrived + self.rcv_nxt,
            None => 0,
        }
    }

    /// Takes in that the lagging reader has read more.
    pub(super) fn has_read(&mut self, world: &mut World<'_>) {
        self.room_set = false;
        self.makes_room(0, world);
    }

    /// Takes in that the reader has made room.
    pub(super) fn makes_room(&mut self, edge: i64, world: &mut World<'_>) {
        let before = self.own_edge;
        self.wanted_edge = self.wanted_edge.max(edge);
        self.reads(world);
        if self.own_edge > before {
            self.acknowledges(world);
        }
    }
}
