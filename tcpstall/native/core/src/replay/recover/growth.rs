//! Infers how a receiver that tunes its window lets it grow.

use super::Arrivals;
use crate::replay::model::NEXT_ROUND;
use crate::replay::setup::{LARGEST_WINDOW, WindowGrowth, WindowOpening};
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::time::Nanos;

/// Growth per byte of a round trip that starts or goes on growing.
const GROWS: f64 = 0.7;
/// Growth per byte that shows tuning; Linux tcp_grow_window gives two.
const SLOPE: std::ops::RangeInclusive<f64> = 1.0..=3.0;
/// Part of the data at whose end the window no longer grew, if its largest value is the receiver's limit.
const LAST: f64 = 0.7;
/// Longest wait of a window for its reader, as a share of the round trip, that is not a reader's pause.
const READ_AT_ONCE: f64 = 0.25;

/// Growth of the windows of one end, by the times when its peer's data of segments of `mss` arrived.
pub(super) fn growth(openings: &[WindowOpening], heard: &Arrivals, mss: i64, rtt: Nanos) -> Option<WindowGrowth> {
    if openings.iter().any(|opening| opening.after > rtt.scaled(READ_AT_ONCE)) {
        return None;
    }
    let window = |opening: &WindowOpening| opening.edge - opening.arrived;
    let at = |arrived: i64| {
        let after = openings.partition_point(|opening| opening.arrived <= arrived);
        openings.get(after.checked_sub(1)?).map(window)
    };
    let rounds = rounds(heard, rtt);
    let slope = |round: &(i64, i64)| {
        let (from, to) = *round;
        Some((at(to)? - at(from)?) as f64 / (to - from) as f64)
    };
    let starts = (1..rounds.len()).find(|next| slope(&rounds[*next]).is_some_and(|slope| slope >= GROWS))?;
    let (before, after) = rounds.split_at(starts);
    let steepest = after.iter().take(2).filter_map(slope).fold(0.0, f64::max);
    let ((.., start), earlier) = before.split_last()?;
    if !SLOPE.contains(&steepest) {
        return None;
    }
    let least = i64::from(INITIAL_WINDOW) * mss;
    let first = openings.iter().filter(|opening| opening.arrived <= *start).map(window).max()?;
    // Linux tcp_init_buffer_space: ten segments, or the window where that is smaller.
    let least = least.min(first - 2 * mss);
    let enough = earlier.iter().map(|(from, to)| to - from).max().unwrap_or(0).max(least);
    // Else no round trip of the replay could bring enough.
    if enough >= first / mss * mss {
        return None;
    }
    let largest = openings.iter().map(window).max()?;
    let last = openings.last()?.arrived;
    let reached = openings.iter().find(|opening| window(opening) >= largest - mss)?.arrived;
    let most = if (reached as f64) < LAST * last as f64 { largest } else { largest.max(LARGEST_WINDOW) };
    Some(WindowGrowth { first, enough, slope: steepest, most })
}

/// Data of each round trip: everything that had arrived before it, and at its end.
fn rounds(heard: &Arrivals, rtt: Nanos) -> Vec<(i64, i64)> {
    let (mut rounds, mut last) = (Vec::new(), 1);
    let mut round: Option<(Nanos, i64)> = None;
    for (end, time) in heard.iter() {
        let (begin, from) = *round.get_or_insert((time, last));
        if time - begin >= rtt.scaled(NEXT_ROUND) {
            rounds.push((from, last));
            round = Some((time, last));
        }
        last = end;
    }
    rounds.extend(round.map(|(_, from)| (from, last)).filter(|(from, last)| last > from));
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Nanos = Nanos::from_millis(20);
    const MSS: i64 = 1_000;

    /// Growth of a window with these sizes at the ends of flights, a round trip each.
    fn grown_at(ends: [i64; 4], windows: [i64; 4]) -> Option<WindowGrowth> {
        let heard: Vec<_> = ends.into_iter().zip(1..).map(|(end, round)| (end, RTT.times(round))).collect();
        let opening = |(arrived, window)| WindowOpening { arrived, edge: arrived + window, after: Nanos::ZERO };
        let openings: Vec<_> = ends.into_iter().zip(windows).map(opening).collect();
        growth(&openings, &Arrivals::listed(&heard), MSS, RTT)
    }

    /// The same for flights of 10, 20, 40 and 80 segments.
    fn grown(windows: [i64; 4]) -> Option<WindowGrowth> {
        grown_at([10_001, 30_001, 70_001, 150_001], windows)
    }

    #[test]
    fn two_bytes_for_each_are_a_tuned_window() {
        let growth = grown([64_000, 64_000, 144_000, 304_000]).expect("it grows");
        assert_eq!((growth.first, growth.enough, growth.slope), (64_000, 10 * MSS, 2.0));
        assert!(growth.most > 304_000);
    }

    #[test]
    fn a_round_trip_that_started_no_growth_shows_how_much_it_takes() {
        let growth = grown([64_000, 64_000, 64_000, 224_000]).expect("it grows");
        assert_eq!((growth.first, growth.enough), (64_000, 20 * MSS));
    }

    #[test]
    fn a_first_window_below_ten_segments_is_enough() {
        let growth = grown_at([8_001, 16_001, 32_001, 64_001], [8_000, 16_000, 32_000, 64_000]).expect("it grows");
        assert_eq!((growth.first, growth.enough), (8_000, 6 * MSS));
    }

    #[test]
    fn growth_that_no_full_window_starts_is_not_replayed_by_rounds() {
        assert_eq!(grown_at([12_001, 24_001, 36_001, 60_001], [12_000, 12_000, 24_000, 72_000]), None);
    }

    #[test]
    fn a_fixed_window_is_not_tuned() {
        assert_eq!(grown([64_000; 4]), None);
    }
}
