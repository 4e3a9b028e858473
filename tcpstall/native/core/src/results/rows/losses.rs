//! The path at the losses of one direction: whether a queue stood, and how much was in flight.

use super::super::ledger::{Ledger, Owner};
use crate::causes::Cause;
use crate::json::row;
use crate::pause::losses::Loss;
use crate::time::Nanos;

/// Share of the shortest round trip from which a delay shows a queue, and least such delay.
const QUEUED: (f64, Nanos) = (0.15, Nanos::from_millis(1));
/// Share of the longest usual delay that a full queue comes near: of a path whose round trips vary, losses meet any.
const FULL: f64 = 0.8;
/// Share of the shortest round trip up to which a delay shows none, and what hosts and links may take.
const UNQUEUED: (f64, Nanos) = (0.06, Nanos::from_micros(200));
/// Share of the shortest round trip above which a clock is too coarse to show that there was no queue.
const COARSE: f64 = 0.125;
/// Share of the median of the bytes in flight within which other losses met the same limit.
const ALIKE: f64 = 0.12;
/// Losses without which there is no pattern.
const LOSSES: u32 = 3;
/// Losses at least of which four fifths must have happened at a limit, so that chance does not show one: random losses hit
/// a window anywhere between its half and its whole.
const AT_A_LIMIT: usize = 8;

/// Spans between losses that must have had one rate, and least share of the time that they take.
const AT_A_RATE: usize = 5;
const AT_A_RATE_FOR: f64 = 0.8;
/// Divisor of the median rate within which others are the same: between random losses a third of the time has.
const RATE_ALIKE: u64 = 10;

row! {
    /// Path at the losses of one direction.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
    pub struct LossesRow {
        /// Losses.
        pub counted: u32,
        /// Losses at which a queue stood: packets were clearly late, and hardly ever later.
        pub queued: u32,
        /// Losses at which none stood: packets were hardly late.
        pub unqueued: u32,
        /// Median delay in the queue.
        pub queue_ns: Option<Nanos>,
        /// Bytes in flight at which nearly all lost segments were sent: the path let no more through at once. `None` where
        /// they were sent at others, or the tap saw too few of them.
        pub limit_bytes: Option<u64>,
        /// Rate at which data passed from loss to loss for nearly all the time: as a policer lets it. `None` where that differed.
        pub rate_bytes_per_s: Option<u64>,
    }
}

impl LossesRow {
    /// `None` without losses; `least` is the shortest of all round trips, `usual` their 10th and 95th percentile.
    #[inline(never)]
    pub(in super::super) fn of(losses: &[Loss], least: Option<Nanos>, usual: [Option<Nanos>; 2]) -> Option<LossesRow> {
        let least = least.filter(|_| !losses.is_empty())?;
        let [short, long] = usual.map(|rtt| rtt.map_or(Nanos::ZERO, |rtt| (rtt - least).or_zero()));
        let known = || losses.iter().filter_map(|loss| loss.queue.map(|queue| (queue, loss.grain)));
        let stood = |(queue, grain): (Nanos, Nanos)| {
            // Where most round trips are as long, the shortest one is no measure.
            let (short, long) = if grain > Nanos::ZERO { (Nanos::ZERO, Nanos::ZERO) } else { (short, long) };
            let is_late = queue - short >= least.scaled(QUEUED.0).max(QUEUED.1).max(grain + grain);
            is_late && queue >= long.scaled(FULL)
        };
        let none_stood = |(queue, grain): (Nanos, Nanos)| {
            grain <= least.scaled(COARSE) && queue <= least.scaled(UNQUEUED.0).max(UNQUEUED.1).max(grain)
        };
        Some(LossesRow {
            counted: losses.len() as u32,
            queued: known().filter(|known| stood(*known)).count() as u32,
            unqueued: known().filter(|known| none_stood(*known)).count() as u32,
            queue_ns: middle(known().map(|(queue, _)| queue).collect()),
            limit_bytes: limit(losses),
            rate_bytes_per_s: rate(losses, least),
        })
    }

    /// The row beside what else is known of the flow: nothing where a quarter of the repairs or more were `needless`, because data
    /// that is only late is no loss; no limit where a window or buffer stood, which is in flight at each loss; and no rate where the
    /// sender may have set it.
    pub(in super::super) fn beside(self, needless: u32, time_ns: &Ledger) -> Option<LossesRow> {
        let of = |cause| time_ns.of(Owner::Waiting(cause)).0;
        let grew = 4 * (of(Cause::RwndLimited) + of(Cause::SndbufLimited)) <= of(Cause::CwndLimited);
        let limit_bytes = self.limit_bytes.filter(|_| grew);
        let chosen = of(Cause::AppLimited) + of(Cause::Pacing) + of(Cause::BandwidthLimited);
        let seldom = time_ns.of(Owner::Sending).0 <= of(Cause::CwndLimited);
        let set = grew && seldom && 4 * chosen <= of(Cause::CwndLimited);
        let rate_bytes_per_s = self.rate_bytes_per_s.filter(|_| set);
        let row = LossesRow { limit_bytes, rate_bytes_per_s, ..self };
        (4 * u64::from(needless) < u64::from(self.counted)).then_some(row)
    }

