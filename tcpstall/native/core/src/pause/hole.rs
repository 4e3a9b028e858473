//! Tracks holes: data missing at the receiver below data that arrived, by SACK blocks or by the sequence at a tap.

use super::packed::packed;
use crate::time::Nanos;

/// A hole in the receiver's data, on the sender's clock.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Hole {
    /// Time when data beyond the hole passed, or when the first SACK block above it reached the sender.
    pub since: Nanos,
    /// Time when the ACK that covers the hole reached the sender; `None` while the hole is open.
    pub until: Option<Nanos>,
    /// Time when the first SACK block above the hole reached the sender; without one, only the sequence at the tap
    /// shows the hole.
    pub reported: Option<Nanos>,
    /// The data that ended the pause fills it: that data was sent again, whether or not the capture lacks a first copy.
    pub filled: bool,
}

packed!(Hole { marks { filled } since, until, reported });

impl Hole {
    /// Time between `start` and `end` for which the hole was open.
    pub fn within(&self, start: Nanos, end: Nanos) -> Nanos {
        (self.until.map_or(end, |until| until.min(end)) - self.since.max(start)).or_zero()
    }

    /// The same hole, with other times of what reached the sender.
    pub(super) fn moved(self, moved: impl Fn(Nanos) -> Nanos) -> Hole {
        Hole { until: self.until.map(&moved), reported: self.reported.map(&moved), ..self }
    }

    /// Time between `start` and `end` for which the sender knew of the hole.
    pub fn known_within(&self, start: Nanos, end: Nanos) -> Nanos {
        self.reported.map_or(Nanos::ZERO, |reported| Hole { since: reported, ..*self }.within(start, end))
    }
}

/// Watches one sender's data for holes; few flows have any.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Holes {
    open: Option<Hole>,
    /// The first byte that was missing when the open hole opened.
    lowest: i64,
    /// End of the open hole at the tap.
    end: i64,
    /// First byte of a hole that opened at the tap beyond the open one, and when it did.
    next: Option<(i64, Nanos)>,
    /// Offset below which the sender has sent everything, whether the tap saw it or not.
    edge: i64,
    /// Offset below which missing data had only been overtaken: reports of a hole below it mean that data.
    reordered: i64,
}

impl Holes {
    /// Takes in a segment that passed the tap at `now` before the bytes between these offsets.
    pub(super) fn skips(&mut self, now: Nanos, (from, edge): (i64, i64)) {
        if self.open.is_none() {
            self.end = edge;
        } else if from >= self.end {
            self.next = self.next.or(Some((from, now)));
        }
        self.edge = self.edge.max(edge);
        self.opens(now, from);
    }

    fn opens(&mut self, now: Nanos, from: i64) -> &mut Hole {
        if self.open.is_none() {
            (self.lowest, self.next) = (from, None);
        }
        self.open.get_or_insert(Hole { since: now, until: None, reported: None, filled: false })
    }

    /// Takes in missing bytes `[start, end)` that had only been overtaken. If they are the first of the open hole, that
    /// was no hole: returns the time since which it seemed one.
    pub(super) fn reorders(&mut self, start: i64, end: i64) -> Option<Nanos> {
        let open = self.open.take_if(|_| start <= self.lowest)?;
        self.reordered = end;
        if let Some((from, since)) = self.next {
            self.skips(since, (from, self.edge));
        }
        Some(open.since)
    }

    /// True if a hole is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// True if the hole that opened at `since` is still open, and nothing has reported it.
    pub(super) fn is_unreported(&self, since: Nanos) -> bool {
        self.open.is_some_and(|open| open.since == since && open.reported.is_none())
    }

    /// Takes in an ACK of everything before offset `una`; `reported` is true if SACK blocks above a hole remain after
    /// it. Returns the hole that the ACK closed.
    #[inline]
    pub(super) fn on_ack(&mut self, now: Nanos, una: i64, reported: bool) -> Option<Hole> {
        if reported && una < self.reordered {
            return None;
        }
        // Nearly always there is no hole to close.
        if !reported && self.open.is_none() {
            return None;
        }
        if !reported && una >= self.edge {
            return self.open.take().map(|hole| Hole { until: Some(now), ..hole });
        }
        let closed = self.fills_first(now, una);
        if reported {
            let open = self.opens(now, una);
            open.reported = open.reported.or(Some(now));
        }
        closed
    }

