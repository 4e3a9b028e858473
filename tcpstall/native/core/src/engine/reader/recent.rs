//! Removes duplicates of overlapping captures: the same segment from another capture is the same packet.

use std::collections::VecDeque;

use crate::flow::tap::clock_steps::SHORTEST_STEP;
use crate::time::Nanos;
use crate::wire::Segment;

/// Most segments kept: those of [`SHORTEST_STEP`] on a link of 100 Gbit/s.
const KEPT: usize = 1 << 14;
/// Most segments of one time that are compared: with a clock this coarse times distinguish nothing.
const COMPARED: usize = 1 << 10;

/// A segment, the capture that brought it, and the captures that repeated it.
struct Taken {
    segment: Segment,
    capture: usize,
    repeated_by: Vec<usize>,
}

/// The last segments handed on, in the order of their times. Captures store packets out of order by less than
/// [`SHORTEST_STEP`], so older ones cannot come again.
#[derive(Default)]
pub(in crate::engine) struct Recent(VecDeque<Taken>);

impl Recent {
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets segments that are too old to come again.
    pub(in crate::engine) fn forget(&mut self, now: Nanos) {
        while self.0.front().is_some_and(|oldest| now - oldest.segment.time >= SHORTEST_STEP) {
            self.0.pop_front();
        }
        // After a clock was set back its times come again, with other packets.
        while self.0.back().is_some_and(|newest| newest.segment.time - now >= SHORTEST_STEP) {
            self.0.pop_back();
        }
    }

    /// True if another capture brought the same segment. Two equal segments in one capture both count.
    pub(in crate::engine) fn repeats(&mut self, segment: &Segment, capture: usize) -> bool {
        let end = self.0.partition_point(|taken| taken.segment.time <= segment.time);
        let here = self.0.range_mut(..end).rev().take(COMPARED);
        let mut same = here.take_while(|taken| taken.segment.time == segment.time);
        let other = same.find(|taken| {
            taken.capture != capture && !taken.repeated_by.contains(&capture) && is_same(&taken.segment, segment)
        });
        other.map(|taken| taken.repeated_by.push(capture)).is_some()
    }

    /// Remembers a segment that was handed on.
    pub(in crate::engine) fn keep(&mut self, segment: &Segment, capture: usize) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        let at = self.0.partition_point(|taken| taken.segment.time <= segment.time);
        self.0.insert(at, Taken { segment: *segment, capture, repeated_by: Vec::new() });
    }
}

/// True if the segments are equal in everything but the packet number.
pub(in crate::engine) fn is_same(one: &Segment, other: &Segment) -> bool {
    one.seq == other.seq && one.time == other.time && Segment { packet: other.packet, ..*one } == *other
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet_no::PacketNo;
    use crate::seq::SeqNo;

    fn segment(packet: u64, ms: f64, seq: u32) -> Segment {
        let time = Nanos((ms * 1e6) as i64);
        Segment { packet: PacketNo(packet), time, seq: SeqNo(seq), ..Segment::default() }
    }

    #[test]
    fn only_another_captures_segment_of_that_time_is_the_same() {
        let mut recent = Recent::default();
        recent.keep(&segment(1, 1.0, 5), 0);
        assert!(!recent.repeats(&segment(2, 1.0, 5), 0));
        assert!(!recent.repeats(&segment(2, 1.1, 5), 1));
        assert!(!recent.repeats(&segment(2, 1.0, 6), 1));
        assert!(recent.repeats(&segment(2, 1.0, 5), 1));
    }

    #[test]
    fn each_capture_repeats_a_segment_once() {
        let mut recent = Recent::default();
        recent.keep(&segment(1, 1.0, 5), 0);
        assert!(recent.repeats(&segment(2, 1.0, 5), 1) && recent.repeats(&segment(2, 1.0, 5), 2));
        assert!(!recent.repeats(&segment(3, 1.0, 5), 1));
    }

    #[test]
    fn what_was_stored_out_of_order_is_found() {
        let mut recent = Recent::default();
        [(1, 1.5), (2, 1.2), (3, 1.8)].into_iter().for_each(|(packet, ms)| recent.keep(&segment(packet, ms, 5), 0));
        recent.forget(Nanos((2.3 * 1e6) as i64));
        assert!(recent.repeats(&segment(9, 1.5, 5), 1) && recent.repeats(&segment(9, 1.8, 5), 1));
        assert!(!recent.repeats(&segment(9, 1.2, 5), 1));
        recent.forget(Nanos((2.8 * 1e6) as i64));
        assert!(recent.is_empty());
    }

    #[test]
    fn no_more_than_so_many_are_kept() {
        let mut recent = Recent::default();
        (0..KEPT as u64 + 9).for_each(|packet| recent.keep(&segment(packet, 1.0, packet as u32), 0));
        assert_eq!(recent.0.len(), KEPT);
        assert!(!recent.repeats(&segment(1, 1.0, 1), 1));
        assert!(recent.repeats(&segment(1, 1.0, KEPT as u32 + 8), 1));
    }
}