    /// A queue stood at nearly all losses.
    pub(in super::super) fn met_a_queue(&self) -> bool {
        self.are_nearly_all(self.queued)
    }

    /// None stood at nearly all losses; or at a third, and one at hardly any, where data passed between them at one rate, which a
    /// queue would have let pass as well: other packets may wait for a repair, or on the way to the tap.
    pub(in super::super) fn met_none(&self) -> bool {
        let some = self.unqueued >= LOSSES && 3 * self.unqueued >= self.counted && 5 * self.queued <= self.counted;
        self.are_nearly_all(self.unqueued) || self.rate_bytes_per_s.is_some() && some
    }

    fn are_nearly_all(&self, some: u32) -> bool {
        some >= LOSSES && 5 * some >= 4 * self.counted
    }

    /// Takes in the losses of another flow.
    pub(in super::super) fn add(&mut self, other: &LossesRow) {
        self.counted += other.counted;
        self.queued += other.queued;
        self.unqueued += other.unqueued;
    }
}

/// Bytes in flight at which nearly all losses happened.
fn limit(losses: &[Loss]) -> Option<u64> {
    let in_flight: Vec<i64> = losses.iter().filter_map(|loss| loss.in_flight).collect();
    let usual = middle(in_flight.clone())?;
    let alike = in_flight.iter().filter(|one| (**one - usual).abs() as f64 <= usual as f64 * ALIKE).count();
    let is_one = in_flight.len() >= AT_A_LIMIT && 5 * alike >= 4 * in_flight.len();
    is_one.then(|| u64::try_from(usual).ok()).flatten()
}

/// Bytes per second that passed from loss to loss for nearly all the time; those of one round trip are one. A policer's bucket is empty
/// at each, so that between them as much passed as was filled in (Flach et al., "An Internet-wide analysis of traffic policing",
/// 2016). Random losses meet a growing window anywhere.
fn rate(losses: &[Loss], least: Nanos) -> Option<u64> {
    let (mut events, mut newest): (Vec<(Nanos, i64)>, Nanos) = (Vec::new(), Nanos::ZERO);
    for loss in losses {
        if events.is_empty() || loss.time - newest > least + least {
            events.push((loss.time, loss.start));
        }
        newest = newest.max(loss.time);
    }
    let between = events.windows(2).map(|pair| ((pair[1].0 - pair[0].0).0 as f64, (pair[1].1 - pair[0].1) as f64));
    let spans: Vec<(u64, f64)> = between.map(|(time, bytes)| ((bytes * 1e9 / time) as u64, time)).collect();
    let usual = middle(spans.iter().map(|(rate, _)| *rate).collect())?;
    let alike = spans.iter().filter(|(rate, _)| rate.abs_diff(usual) <= usual / RATE_ALIKE);
    let (count, time) = alike.fold((0, 0.0), |(count, sum), (_, time)| (count + 1, sum + time));
    let all: f64 = spans.iter().map(|(_, time)| time).sum();
    (count >= AT_A_RATE && time >= AT_A_RATE_FOR * all).then_some(usual)
}

