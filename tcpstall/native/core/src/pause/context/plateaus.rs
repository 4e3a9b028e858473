//! Finds plateaus: flights of about one size, one after the other.

use super::super::evidence::Facts;
use super::super::pauses::{ALIKE, Context};
use super::rounds::Rounds;
use super::{mid_write, release, same_level};
use crate::time::Nanos;

/// Largest difference between flights of one plateau (1.5 segments in any case).
const PLATEAU_SHARE: f64 = 0.05;
/// Waits on one plateau that end at an ACK of less than a third, and their share, from which that is no accident. The
/// share is one in eight, because GRO at the receiver merges the other ACKs.
const DRIPS: usize = 2;
const DRIPS_SHARE: usize = 8;
/// Share of the flight below which an ACK frees no third of a buffer, percent.
const DRIP: i64 = 30;
/// Segments in flight needed for that test: of fewer, one ACK may well cover a third.
const LEAST_DRIPPING: u32 = 8;

/// Acknowledged segments after which the slowest window, CUBIC's before a loss, has grown by one (Linux `bictcp_update`).
const SLOWEST: u32 = 20;
/// Segments up to which no window leaves slow start for the delay (Linux `hystart_low_window`).
const LEAVES_SLOW_START: u32 = 16;
/// Round trips more: the one in which the window filled, and one that the ACKs of a peer may merge.
const SPARE_ROUNDS: u32 = 2;

/// Finds runs of flights of about one size, and what each run shows of the limit that held it.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    let pushes_each = mid_write::pushes_each(pauses);
    let pushes = pauses.iter().any(|pause| pause.before.pushes > 0);
    let (mut start, mut most) = (0, 0);
    while start < pauses.len() {
        let level = pauses[start].flight_at_start;
        // To writes of a few bytes a segment more is another level.
        let small = level < i64::from(pauses[start].mss);
        let segment = if small { 0.5 * level as f64 } else { 1.5 * f64::from(pauses[start].mss) };
        let slack = segment.max(PLATEAU_SHARE * level as f64) as i64;
        let length =
            pauses[start..].iter().take_while(|pause| (pause.flight_at_start - level).abs() <= slack).count().max(1);
        let plateau = middle(&pauses[start..start + length], level);
        let (mut counted, mut refills) = (Rounds::default(), Rounds::default());
        let run = &pauses[start..start + length];
        let mut before = start.checked_sub(1).map(|before| &pauses[before]);
        for pause in run {
            // A turn of the peer, or a pause of the application, fills no buffer.
            if !pause.is_turn() && !pause.fell_silent() {
                counted.add(pause);
                if before.is_some_and(|before| !before.first && !before.is_turn()) {
                    refills.add(pause);
                }
            }
            before = Some(pause);
        }
        let brims = brims(run, plateau);
        let passed = run.iter().any(Facts::went_on_by_itself);
        let late = release::are_late(run);
        // A window that follows the delay comes down and stands; no buffer shrinks.
        let shrank = most >= level + i64::from(2 * run[0].mss);
        let drips = length > DRIPS && often_drips(run) && (shrank || !stands(run)) || leave_in_small_frames(run);
        let dripping = !pushes_each && drips;
        let least = if dripping { held_with_a_short_end(run) } else { 0 };
        for (pause, context) in run.iter().zip(&mut contexts[start..]) {
            context.dripping = dripping && pause.segments_at_start >= least;
            (context.plateau, context.pushes_each, context.pushes) = (plateau, pushes_each, pushes);
            (context.plateau_rounds, context.plateau_refills) = (counted.count, refills.count);
            (context.plateau_passed, context.plateau_late) = (passed, late);
            context.brimful = brims && pause.flight_at_start == plateau && pause.released_at_once();
        }
        most = run.iter().map(|pause| pause.flight_at_start).fold(most, i64::max);
        start += length;
    }
}

