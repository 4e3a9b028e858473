//! Records the path at each loss: whether a queue stood, and how much was in flight. A full queue drops while packets are late;
//! a policer, a burst that meets a small buffer, and a bad link drop while they are not.
//!
//! Of a loss after the tap, the round trip that an ACK measures next shows the queue, and the sender's own data the flight. Of
//! one before the tap, the segment that followed the lost one shows the queue: by its timestamp it left long before.

use crate::flow::Half;
use crate::time::Nanos;

/// Losses remembered of one direction: the first ones.
const LIMIT: usize = 64;

/// Age of a round trip that says nothing of the path any more: a repair that a timer begins is older than the next ACK by
/// that timer, 1 s where no round trip is known (RFC 6298 §2.1).
const STALE: Nanos = Nanos::from_millis(2_000);

/// A loss that its sender repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Loss {
    /// Time when the lost segment was first sent; of a loss before the tap, when a segment beyond it passed.
    pub time: Nanos,
    /// Offset where it begins.
    pub start: i64,
    /// Bytes in flight when the lost segment was first sent, that segment included; `None` of a loss before the tap.
    pub in_flight: Option<i64>,
    /// Delay beyond the shortest; `None` where nothing measured it.
    pub queue: Option<Nanos>,
    /// Smallest such delay that would have shown.
    pub grain: Nanos,
}

/// A hole that opened at the tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Opened {
    missing: (i64, i64),
    loss: Loss,
}

/// Losses of one direction, in the order of their repairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Losses {
    all: Vec<Loss>,
    /// First byte of the newest repair.
    newest: i64,
    /// The first hole whose data may yet come.
    opened: Option<Opened>,
}

impl Losses {
    /// Takes in that bytes `missing` had not passed the tap when a segment beyond them did at `time`.
    pub(super) fn leave_a_hole(&mut self, time: Nanos, missing: (i64, i64), half: &Half) {
        if self.opened.is_none_or(|opened| opened.missing.1 <= half.snd_una) {
            let clock = &half.vantage.tsval_clock;
            let loss = Loss { time, start: missing.0, in_flight: None, queue: clock.late(), grain: clock.grain() };
            self.opened = Some(Opened { missing, loss });
        }
    }

    /// Takes in that a segment from offset `start` on, which had not passed the tap, was sent again.
    pub(super) fn are_repaired_before_tap(&mut self, start: i64) {
        let within = |opened: &mut Opened| (opened.missing.0..opened.missing.1).contains(&start);
        if let Some(Opened { loss, .. }) = self.opened.take_if(within) {
            self.adds(loss, start);
        }
    }

    /// Takes in that the repair of a loss begins `now` with the segment `[start, end)`, which had passed the tap.
    pub(super) fn are_repaired(&mut self, now: Nanos, (start, end): (i64, i64), half: &Half) {
        let Some((sent, in_flight)) = half.first_sent(start, end) else { return };
        // An ACK after the segment was sent met the queue that the segment met.
        let rtt = half.newest_rtt.filter(|(passed, _)| *passed >= sent && now - *passed <= STALE).map(|(_, rtt)| rtt);
        let queue = rtt.zip(half.least_rtt).map(|(rtt, least)| (rtt - least).or_zero());
        self.adds(Loss { time: sent, start, in_flight: Some(in_flight), queue, grain: Nanos::ZERO }, start);
    }

    fn adds(&mut self, loss: Loss, start: i64) {
        // Data that is sent again once more lost its repair, not itself.
        if self.all.len() < LIMIT && (self.all.is_empty() || start != self.newest) {
            self.all.push(loss);
        }
        self.newest = start;
    }

    /// The losses.
    pub fn all(&self) -> &[Loss] {
        &self.all
    }

    /// Memory, bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Losses>() + self.all.capacity() * size_of::<Loss>()
    }

    /// The losses in the flow's next part: none yet.
    pub(super) fn next_part(self) -> Losses {
        Losses { all: Vec::new(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hole_counts_once_and_when_its_data_comes() {
        let mut losses = Losses::default();
        let half = Half::default();
        losses.leave_a_hole(Nanos::ZERO, (100, 300), &half);
        losses.leave_a_hole(Nanos::ZERO, (500, 600), &half);
        losses.are_repaired_before_tap(500);
        assert!(losses.all().is_empty(), "that hole opened while another was open");
        losses.are_repaired_before_tap(200);
        losses.are_repaired_before_tap(200);
        assert_eq!(losses.all().len(), 1);
    }

    #[test]
    fn a_hole_that_was_acknowledged_gives_way_to_the_next() {
        let mut losses = Losses::default();
        losses.leave_a_hole(Nanos::ZERO, (100, 300), &Half::default());
        let mut half = Half::default();
        half.snd_una = 400;
        losses.leave_a_hole(Nanos::ZERO, (500, 600), &half);
        losses.are_repaired_before_tap(500);
        assert_eq!(losses.all().len(), 1);
    }

    #[test]
    fn few_losses_are_remembered() {
        let mut losses = Losses::default();
        for offset in 0..1_000 {
            losses.leave_a_hole(Nanos::ZERO, (offset, offset + 1), &Half::default());
            losses.are_repaired_before_tap(offset);
        }
        assert_eq!(losses.all().len(), LIMIT);
    }
}