/// The median, the lower one of two.
fn middle<T: Copy + Ord>(mut values: Vec<T>) -> Option<T> {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Nanos = Nanos::from_millis(20);

    fn row(losses: &[(i64, i64)], grain_ms: i64, usual_ms: [i64; 2]) -> LossesRow {
        let loss = |(in_flight, queue_us): &(i64, i64)| Loss {
            time: Nanos::ZERO,
            start: 0,
            in_flight: Some(*in_flight),
            queue: Some(Nanos::from_micros(*queue_us)),
            grain: Nanos::from_millis(grain_ms),
        };
        let losses: Vec<Loss> = losses.iter().map(loss).collect();
        LossesRow::of(&losses, Some(LEAST), usual_ms.map(|rtt| Some(Nanos::from_millis(rtt)))).expect("losses")
    }

    #[test]
    fn late_packets_show_a_queue_and_prompt_ones_none() {
        let row = row(&[(1, 15_000), (1, 15_000), (1, 900), (1, 2_000)], 0, [21, 35]);
        assert_eq!((row.counted, row.queued, row.unqueued), (4, 2, 1), "2 ms in 20 decide nothing");
        assert_eq!(row.queue_ns, Some(Nanos::from_micros(2_000)));
    }

    #[test]
    fn a_delay_that_is_often_longer_shows_no_full_queue() {
        assert_eq!(row(&[(1, 5_000)], 0, [20, 30]).queued, 0);
        assert_eq!(row(&[(1, 5_000)], 0, [20, 26]).queued, 1);
    }

    #[test]
    fn one_short_round_trip_among_long_ones_shows_no_queue() {
        assert_eq!(row(&[(1, 66_000)], 0, [85, 86]).queued, 0);
    }

    #[test]
    fn a_coarse_clock_shows_long_queues_alone() {
        let row = row(&[(1, 1_000), (1, 15_000), (1, 50_000)], 10, [20, 30]);
        assert_eq!((row.queued, row.unqueued), (1, 0));
    }

    #[test]
    fn eight_losses_at_one_flight_show_a_limit_and_random_ones_none() {
        let alike = |count: i64| (0..count).map(|i| (39_096 + i * 300, 0)).collect::<Vec<_>>();
        assert_eq!(row(&alike(8), 0, [20, 20]).limit_bytes, Some(39_996));
        assert_eq!(row(&alike(7), 0, [20, 20]).limit_bytes, None);
        let spread: Vec<_> = (0..12).map(|i| (30_000 + i * 2_500, 0)).collect();
        assert_eq!(row(&spread, 0, [20, 20]).limit_bytes, None);
    }

    #[test]
    fn a_window_that_stood_is_no_limit_of_the_path_and_needless_repairs_are_no_losses() {
        let row = row(&[(39_096, 0); 8], 0, [20, 20]);
        let mut time_ns = Ledger::default();
        time_ns.add(Owner::Waiting(Cause::CwndLimited), Nanos::from_millis(100));
        time_ns.add(Owner::Waiting(Cause::RwndLimited), Nanos::from_millis(25));
        assert_eq!(row.beside(1, &time_ns), Some(row));
        assert_eq!(row.beside(2, &time_ns), None);
        time_ns.add(Owner::Waiting(Cause::SndbufLimited), Nanos::from_millis(1));
        assert_eq!(row.beside(0, &time_ns), Some(LossesRow { limit_bytes: None, ..row }));
    }

    /// Losses after so many seconds each, after each of which so many megabytes had passed.
    fn rate_of(spans: &[(f64, i64)]) -> Option<u64> {
        let (mut time, mut start) = (Nanos::ZERO, 0);
        let all = spans.iter().map(|(seconds, megabytes)| {
            time += Nanos((seconds * 1e9) as i64);
            start += megabytes * 1_000_000;
            Loss { time, start, in_flight: None, queue: None, grain: Nanos::ZERO }
        });
        rate(&all.collect::<Vec<_>>(), LEAST)
    }

    #[test]
    fn five_spans_with_one_rate_show_it() {
        let alike = [(1.0, 0), (1.0, 2), (2.0, 4), (0.5, 1), (1.5, 3), (1.0, 2)];
        assert_eq!(rate_of(&alike), Some(2_000_000));
        assert_eq!(rate_of(&alike[..5]), None, "four spans");
        let with_another = |seconds: f64| rate_of(&[&alike[..], &[(seconds, 9)]].concat());
        assert_eq!(with_another(1.4), Some(2_000_000));
        assert_eq!(with_another(1.6), None, "a fifth of the time");
    }

    #[test]
    fn losses_of_one_round_trip_are_one() {
        let alike = [(1.0, 0), (1.0, 2), (1.0, 2), (1.0, 2), (1.0, 2), (1.0, 2), (1.0, 2)];
        let burst = alike.iter().flat_map(|span| [*span, (0.01, 0), (0.01, 0)]).collect::<Vec<_>>();
        assert_eq!(rate_of(&burst).map(|rate| rate / 10_000), Some(196), "a span of 1.02 s");
        assert_eq!(rate_of(&[(0.01, 1); 30]), None);
    }

    #[test]
    fn a_rate_that_the_sender_may_have_set_is_none_of_the_path() {
        let row = LossesRow { counted: 9, rate_bytes_per_s: Some(1_250_000), ..LossesRow::default() };
        let beside = |causes: &[(Owner, i64)]| {
            let mut time_ns = Ledger::default();
            causes.iter().for_each(|(owner, ms)| time_ns.add(*owner, Nanos::from_millis(*ms)));
            row.beside(0, &time_ns).and_then(|row| row.rate_bytes_per_s)
        };
        let window = (Owner::Waiting(Cause::CwndLimited), 100);
        assert_eq!(beside(&[window, (Owner::Sending, 100), (Owner::Waiting(Cause::Pacing), 25)]), row.rate_bytes_per_s);
        assert_eq!(beside(&[window, (Owner::Sending, 101)]), None);
        assert_eq!(
            beside(&[window, (Owner::Waiting(Cause::AppLimited), 13), (Owner::Waiting(Cause::Pacing), 13)]),
            None
        );
    }

    #[test]
    fn without_losses_there_is_no_row() {
        assert_eq!(LossesRow::of(&[], Some(LEAST), [None; 2]), None);
    }
}
