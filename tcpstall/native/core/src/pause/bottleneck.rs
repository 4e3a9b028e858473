//! Detects when the path was busy: a queue stood at its bottleneck, whose rate is then the rate of the ACKs.
//!
//! A packet that found the path idle is acknowledged after one base round trip plus the path's time for the other data
//! that its ACK covers. A packet that is acknowledged four such times late or more has been queued, so the path has
//! been carrying data since the ACK before. Once that has lasted for a round trip without a break, nobody has waited
//! for a whole window: the flight is above rate × base round trip.

use crate::flow::{Acked, Half, tap::vantage::OUTLASTS_SILENCE};
use crate::time::Nanos;

use super::LEAST_PAUSE;

/// Delay, in ACK spacings, from which a packet has queued behind others. A packet that found the path idle waits for
/// one spacing: the other data that its ACK covers. A sender that paces itself to leave no queue has three frames more
/// than that in flight (Linux `bbr_quantization_budget`; TSQ allows two in the host).
pub const QUEUED_SPACINGS: i64 = 4;
/// Ratio of a silence to the spacing before it from which the silence is not the path's: other flows' packets were sent
/// from the queue.
const UNUSUAL: i64 = 2;
/// Divisor of the round trip: the excess that shows a queue is an eighth, or 16 ms in any case (RFC 9406 §4.2, HyStart++). The RFC's
/// floor of 4 ms is for single samples on the Internet; here every ACK of a round trip must be late, so the noise of
/// hosts is the floor.
pub const QUEUE_PART: i64 = 8;
/// Excess that shows a queue whatever the round trip.
pub const QUEUE_SURE: Nanos = Nanos::from_millis(16);
/// Divisor of the round trip: the distance of the tap from the sender below which the tap sees the sender's reaction to
/// each ACK and no queue before the tap.
pub const AT_SENDER: i64 = 10;
/// Segments in flight needed to detect a queue: with fewer no ACK can be three spacings late.
const LEAST_OUT: u32 = QUEUED_SPACINGS as u32 + 1;
/// Shortest period: a shorter one may be a host that was scheduled late.
const LEAST_SPAN: Nanos = Nanos::from_millis(1);
/// ACKs that a period needs before its rate is meaningful.
const LEAST_ACKS: u32 = 8;
/// Length of the pieces in which a longer period is recorded, so that a change of its rate is visible.
const PIECE: Nanos = Nanos::from_millis(100);
/// Pieces kept for one sender, almost three hours of them; further pieces are only counted.
pub const PERIOD_LIMIT: usize = 100_000;
/// Divisor of the ACKs: the part answered at once from which the sender is ACK-clocked: a sender that paces itself at the same rate
/// answers one ACK in ten at once.
const AT_ONCE: i64 = 10;
/// Time that a host takes to answer an ACK.
const REACTION: Nanos = Nanos::from_micros(100);

/// Time in which the path was busy with one sender's data without a break, by the ACKs as they passed the tap.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BusyPeriod {
    /// The ACK after which the queue stood.
    pub start: Nanos,
    /// The last ACK of a packet that had been queued.
    pub end: Nanos,
    /// Payload that those ACKs acknowledged.
    pub bytes: i64,
    /// Mean queueing delay of its packets.
    pub queue: Nanos,
    /// Mean bytes in flight.
    pub flight: i64,
}

impl BusyPeriod {
    /// Length of the period.
    pub fn span(&self) -> Nanos {
        self.end - self.start
    }

    /// Rate that the path carried, payload bytes per second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.span().0.max(1) as f64
    }
}

/// A period that is still open.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Run {
    start: Nanos,
    end: Nanos,
    /// Bytes delivered at its start.
    from: i64,
    /// Bytes delivered at its end.
    to: i64,
    /// Queueing delay and bytes in flight, each multiplied by its time.
    queue: f64,
    flight: f64,
    last_queue: Nanos,
    acks: u32,
    /// ACKs that data followed before the next ACK, and those that data followed at once.
    answered: u32,
    at_once: u32,
    /// Earlier pieces of the period were long enough.
    proven: bool,
}

/// Watches one sender's ACKs for a queue.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bottleneck {
    last: Nanos,
    spacing: Nanos,
    delivered: i64,
    holes: bool,
    unanswered: bool,
    run: Option<Run>,
    busy_periods: Vec<BusyPeriod>,
    dropped: u64,
}

impl Bottleneck {
    /// Number of pieces recorded.
    pub fn busy_periods(&self) -> usize {
        self.busy_periods.len()
    }

    /// The watcher in the flow's next part, with the period that is still open.
    pub(super) fn next_part(self) -> Bottleneck {
        Bottleneck { busy_periods: Vec::new(), dropped: 0, ..self }
    }

