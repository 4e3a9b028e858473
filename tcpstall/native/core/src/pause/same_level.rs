//! Flights alike to the byte were held by the same limit: what one plateau shows of it holds for the others of the flow.

use super::evidence::Facts;
use super::pauses::Context;

/// Flights of whole segments at one level from which that level is a limit's.
const ALIKE: usize = 3;

/// Finds pauses away from the sender at the level of a plateau on which ACKs of almost nothing released data. There the
/// ACKs of a flight are told apart only while the path is steady; the window is the same while it is not.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    let whole = |pause: &Facts| !pause.near_sender() && !pause.short_segment_out && pause.flight_at_start > 0;
    let mut levels: Vec<i64> = pauses
        .iter()
        .zip(&*contexts)
        .filter(|(pause, context)| context.dripping && whole(pause))
        .map(|(pause, _)| pause.flight_at_start)
        .collect();
    if levels.len() < ALIKE {
        return;
    }
    levels.sort_unstable();
    let often = |level: i64| {
        let first = levels.partition_point(|other| *other < level);
        levels.get(first + ALIKE - 1) == Some(&level)
    };
    for (pause, context) in pauses.iter().zip(contexts).filter(|(pause, _)| whole(pause)) {
        context.dripping |= often(pause.flight_at_start);
    }
}
