//! The narrowest link of either direction: one connection has it to itself, or several share it.

use std::cell::{Cell, RefCell};

use super::{Dice, Packet};
use crate::flow::End;
use crate::replay::setup::HostSetup;
use crate::time::Nanos;

/// The links of both directions, by the end whose data they carry.
#[derive(Default)]
pub(super) struct Line {
    /// Time when each has carried what it was given.
    free_at: [Cell<Nanos>; 2],
    /// Several connections use it, so that acknowledgements wait behind data of others; the dice decide whose packet finds
    /// the last room, because nothing else in a replay without noise would ever change that.
    shared: Option<RefCell<Dice>>,
}

impl Line {
    /// Links of several connections.
    pub(super) fn shared(seed: u64) -> Line {
        Line { shared: Some(RefCell::new(Dice::new(seed))), ..Line::default() }
    }

    /// Wait of a packet that `from` sends `now`; `None` where the queue before the link is full.
    pub(super) fn carries(&self, from: End, setup: &HostSetup, packet: &Packet, now: Nanos) -> Option<Nanos> {
        let Some(rate) = setup.rate else { return Some(Nanos::ZERO) };
        if packet.bytes == 0 {
            return Some(if self.shared.is_some() { self.backlog(from, now) } else { Nanos::ZERO });
        }
        let backlog = self.backlog(from, now);
        let queued = (backlog.0 as f64 * rate / 1e9) as i64 + packet.bytes;
        let noise = self.shared.as_ref().map_or(0.0, |dice| dice.borrow_mut().throw() - 0.5) * packet.bytes as f64;
        if setup.queue.is_some_and(|queue| queue.overflowed && queued + noise as i64 > queue.bytes) {
            return None;
        }
        let wait = backlog + Nanos((packet.bytes as f64 / rate * 1e9) as i64);
        self.free_at[from].set(now + wait);
        Some(wait)
    }

    /// Time that what is queued takes.
    pub(super) fn backlog(&self, from: End, now: Nanos) -> Nanos {
        (self.free_at[from].get() - now).or_zero()
    }
}
