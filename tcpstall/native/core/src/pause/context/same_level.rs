//! Flights alike to the byte were held by the same limit: what one plateau shows of it holds for the others of the flow.

use super::super::evidence::Facts;
use super::super::pauses::Context;

/// Flights of whole segments at one level from which that level is a limit's.
const ALIKE: usize = 3;
/// Smaller flights of a run from which it is no congestion window.
const SMALLER: usize = 2;

/// Finds pauses away from the sender at the level of a plateau on which ACKs of less than a third released data. There the
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

/// At the sender flights of a run are smaller by a segment or more than one before them, although nothing was lost: no
/// congestion window shrinks then (RFC 5681 §3.1), and frames of one segment show that none was deferred (Linux
/// `tcp_tso_should_defer`). The rest of a full buffer is less than a segment, and a writer wakes for less than a third of it.
pub(super) fn shrinks(run: &[Facts]) -> bool {
    let single = |pause: &Facts| pause.before.bytes <= pause.before.frames * u64::from(pause.mss);
    if !run.iter().all(|pause| pause.near_sender() && pause.losses == 0 && single(pause)) {
        return false;
    }
    let (mut most, mut smaller) = (0, 0);
    for pause in run.iter().filter(|pause| !pause.short_segment_out) {
        smaller += usize::from(pause.segments_at_start < most);
        most = most.max(pause.segments_at_start);
    }
    smaller >= SMALLER
}
