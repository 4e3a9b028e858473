//! Infers how the peer's application reads from the right edge of its window: a reader that keeps up moves the edge
//! with each ACK.

use super::packed::packed;
use crate::time::Nanos;

/// Divisor of the largest window: the edge lags when more than this part is missing. Up to a quarter of a receive
/// buffer alternates between data and overhead (Linux tcp_adv_win_scale 2), so a window varies by as much although the
/// reader keeps up.
const BREATH: i64 = 4;
/// Steps of the edge from which they are a habit and have a rate: two ends and two between. A short pause of the reader
/// takes one or two.
const HABIT: u32 = 4;
/// Divisor of the acknowledged bytes: a lagging reader widens the window again by at least 1/20 of them. A window that
/// stays smaller for good (small segments fill a buffer with overhead) is never widened.
const REOPENED_PART: i64 = 20;

/// Share of a round trip from which a lag is a wait of its own: a reader that keeps up has read within the time that a
/// host takes to wake it.
pub const LAG_SHARE: f64 = 0.25;
/// Shortest lag on a short path: two ticks of a host's scheduler at HZ=1000.
const LEAST_LAG: Nanos = Nanos::from_millis(2);

/// The right edge of the window over the life of one sender's flow, on the sender's clock.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Reading {
    plateau: i64,
    unread: i64,
    /// Set only where the edge ever lagged: few flows lag, and short flows are many.
    lag: Option<Box<Lag>>,
}

/// Unread data when a pause ended.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Backlog {
    /// Largest window so far, bytes: the size of the window when everything is read.
    pub plateau: i64,
    /// Bytes missing from the largest window: acknowledged, and presumably not read.
    pub unread: i64,
    /// Start and end of the longest time in the pause in which the edge lagged by more than the normal variation.
    behind: Option<(Nanos, Nanos)>,
}

packed!(Backlog { plateau, unread, behind });

impl Backlog {
    /// Time since which the edge lagged.
    pub fn behind_since(&self) -> Option<Nanos> {
        self.behind.map(|(since, _)| since)
    }

    /// True if the lag was long enough to be the reason of a wait on a path with this `rtt`.
    pub fn lags(&self, rtt: Nanos) -> bool {
        let least = rtt.scaled(LAG_SHARE).max(LEAST_LAG);
        self.behind.is_some_and(|(since, until)| until - since > least)
    }
}

/// Record of a lagging reader.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Lag {
    /// Start of the present lag, if the edge lags now.
    since: Option<Nanos>,
    /// The longest lag that ended in this pause: a train of ACKs may catch up and lag again at its end.
    ended: Option<(Nanos, Nanos)>,
    /// The edge after the first and after the last step of this lag.
    first: Option<(Nanos, i64)>,
    last: Option<(Nanos, i64)>,
    acked: i64,
    reopened: i64,
    reopenings: u32,
    shut: bool,
    /// Bytes that the edge moved in earlier lags, and the time that it took.
    drained: i64,
    draining: Nanos,
    steps: u32,
}

impl Reading {
    /// Takes in an ACK of `bytes` new bytes up to offset `una`; it changed the window from the first of `windows` to
    /// the second.
    #[inline]
    pub(super) fn on_ack(&mut self, time: Nanos, una: i64, bytes: i64, windows: (Option<i64>, Option<i64>), mss: u32) {
        let (before, Some(now)) = windows else { return };
        self.plateau = self.plateau.max(now);
        self.unread = self.plateau - now;
        let behind = self.unread > 0 && self.unread > self.breath(mss);
        if behind || self.lag.is_some() {
            let opened = before.map_or(0, |before| now - before);
            self.lag.get_or_insert_default().on_ack(time, (una + now, bytes, opened), behind, now == 0);
        }
    }

    /// Further ACKs with this window, bytes, show nothing more.
    pub(super) fn stands_at(&self, window: i64, mss: u32) -> bool {
        let is_behind = self.unread > 0 && self.unread > self.breath(mss);
        self.unread == self.plateau - window && self.plateau >= window && !is_behind && self.lag.is_none()
    }

    /// The edge lagged at some time.
    #[inline]
    pub(super) fn lags(&self) -> bool {
        self.lag.is_some()
    }

    /// Starts the next pause, because new data was sent.
    #[inline]
    pub(super) fn next_pause(&mut self) {
        if let Some(lag) = &mut self.lag {
            lag.ended = None;
        }
    }

