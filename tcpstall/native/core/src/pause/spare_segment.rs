//! Finds senders that leave just a segment of the peer's window unused: they compare the room with the MSS of the SYNs, which does
//! not count the options of each segment (RFC 6691 §2).

use super::evidence::Facts;
use super::pauses::Context;

/// Waits beside one unused segment from which that is no accident.
const OFTEN: usize = 3;
/// Waits beside one unused segment for each beside another number: windows and flights may be whole segments by chance.
const MOST: usize = 4;

/// Counts the sizes of the window at which the sender left a segment of it unused; each segment carries so many bytes of `options`.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context], options: u32) {
    // The first segment leaves, however little of the window is left beside it.
    let counts = |pause: &Facts, left: i64| left == 1 || pause.flight_at_start > i64::from(pause.mss);
    let left = |pause: &Facts| left_segments(pause, i64::from(options)).filter(|left| counts(pause, *left));
    let spares = |pause: &Facts| left(pause) == Some(1);
    let mut windows: Vec<i64> = pauses.iter().filter(|pause| spares(pause)).filter_map(|pause| pause.window).collect();
    let all = pauses.iter().filter(|pause| left(pause).is_some()).count();
    if windows.len() < OFTEN || MOST * (all - windows.len()) > windows.len() {
        return;
    }
    windows.sort_unstable();
    windows.dedup();
    for (_, context) in pauses.iter().zip(contexts).filter(|(pause, _)| spares(pause)) {
        context.spared_windows = windows.len() as u32;
    }
}

/// Whole segments of less than the MSS that the window left unused at a wait that an ACK ended; `None` where the room is no such
/// number, three segments or more, or not known.
fn left_segments(pause: &Facts, options: i64) -> Option<i64> {
    let mss = i64::from(pause.mss.max(1));
    let waited = !pause.first && pause.mss_known && pause.flight_at_start > 0 && pause.released_by_ack();
    let room = pause.room_at_start.filter(|room| waited && (0..3 * mss).contains(room))?;
    (pause.before.ends_whole(pause.mss) && room % mss < options).then_some(room / mss)
}
