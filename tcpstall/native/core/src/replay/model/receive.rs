//! Receiving: what is acknowledged when, and what window goes with it.

use super::host::Host;
use super::{Event, Packet, World};
use crate::replay::setup::Opening;
use crate::time::Nanos;

/// Linux TCP_MAX_QUICKACKS: segments that are acknowledged at once when a connection starts, or after an idle.
pub(super) const QUICK_ACKS: i64 = 16;
/// What a receiver that never announced a window takes: as much as any sender may send (RFC 7323 §2.3).
const NO_LIMIT: i64 = 1 << 30;

impl Host {
    pub(super) fn receives(&mut self, packet: &Packet, world: &mut World<'_>) {
        let end = packet.start + packet.bytes;
        if world.now - self.last_heard > self.rto() {
            // Linux tcp_event_data_recv: a long silence makes the next acknowledgements quick.
            self.quick = QUICK_ACKS;
        }
        self.last_heard = world.now;
        let before = self.rcv_nxt;
        if end <= self.rcv_nxt {
            self.must_acknowledge = true;
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
            self.announce(world);
        }
        if !self.settling {
            self.settling = true;
            world.after(Nanos::ZERO, Event::Settle(self.end));
        }
    }

    /// Something arrived above a hole; gives the range it belongs to.
    fn keep(&mut self, start: i64, end: i64) -> (i64, i64) {
        let (mut left, mut right) = (start, end);
        self.ahead.retain(|(a, b)| {
            let apart = *b < left || *a > right;
            if !apart {
                (left, right) = (left.min(*a), right.max(*b));
            }
            apart
        });
        let at = self.ahead.partition_point(|(a, _)| *a < left);
        self.ahead.insert(at, (left, right));
        (left, right)
    }

    fn joins(&mut self) {
        while let Some((left, right)) = self.ahead.first().copied().filter(|(left, _)| *left <= self.rcv_nxt) {
            self.ahead.remove(0);
            self.rcv_nxt = self.rcv_nxt.max(right);
            debug_assert!(left <= right);
        }
        if self.newest.is_none() {
            self.newest = self.ahead.last().copied();
        }
    }

    /// All that came at this moment is there (a driver merges it): more than a segment is acknowledged at once (RFC 5681 §4.2).
    pub(super) fn settles(&mut self, world: &mut World<'_>) {
        self.settling = false;
        let end = self.setup(world);
        if self.unacknowledged == 0 && !self.must_acknowledge {
            return;
        }
        let quick = self.quick > 0 && !self.interactive;
        if self.must_acknowledge || quick || self.unacknowledged > end.mss || end.delayed_ack == Nanos::ZERO {
            self.quick -= 1;
            self.acknowledges(world);
        } else {
            self.ack_turn += 1;
            world.after(end.delayed_ack, Event::DelayedAck(self.end, self.ack_turn));
        }
    }

    pub(super) fn delayed(&mut self, turn: u32, world: &mut World<'_>) {
        if turn == self.ack_turn && self.unacknowledged > 0 {
            self.acknowledges(world);
        }
    }

    pub(super) fn acknowledges(&mut self, world: &mut World<'_>) {
        let packet = self.acknowledgement();
        self.ack_turn += 1;
        (self.unacknowledged, self.must_acknowledge) = (0, false);
        world.carry(self.end, packet);
    }

    /// Data that leaves carries the acknowledgement; it shows a conversation, in which others are delayed (Linux pingpong).
    pub(super) fn answers(&mut self, world: &World<'_>) {
        self.interactive |= self.rcv_nxt > super::host::FIRST && world.now - self.last_heard < Nanos::from_millis(40);
        self.ack_turn += 1;
        (self.unacknowledged, self.must_acknowledge) = (0, false);
    }

    pub(super) fn acknowledgement(&self) -> Packet {
        let sack = self.newest.filter(|_| !self.ahead.is_empty());
        Packet { start: 0, bytes: 0, ack: self.rcv_nxt, edge: self.own_edge, sack }
    }

    /// The window as it was when so much had arrived.
    pub(super) fn announce(&mut self, world: &mut World<'_>) {
        let end = self.setup(world);
        if end.openings.is_empty() {
            self.own_edge = self.rcv_nxt + NO_LIMIT;
            return;
        }
        while let Some(opening) = end.openings.get(self.opened).filter(|opening| opening.arrived <= self.rcv_nxt) {
            self.opened += 1;
            if opening.after == Nanos::ZERO {
                self.own_edge = self.own_edge.max(opening.edge);
            } else {
                world.after(opening.after, Event::Room(self.end, opening.edge));
            }
        }
        self.own_edge = self.own_edge.max(self.between(&end.openings));
    }

    /// Between two acknowledgements that were seen the window is taken to have grown evenly; after the last it stays.
    fn between(&self, openings: &[Opening]) -> i64 {
        let before = openings[..self.opened].iter().rev().find(|opening| opening.after == Nanos::ZERO);
        let Some(before) = before else { return 0 };
        match openings.get(self.opened).filter(|next| next.after == Nanos::ZERO && next.arrived > before.arrived) {
            Some(next) => {
                let share = (self.rcv_nxt - before.arrived) as f64 / (next.arrived - before.arrived) as f64;
                before.edge + ((next.edge - before.edge) as f64 * share) as i64
            }
            None if self.opened == openings.len() => before.edge - before.arrived + self.rcv_nxt,
            None => 0,
        }
    }

    /// The reader has made room.
    pub(super) fn makes_room(&mut self, edge: i64, world: &mut World<'_>) {
        if edge > self.own_edge {
            self.own_edge = edge;
            self.acknowledges(world);
        }
    }
}