    fn breath(&self, mss: u32) -> i64 {
        (self.plateau / BREATH).max(2 * i64::from(mss)).min(self.plateau / 2)
    }

    /// Unread data at the `end` of a pause.
    pub(super) fn backlog(&self, end: Nanos) -> Backlog {
        let behind = self.lag.as_ref().and_then(|lag| lag.stretch(end));
        Backlog { plateau: self.plateau, unread: self.unread, behind }
    }

    /// True if the missing part of the window was unread data and not overhead: the window shut altogether, or was
    /// widened again repeatedly.
    pub(super) fn by_reader(&self) -> bool {
        let reopens = |lag: &Lag| lag.reopenings >= HABIT && lag.reopened >= lag.acked / REOPENED_PART;
        self.lag.as_ref().is_some_and(|lag| lag.shut || reopens(lag))
    }

    /// Rate at which the application read while it lagged, bytes per second: the edge's movement from its first step to
    /// its last.
    pub(super) fn drain(&self) -> Option<u64> {
        let lag = self.lag.as_ref()?;
        let (way, span) = lag.way();
        let (way, span) = (lag.drained + way, lag.draining + span);
        (lag.steps >= HABIT && span > Nanos::ZERO).then(|| (way as f64 * 1e9 / span.0 as f64) as u64)
    }
}

impl Lag {
    fn on_ack(&mut self, time: Nanos, (edge, bytes, opened): (i64, i64, i64), behind: bool, shut: bool) {
        if let Some(since) = self.since {
            self.follow(time, edge, bytes, opened);
            if !behind {
                self.since = None;
                if self.ended.is_none_or(|(from, until)| time - since > until - from) {
                    self.ended = Some((since, time));
                }
            }
        } else if behind {
            let (way, span) = self.way();
            self.drained += way;
            self.draining += span;
            (self.first, self.last) = (None, None);
            self.since = Some(time);
        }
        self.shut |= behind && shut;
    }

    fn follow(&mut self, time: Nanos, edge: i64, bytes: i64, opened: i64) {
        self.acked += bytes;
        self.reopened += opened.max(0);
        self.reopenings += u32::from(opened > 0);
        if bytes + opened > 0 {
            self.first = self.first.or(Some((time, edge)));
            self.last = Some((time, edge));
            self.steps += 1;
        }
    }

    fn way(&self) -> (i64, Nanos) {
        match (self.first, self.last) {
            (Some((from, low)), Some((to, high))) => (high - low, to - from),
            _ => (0, Nanos::ZERO),
        }
    }

    /// The longest lag that reached into the pause, still open at its `end` or not.
    fn stretch(&self, end: Nanos) -> Option<(Nanos, Nanos)> {
        let open = self.since.map(|since| (since, end));
        open.into_iter().chain(self.ended).max_by_key(|(since, until)| *until - *since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Nanos = Nanos::from_millis(20);
    const MSS: u32 = 1448;

    /// Feeds the edge with (ms, newly acknowledged bytes, window after the ACK).
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
        assert!(!reading.backlog(Nanos::from_millis(1_000)).lags(RTT));
        assert_eq!((reading.unread, reading.drain()), (0, None));
    }

    #[test]
    fn a_window_that_dips_for_a_millisecond_is_no_lag() {
        let reading =
            fed(&[(0, 0, 64_000), (20, 40_000, 24_000), (21, 0, 64_000), (40, 40_000, 24_000), (41, 0, 64_000)]);
        assert!(!reading.backlog(Nanos::from_millis(41)).lags(RTT));
    }

    #[test]
    fn steps_of_the_edge_give_the_drain_rate() {
        let mut acks = vec![(0, 0, 64_000), (20, 56_000, 8_000)];
        for step in 1..=20 {
            acks.push((20 + 5 * step, 0, 16_000));
            acks.push((21 + 5 * step, 8_000, 8_000));
        }
        let reading = fed(&acks);
        assert!(reading.backlog(Nanos::from_millis(65)).lags(RTT) && reading.by_reader());
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
        // Each lag ends with a step of 56,000 bytes at once.
        assert_eq!(fed(&acks).drain(), Some((9 * 4_000 + 56_000) * 2 * 1_000 / 200));
    }

    #[test]
    fn a_window_that_stays_smaller_for_good_is_overhead() {
        let acks: Vec<_> = (0..50).map(|round| (20 * round, 8_000, if round < 5 { 64_000 } else { 30_000 })).collect();
        assert!(!fed(&acks).by_reader());
    }
}
