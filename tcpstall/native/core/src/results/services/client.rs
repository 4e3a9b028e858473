//! The connections of one client to one service, and those of them that reuse would have saved.

use crate::few::Few;
use crate::time::Nanos;

/// The connections of one client to one service whose handshake was captured whole.
#[derive(Clone, Default)]
pub(super) struct Client {
    pub(super) handshake: Nanos,
    pub(super) spans: Few<(Nanos, Nanos), 1>,
    /// Connections whose spans were added up to make room.
    pub(super) earlier: usize,
    /// Most connections open together until then.
    pub(super) most_open: usize,
}

impl Client {
    /// Connections beyond the largest number open together, and the cost of their handshakes.
    pub(super) fn avoidable(&mut self) -> (u64, Nanos) {
        let all = self.earlier + self.spans.len();
        let avoidable = all - self.most_open();
        let cost = i128::from(self.handshake.0) * avoidable as i128 / all.max(1) as i128;
        (avoidable as u64, Nanos(cost as i64))
    }

    /// Largest number of connections open together.
    pub(super) fn most_open(&mut self) -> usize {
        let mut ends: Vec<Nanos> = self.spans.iter().map(|span| span.1).collect();
        ends.sort_unstable();
        self.spans.sort_unstable();
        let (mut over, mut most) = (0, self.most_open);
        for (index, (start, _)) in self.spans.iter().enumerate() {
            while ends[over] <= *start && over < index {
                over += 1;
            }
            most = most.max(index + 1 - over);
        }
        most
    }

    /// Adds up the half of the spans that ended first; returns the number of those left.
    pub(super) fn adds_up(&mut self) -> usize {
        self.most_open = self.most_open();
        let half = self.spans.len() / 2;
        self.spans.sort_unstable_by_key(|span| span.1);
        self.spans.drain(..half);
        self.earlier += half;
        self.spans.len()
    }
}
