//! Send buffers whose flight swings below one level instead of standing at it.

use super::super::rows::StallRow;
use super::super::rows::ceiling::{Ceiling, PLATEAU_ROUNDS};
use crate::pause::Pause;

/// Fills in the numbers of one sender's waits for its send buffer where the flight has no plateau: a blocked writer
/// wakes when a third of the buffer is free (sk_stream_write_space), so the flight may swing between two thirds of
/// the level and the level.
pub(super) fn fill_in_swing(pauses: &[(usize, Pause)], stalls: &mut [StallRow]) {
    let level = pauses.iter().map(|(_, pause)| pause.flight_at_start).max().unwrap_or(0);
    let swings = |pause: &Pause| pause.flight_at_start * 3 >= level * 2;
    let told = pauses.iter().any(|(row, _)| stalls[*row].evidence.rare.has(|rare| rare.ceiling != Ceiling::default()));
    if told || pauses.iter().filter(|(_, pause)| swings(pause)).count() < PLATEAU_ROUNDS {
        return;
    }
    for (row, pause) in pauses.iter().filter(|(_, pause)| swings(pause)) {
        let rare = stalls[*row].evidence.rare.get_mut();
        rare.plateau_bytes = Some(level as u64);
        rare.ceiling = Ceiling::at_level(pause, level);
    }
}