    /// True once enough data is in flight for a queue: most flows are too short and never pay for a watcher.
    #[inline]
    pub fn is_due(acked: &Acked, half: &Half) -> bool {
        // To a tap behind the queue no more than the base round trip's worth of data ever seems to be in flight.
        acked.out_before >= LEAST_OUT || half.vantage.queue() > Nanos::ZERO
    }

    /// Starts to watch at an ACK; `half` is the state after it.
    pub fn new(acked: &Acked, half: &Half) -> Bottleneck {
        Bottleneck {
            last: passed(acked, half),
            spacing: Nanos::ZERO,
            delivered: half.delivered(),
            holes: half.has_holes(),
            unanswered: false,
            run: None,
            busy_periods: Vec::new(),
            dropped: 0,
        }
    }

    /// Takes in an ACK that reached the sender; `half` is the state after it.
    #[inline(always)]
    pub fn on_ack(&mut self, acked: &Acked, half: &Half) {
        let delivered = half.delivered();
        let filled_hole = std::mem::replace(&mut self.holes, half.has_holes());
        if delivered <= self.delivered {
            return;
        }
        let (before, now) = (self.last, passed(acked, half));
        let from = std::mem::replace(&mut self.delivered, delivered);
        self.last = now;
        let usual = std::mem::replace(&mut self.spacing, now - before);
        self.unanswered = true;
        let base = base(half);
        // The data above a filled hole had arrived long before: the ACK shows nothing about the queue.
        match acked.to_peer.filter(|_| !filled_hole) {
            Some(to_peer) => {
                let queued = to_peer - half.peer_distance.get().unwrap_or_default();
                let before_tap = half.vantage.queue();
                let queue = if before_tap == Nanos::ZERO { queued } else { queued + queue_before_tap(half, base) };
                // Nearly always there is no queue at all.
                let is_one = queue >= LEAST_PAUSE && queue >= base.part(QUEUE_PART).min(QUEUE_SURE);
                if is_one && self.was_queued(queue, usual, base) {
                    self.go_on(before, now, from, queue, half, base);
                } else if self.run.is_some() {
                    self.stop(base, half);
                }
            }
            None if self.run.is_some_and(|run| self.spacing.times(QUEUED_SPACINGS) > run.last_queue) => {
                self.stop(base, half);
            }
            None => {}
        }
    }

    #[inline]
    fn was_queued(&self, queue: Nanos, usual: Nanos, base: Nanos) -> bool {
        let among_others = || {
            let long = self.run.is_some_and(|run| run.is_long(base));
            long && self.spacing > usual.times(UNUSUAL) && queue >= self.spacing.scaled(OUTLASTS_SILENCE)
        };
        queue >= self.spacing.times(QUEUED_SPACINGS) || among_others()
    }

    #[inline(never)]
    fn go_on(&mut self, before: Nanos, now: Nanos, from: i64, queue: Nanos, half: &Half, base: Nanos) {
        let run = self.run.get_or_insert_with(|| Run::new(before, from));
        let span = (now - run.end).0 as f64;
        run.queue += queue.0 as f64 * span;
        run.flight += half.flight() as f64 * span;
        run.last_queue = queue;
        run.end = now;
        run.to = self.delivered;
        run.acks += 1;
        if run.end - run.start >= PIECE.max(base) {
            let next = Run { proven: true, ..Run::new(run.end, run.to) };
            self.stop(base, half);
            self.run = Some(next);
        }
    }

    fn stop(&mut self, base: Nanos, half: &Half) {
        let Some(run) = self.run.take() else { return };
        let span = run.end - run.start;
        let clocked = !at_sender(half, base) || 2 * run.at_once >= run.answered;
        if !run.is_long(base) || !clocked || span <= Nanos::ZERO {
            return;
        }
        if self.busy_periods.len() >= PERIOD_LIMIT {
            self.dropped += 1;
            return;
        }
        let mean = |sum: f64| sum / span.0 as f64;
        self.busy_periods.push(BusyPeriod {
            start: run.start,
            end: run.end,
            bytes: run.to - run.from,
            queue: Nanos(mean(run.queue) as i64),
            flight: mean(run.flight) as i64,
        });
    }

    /// Takes in new data of the sender.
    #[inline]
    pub fn on_data(&mut self, now: Nanos) {
        if std::mem::take(&mut self.unanswered)
            && let Some(run) = &mut self.run
        {
            run.answered += 1;
            run.at_once += u32::from(now - self.last <= self.spacing.part(AT_ONCE).max(REACTION));
        }
    }

