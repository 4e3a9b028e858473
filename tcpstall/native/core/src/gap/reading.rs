//! How the peer's application reads, told by the right edge of its window: a reader that keeps up moves the edge with each ACK.

use crate::time::Nanos;

/// The edge is behind when more than this part of the largest window is missing: up to a quarter of a receive buffer goes
/// to overhead and back (Linux tcp_adv_win_scale 2), so that a window breathes by as much although the reader keeps up.
const BREATH: i64 = 4;
/// Steps of the edge from which they are a habit and have a rate: two ends and two between. A nap takes one or two.
const HABIT: u32 = 4;
/// A reader that is behind and yet reads reopens at least 1/20 of what is acknowledged by steps of their own; a window
/// that stays smaller for good (small segments fill a buffer with overhead) reopens nothing.
const REOPENED_PART: i64 = 20;

/// A reader that keeps up has read within what a host takes to wake it; a quarter of a round trip is a wait of its own.
const LAG_SHARE: f64 = 0.25;
/// The same on a short path: two ticks of a host's scheduler at HZ=1000.
const LEAST_LAG: Nanos = Nanos::from_millis(2);

/// The right edge over the life of one sender's flow, on the sender's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Largest window so far, bytes: where the window stands when everything is read.
    pub plateau: i64,
    /// What is missing from it now: acknowledged, and by all signs not read.
    pub unread: i64,
    behind: Option<Behind>,
    /// The longest stretch behind that ended in this gap: a train of ACKs may catch up and fall behind again at its end.
    ended: Option<(Nanos, Nanos)>,
    acked_behind: i64,
    reopened: i64,
    reopenings: u32,
    shut: bool,
    /// The edge's way and time over the earlier stretches.
    drained: i64,
    draining: Nanos,
    steps: u32,
}

/// A stretch of time in which the edge was behind, the last one so far.
#[derive(Clone, Copy, Debug)]
struct Behind {
    since: Nanos,
    /// When the reader caught up.
    until: Option<Nanos>,
    /// The edge after its first and after its last step.
    first: Option<(Nanos, i64)>,
    last: Option<(Nanos, i64)>,
}

impl Behind {
    fn way(&self) -> (i64, Nanos) {
        match (self.first, self.last) {
            (Some((from, low)), Some((to, high))) => (high - low, to - from),
            _ => (0, Nanos::ZERO),
        }
    }
}

impl Reading {
    /// An ACK of `bytes` new bytes up to offset `una` changed the window from the first of `windows` to the second.
    #[inline]
    pub(super) fn on_ack(&mut self, time: Nanos, una: i64, bytes: i64, windows: (Option<i64>, Option<i64>), mss: u32) {
        let (before, Some(now)) = windows else { return };
        self.plateau = self.plateau.max(now);
        self.unread = self.plateau - now;
        let open = self.behind.is_some_and(|behind| behind.until.is_none());
        if open && let Some(before) = before {
            self.follow(time, una, bytes, now - before);
        }
        if self.unread > self.breath(mss) {
            self.shut |= now == 0;
            if !open {
                self.settle();
                self.behind = Some(Behind { since: time, until: None, first: None, last: None });
            }
        } else if open && let Some(behind) = &mut self.behind {
            behind.until = Some(time);
            if self.ended.is_none_or(|(since, until)| time - behind.since > until - since) {
                self.ended = Some((behind.since, time));
            }
        }
    }

    /// New data was sent: the next gap begins.
    #[inline]
    pub(super) fn next_gap(&mut self) {
        self.ended = None;
    }

    fn follow(&mut self, time: Nanos, una: i64, bytes: i64, opened: i64) {
        self.acked_behind += bytes;
        self.reopened += opened.max(0);
        self.reopenings += u32::from(opened > 0);
        if bytes + opened > 0
            && let Some(behind) = &mut self.behind
        {
            let edge = Some((time, una + self.plateau - self.unread));
            behind.first = behind.first.or(edge);
            behind.last = edge;
            self.steps += 1;
        }
    }

    fn settle(&mut self) {
        let (way, span) = self.behind.as_ref().map_or((0, Nanos::ZERO), Behind::way);
        self.drained += way;
        self.draining += span;
    }

    fn breath(&self, mss: u32) -> i64 {
        (self.plateau / BREATH).max(2 * i64::from(mss)).min(self.plateau / 2)
    }