    /// Closes the open hole if an ACK of everything before offset `una` covers it while another is open beyond it: a
    /// loss after the first one. The report of that one takes as long as the report of the first did.
    fn fills_first(&mut self, now: Nanos, una: i64) -> Option<Hole> {
        let (from, since) = self.next.filter(|_| una >= self.end)?;
        let first = self.open.take()?;
        let reported = first.reported.map(|reported| since + (reported - first.since)).filter(|at| *at <= now);
        self.skips(since, (from, self.edge));
        self.open.as_mut()?.reported = reported;
        Some(Hole { until: Some(now), ..first })
    }

    /// True if data that begins at offset `start` fills bytes that other segments skipped.
    pub(super) fn misses(&self, start: i64) -> bool {
        self.open.is_some() && (self.lowest..self.edge).contains(&start)
    }

    /// The longer of the open hole, which data may have `filled` in the end, and one `closed` in the pause from `start`
    /// to `end`.
    pub(super) fn longest(&self, closed: Option<Hole>, filled: bool, start: Nanos, end: Nanos) -> Option<Hole> {
        let open = self.open.map(|hole| Hole { filled, ..hole });
        let holes = open.into_iter().chain(closed);
        holes.filter(|hole| hole.within(start, end) > Nanos::ZERO).max_by_key(|hole| hole.within(start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> Nanos {
        Nanos::from_millis(ms)
    }

    /// A segment passes at 10 ms without bytes 100 to 200, and a pause is frozen while they are missing.
    fn skipped() -> (Holes, Option<Hole>) {
        let mut holes = Holes::default();
        holes.skips(ms(10), (100, 200));
        let frozen = holes.longest(None, false, ms(5), ms(20));
        assert_eq!(frozen.map(|hole| hole.within(ms(5), ms(20))), Some(ms(10)));
        (holes, frozen)
    }

    #[test]
    fn what_had_only_been_overtaken_was_no_hole_nor_are_reports_of_it() {
        let (mut holes, frozen) = skipped();
        assert_eq!(holes.reorders(100, 200), frozen.map(|hole| hole.since));
        assert_eq!(holes.on_ack(ms(30), 100, true), None);
        assert_eq!(holes.longest(None, false, ms(20), ms(40)), None, "the report was on its way");
        holes.on_ack(ms(50), 200, true);
        assert!(holes.longest(None, false, ms(45), ms(60)).is_some(), "something else is missing");
    }

    #[test]
    fn what_filled_a_later_hole_says_nothing_of_the_first() {
        let (mut holes, _) = skipped();
        assert_eq!(holes.reorders(300, 400), None);
        let closed = holes.on_ack(ms(40), 200, false);
        assert_eq!(closed.map(|hole| (hole.since, hole.until)), Some((ms(10), Some(ms(40)))));
    }

    #[test]
    fn a_loss_after_the_first_is_a_hole_of_its_own() {
        let (mut holes, _) = skipped();
        assert_eq!(holes.on_ack(ms(20), 100, true), None);
        holes.skips(ms(35), (500, 600));
        let closed = holes.on_ack(ms(40), 300, false).expect("the first hole is filled");
        assert_eq!((closed.since, closed.until), (ms(10), Some(ms(40))));
        let second = |holes: &Holes, end| holes.longest(None, false, ms(30), end).expect("the second is open");
        assert_eq!(second(&holes, ms(42)).since, ms(35));
        assert_eq!(second(&holes, ms(42)).reported, None, "what was reported is the first");
        holes.on_ack(ms(45), 500, true);
        assert_eq!(second(&holes, ms(50)).reported, Some(ms(45)));
    }

    #[test]
    fn two_losses_of_a_flight_are_reported_together() {
        let (mut holes, _) = skipped();
        holes.skips(ms(11), (500, 600));
        assert_eq!(holes.on_ack(ms(20), 100, true), None);
        assert!(holes.on_ack(ms(40), 500, true).is_some());
        let second = holes.longest(None, false, ms(15), ms(50)).expect("the second is open");
        assert_eq!((second.since, second.reported), (ms(11), Some(ms(21))));
    }
}