/// Enough pauses of a run ended at an ACK of less than a third of the flight.
fn often_drips(run: &[Facts]) -> bool {
    let drips = run.iter().filter(|pause| drips(pause)).count();
    // In a capture out of order some waits seem to end at the first ACK of several.
    let share = if run.iter().any(|pause| pause.disorder > Nanos::ZERO) { 2 } else { DRIPS_SHARE };
    drips >= DRIPS && share * drips >= run.len() && !same_level::shrinks(run)
}

/// The run begins with few whole segments, alike to the byte for so many round trips that any congestion window had grown:
/// nothing was lost, slow start doubles it (for the delay Linux leaves that above 16 segments alone, `hystart_low_window`), and
/// CUBIC adds a segment for 20 acknowledged ones at the latest. A small stack's buffer is as small, and takes more at each ACK.
fn stands(run: &[Facts]) -> bool {
    let (level, segments) = (run[0].flight_at_start, run[0].segments_at_start.max(1));
    let alike = |pause: &&Facts| {
        let known = pause.from_start && pause.cwnd_known && pause.losses == 0 && !pause.short_segment_out;
        known && pause.flight_at_start == level && pause.released_soon() && !pause.is_turn()
    };
    let mut rounds = Rounds::default();
    run.iter().take_while(alike).for_each(|pause| rounds.add(pause));
    segments <= LEAVES_SLOW_START && rounds.count >= SPARE_ROUNDS + SLOWEST.div_ceil(segments)
}

/// Median flight of a run that begins at `level`.
fn middle(run: &[Facts], level: i64) -> i64 {
    if run.len() == 1 {
        return level;
    }
    let mut flights: Vec<i64> = run.iter().map(|pause| pause.flight_at_start).collect();
    *flights.select_nth_unstable(run.len() / 2).1
}

/// Detects a full buffer counted in bytes. Several flights at the level are equal to the byte and are not whole
/// segments, and each was filled up while a part of the one before was still in flight (a repeated message has the same
/// length each time). A congestion window counts segments and grows; a buffer does neither.
fn brims(run: &[Facts], level: i64) -> bool {
    let alike = |pause: &&Facts| {
        let parted = pause.flight_at_start == level && pause.short_segment_out && !pause.is_whole();
        parted && pause.left_in_flight > 0 && !pause.is_turn() && pause.released_at_once()
    };
    run.len() >= ALIKE && run.iter().filter(alike).count() >= ALIKE
}

/// Most flights of a plateau whose frames show it left in small frames, one for each ACK.
fn leave_in_small_frames(run: &[Facts]) -> bool {
    if run.len() < ALIKE {
        return false;
    }
    let told: Vec<bool> = run.iter().filter_map(Facts::left_in_small_frames).collect();
    let small = told.iter().filter(|small| **small).count();
    small >= ALIKE && 2 * small > told.len()
}

/// Segments that several flights of a plateau held which ended with less than a whole one; 0 where there are none. A
/// congestion window would have held as many at any time: it counts segments, whatever their size.
fn held_with_a_short_end(run: &[Facts]) -> u32 {
    let mut held: Vec<u32> =
        run.iter().filter(|pause| pause.short_segment_out).map(|pause| pause.segments_at_start).collect();
    held.sort_unstable_by(|a, b| b.cmp(a));
    held.get(ALIKE - 1).copied().unwrap_or(0)
}

/// The first ACK released data at once although it covered less than a third: each ACK makes room in a congestion window,
/// but wakes a blocked writer only once a third of the buffer is free (Linux sk_stream_write_space). Away from the
/// sender this is visible where the ACKs of a flight are further apart than the path jitters.
fn drips(pause: &Facts) -> bool {
    let acked = if pause.near_sender() { pause.acked } else { pause.acked_in_time };
    let little = acked * 100 <= pause.flight_at_start * DRIP || acked <= 2 * i64::from(pause.mss);
    let known = pause.near_sender() && pause.left_in_flight > 0 || acked > 0 && !pause.unseen.blind && !pause.held_up;
    pause.segments_at_start >= LEAST_DRIPPING && little && known && pause.released_by_ack()
}