    /// The longest stretch behind that reached into the gap, still open at its `end` or not.
    fn stretch(&self, end: Nanos) -> Option<(Nanos, Nanos)> {
        let open = self.behind.filter(|behind| behind.until.is_none()).map(|behind| (behind.since, end));
        open.into_iter().chain(self.ended).max_by_key(|(since, until)| *until - *since)
    }

    /// Since when the edge was behind in the gap that ended at `end`.
    pub fn behind_since(&self, end: Nanos) -> Option<Nanos> {
        self.stretch(end).map(|(since, _)| since)
    }

    /// True if that was long enough for the reader to be the reason of a wait on a path of this `rtt`.
    pub fn lags(&self, end: Nanos, rtt: Nanos) -> bool {
        let least = rtt.scaled(LAG_SHARE).max(LEAST_LAG);
        self.stretch(end).is_some_and(|(since, until)| until - since > least)
    }

    /// True if what was missing was unread and no overhead: the window shut altogether, or came back in steps of its own.
    pub fn by_reader(&self) -> bool {
        self.shut || (self.reopenings >= HABIT && self.reopened >= self.acked_behind / REOPENED_PART)
    }

    /// How fast the application read while it was behind, bytes per second: the edge's way from its first step to its last.
    pub fn drain(&self) -> Option<u64> {
        let (way, span) = self.behind.as_ref().map_or((0, Nanos::ZERO), Behind::way);
        let (way, span) = (self.drained + way, self.draining + span);
        (self.steps >= HABIT && span > Nanos::ZERO).then(|| (way as f64 * 1e9 / span.0 as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Nanos = Nanos::from_millis(20);
    const MSS: u32 = 1448;

    /// An edge that is fed with (ms, newly acknowledged bytes, window after it).
    fn fed(acks: &[(i64, i64, i64)]) -> Reading {
        let (mut reading, mut una, mut window) = (Reading::default(), 0, None);
        for &(ms, bytes, now) in acks {
            una += bytes;
            reading.on_ack(Nanos::from_millis(ms), una, bytes, (window, Some(now)), MSS);
            window = Some(now);
        }
        reading
    }

    #[test]
    fn a_window_that_stands_has_a_reader_that_keeps_up() {
        let acks: Vec<_> = (0..50).map(|round| (20 * round, 8_688, 8_688)).collect();
        let reading = fed(&acks);
        assert!(!reading.lags(Nanos::from_millis(1_000), RTT));
        assert_eq!((reading.unread, reading.drain()), (0, None));
    }

    #[test]
    fn a_window_that_dips_for_a_millisecond_is_no_lag() {
        let reading =
            fed(&[(0, 0, 64_000), (20, 40_000, 24_000), (21, 0, 64_000), (40, 40_000, 24_000), (41, 0, 64_000)]);
        assert!(!reading.lags(Nanos::from_millis(41), RTT));
    }

    #[test]
    fn steps_of_the_edge_give_the_drain_rate() {
        let mut acks = vec![(0, 0, 64_000), (20, 56_000, 8_000)];
        for step in 1..=20 {
            acks.push((20 + 5 * step, 0, 16_000));
            acks.push((21 + 5 * step, 8_000, 8_000));
        }
        let reading = fed(&acks);
        assert!(reading.lags(Nanos::from_millis(65), RTT) && reading.by_reader());
        assert_eq!(reading.drain(), Some(1_600_000), "8,000 bytes every 5 ms");
    }

    #[test]
    fn time_between_two_lags_is_not_counted() {
        let mut acks = vec![(0, 0, 64_000)];
        for start in [0, 10_000] {
            acks.push((start + 1, 56_000, 8_000));
            acks.extend((1..=10).map(|step| (start + 10 * step, 4_000, 8_000)));
            acks.push((start + 110, 0, 64_000));
        }
        // Each ends with a step of 56,000 bytes at once.
        assert_eq!(fed(&acks).drain(), Some((9 * 4_000 + 56_000) * 2 * 1_000 / 200));
    }

    #[test]
    fn a_window_that_stays_smaller_for_good_is_overhead() {
        let acks: Vec<_> = (0..50).map(|round| (20 * round, 8_000, if round < 5 { 64_000 } else { 30_000 })).collect();
        assert!(!fed(&acks).by_reader());
    }
}