    /// Ends the watch with the flow. Returns the busy periods in order of time and the number that the limit dropped.
    pub fn finish(&mut self, half: &Half) -> (Vec<BusyPeriod>, u64) {
        self.stop(base(half), half);
        (std::mem::take(&mut self.busy_periods), self.dropped)
    }
}

impl Run {
    fn new(start: Nanos, from: i64) -> Run {
        Run {
            start,
            end: start,
            from,
            to: from,
            queue: 0.0,
            flight: 0.0,
            last_queue: Nanos::ZERO,
            acks: 0,
            answered: 0,
            at_once: 0,
            proven: false,
        }
    }

    fn is_long(&self, base: Nanos) -> bool {
        self.proven || (self.end - self.start >= base.max(LEAST_SPAN) && self.acks >= LEAST_ACKS)
    }
}

/// Time when the ACK passed the tap: near the receiver that is the time when the data came, so a queue on the way back
/// to the sender does not count.
fn passed(acked: &Acked, half: &Half) -> Nanos {
    acked.time - half.vantage.get().unwrap_or_default()
}

fn base(half: &Half) -> Nanos {
    half.vantage.get().unwrap_or_default().plus(half.peer_distance.get().unwrap_or_default())
}

fn at_sender(half: &Half, base: Nanos) -> bool {
    half.vantage.get().unwrap_or_default() <= base.part(AT_SENDER)
}

/// Queueing delay between the sender and a tap further down the path; near the sender a late answer is the sender's
/// own.
#[inline(never)]
fn queue_before_tap(half: &Half, base: Nanos) -> Nanos {
    if at_sender(half, base) { Nanos::ZERO } else { half.vantage.queue() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Nanos = Nanos::from_millis(20);
    const SEGMENT: i64 = 1448;

    /// Plays ACKs of one segment each to a tap at the sender; each is (time, delay beyond the base round trip) in
    /// microseconds.
    fn busy_periods(acks: impl Iterator<Item = (i64, i64)>, answer: i64) -> Vec<BusyPeriod> {
        let mut half = Half::default();
        half.snd_nxt = 1 << 30;
        half.vantage.sample(Nanos::ZERO, Nanos::ZERO);
        half.peer_distance.sample(BASE);
        let mut watcher: Option<Bottleneck> = None;
        for (time, late) in acks {
            half.snd_una += SEGMENT;
            let acked = ack(Nanos::from_micros(time), BASE + Nanos::from_micros(late));
            match &mut watcher {
                Some(watcher) => watcher.on_ack(&acked, &half),
                None => watcher = Some(Bottleneck::new(&acked, &half)),
            }
            if let Some(watcher) = &mut watcher {
                watcher.on_data(acked.time + Nanos::from_micros(answer));
            }
        }
        watcher.map_or_else(Vec::new, |mut watcher| watcher.finish(&half).0)
    }

    fn ack(time: Nanos, to_peer: Nanos) -> Acked {
        Acked {
            time,
            bytes: SEGMENT,
            segments: 1,
            out_before: 40,
            flight_before: 40 * SEGMENT,
            to_peer: Some(to_peer),
            ..Acked::default()
        }
    }

    #[test]
    fn a_queue_that_stands_for_a_round_trip_gives_the_rate() {
        let found = busy_periods((0..100).map(|i| (i * 1_000, 10_000)), 10);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].span(), found[0].queue), (Nanos::from_millis(99), Nanos::from_millis(10)));
        assert!((found[0].rate() - 1_448_000.0).abs() < 1.0);
    }

    #[test]
    fn a_rate_that_changes_shows_in_the_pieces() {
        let fast = (0..300).map(|i| (i * 1_000, 40_000));
        let slow = (1..60).map(|i| (299_000 + i * 5_000, 40_000));
        let found = busy_periods(fast.chain(slow), 10);
        assert!((found[0].rate() - 1_448_000.0).abs() < 15_000.0);
        assert!((found[found.len() - 1].rate() - 289_600.0).abs() < 3_000.0);
        assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
    }

    #[test]
    fn late_acks_whose_distance_explains_it_are_no_queue() {
        assert_eq!(busy_periods((0..100).map(|i| (i * 5_000, 15_000)), 10), []);
    }

    #[test]
    fn a_queue_that_drains_before_a_round_trip_is_over_is_a_burst() {
        let bursts = (0..20).flat_map(|round| (0..10).map(move |i| (round * 30_000 + i * 1_000, 2_000 + i * 1_000)));
        assert_eq!(busy_periods(bursts, 10), []);
    }

    #[test]
    fn a_sender_that_does_not_answer_its_acks_paces_itself() {
        assert_eq!(busy_periods((0..100).map(|i| (i * 1_000, 10_000)), 400), []);
    }
}
