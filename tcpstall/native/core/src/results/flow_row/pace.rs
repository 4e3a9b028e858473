//! Measures the fastest second of a direction of data, and removes rates that the data never came near.
//!
//! A window or buffer divided by the smallest round trip is a rate, and so are a few packets divided by the time of
//! their ACKs. Both are arithmetic: a buffer sized by them is sized for a rate that never occurred. They are reported
//! only where the flow came near.

use super::super::rows::StallRow;
use super::super::rows::ceiling::Ceiling;
use super::super::rows::path::PathRow;
use crate::pause::Burst;
use crate::time::Nanos;

/// Span of the fastest rate; a shorter flow is counted whole.
const SECOND: Nanos = Nanos::from_millis(1_000);
/// Share of a rate that the flow's fastest second must reach for the rate to be reported: a flow that waits nine tenths
/// of its time for a buffer still shows the rate that the buffer allows.
const NEAR: f64 = 0.1;

/// Largest amount that one direction sent in a second, bytes per second; `None` where all data left at one time.
pub(super) fn fastest(bursts: &[Burst]) -> Option<f64> {
    let end_of = |burst: &Burst| burst.end.max(burst.start);
    let span = (bursts.iter().map(end_of).max()? - bursts.first()?.start).min(SECOND);
    if span <= Nanos::ZERO {
        return None;
    }
    let (mut most, mut first, mut inside) = (0.0_f64, 0, 0.0_f64);
    // The fullest second ends with a burst: a second that ends earlier or later holds less of that burst, or no more.
    for (index, burst) in bursts.iter().enumerate() {
        let from = end_of(burst) - span;
        inside += burst.bytes as f64;
        while first < index && end_of(&bursts[first]) < from {
            inside -= bursts[first].bytes as f64;
            first += 1;
        }
        // Bursts of one sender are consecutive, so only the first can begin before the second does.
        let (start, end) = (bursts[first].start, end_of(&bursts[first]));
        let before = (from - start).or_zero().0 as f64 / (end - start).0.max(1) as f64;
        most = most.max(inside - bursts[first].bytes as f64 * before.min(1.0));
    }
    Some(most * 1e9 / span.0 as f64)
}

fn is_near(rate: Option<u64>, fastest: Option<f64>) -> bool {
    rate.zip(fastest).is_none_or(|(rate, fastest)| fastest >= NEAR * rate as f64)
}

/// Removes the path's rate from a direction's row where the data never came near it.
pub(super) fn withhold_path(row: &mut PathRow, fastest: Option<f64>) {
    if !is_near(row.bottleneck_bytes_per_s, fastest) {
        (row.bottleneck_bytes_per_s, row.bdp_bytes) = (None, None);
    }
    row.fastest_bytes_per_s = fastest.map(|rate| rate as u64);
}

/// Removes rates, and the sizes derived from them, from the evidence of stalls whose sender never came near them; the
/// fastest second replaces them.
pub(super) fn withhold(stalls: &mut [StallRow], fastest: [Option<f64>; 2]) {
    for stall in stalls {
        let own = fastest[stall.sender];
        let Some(rare) = stall.evidence.rare.any_mut() else { continue };
        let mut withheld = false;
        if !is_near(rare.ceiling.ceiling_bytes_per_s, own) {
            (rare.ceiling, withheld) = (Ceiling::default(), true);
        }
        if !is_near(rare.ceiling.needed_bytes_per_s, own) {
            let twice = rare.ceiling.twice().filter(|twice| is_near(twice.needed_bytes_per_s, own));
            withheld = twice.is_none();
            rare.ceiling =
                twice.unwrap_or(Ceiling { needed_bytes_per_s: None, buffer_needed_bytes: None, ..rare.ceiling });
        }
        if !is_near(rare.path.bottleneck_bytes_per_s, own) {
            (rare.path.bottleneck_bytes_per_s, rare.path.bdp_bytes) = (None, None);
            withheld = true;
        }
        if !is_near(rare.receiver.drain_bytes_per_s, own) {
            (rare.receiver.drain_bytes_per_s, withheld) = (None, true);
        }
        rare.fastest_bytes_per_s = own.filter(|_| withheld).map(|rate| rate as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(of: &[(i64, i64, u64)]) -> Vec<Burst> {
        let burst = |&(start, end, bytes): &(i64, i64, u64)| Burst {
            start: Nanos::from_millis(start),
            end: Nanos::from_millis(end),
            bytes,
            ..Burst::default()
        };
        of.iter().map(burst).collect()
    }

    #[test]
    fn the_fastest_second_is_the_fullest_one() {
        let found = fastest(&bursts(&[(0, 0, 100), (600, 600, 200), (1_500, 1_500, 300), (9_000, 9_000, 50)]));
        assert_eq!(found, Some(500.0));
    }

    #[test]
    fn a_long_burst_counts_by_its_share_of_the_second() {
        assert_eq!(fastest(&bursts(&[(0, 10_000, 50_000)])), Some(5_000.0));
    }

    #[test]
    fn a_flow_shorter_than_a_second_is_counted_whole() {
        assert_eq!(fastest(&bursts(&[(0, 0, 1_000), (100, 100, 1_000)])), Some(20_000.0));
    }

    #[test]
    fn one_moment_has_no_rate() {
        assert_eq!((fastest(&bursts(&[(5, 5, 1_000)])), fastest(&[])), (None, None));
    }

    #[test]
    fn a_burst_stamped_backwards_counts_where_it_starts() {
        assert_eq!(fastest(&bursts(&[(5, 1, 1_000), (7, 7, 500)])), Some(750_000.0));
    }

    #[test]
    fn a_rate_is_withheld_only_beyond_ten_times_the_fastest_second() {
        assert!(is_near(Some(10_000), Some(1_000.0)));
        assert!(!is_near(Some(10_001), Some(1_000.0)));
        assert!(is_near(None, Some(1.0)) && is_near(Some(1), None));
    }
}
