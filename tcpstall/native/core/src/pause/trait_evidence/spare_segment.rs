//! Finds senders that leave just a segment of the peer's window unused: they compare the room with the MSS of the SYNs, which does
//! not count the options of each segment (RFC 6691 §2).

use super::super::evidence::Facts;
use super::super::pauses::Context;

/// Waits beside one unused segment from which that is no accident.
const OFTEN: usize = 3;
/// Waits beside one unused segment for each beside another number: windows and flights may be whole segments by chance.
const MOST: usize = 4;

/// Counts the sizes of the window at which the sender left a segment of it unused; each segment carries so many bytes of `options`.
pub(in super::super) fn find(pauses: &[Facts], contexts: &mut [Context], options: u32) {
    let left = |pause: &Facts| left_segments(pause, i64::from(options));
    let (mut windows, mut others) = (Vec::new(), 0);
    for pause in pauses {
        match left(pause) {
            Some(1) => windows.extend(pause.window),
            Some(_) => others += 1,
            None => {}
        }
    }
    if windows.len() < OFTEN || MOST * others > windows.len() {
        return;
    }
    windows.sort_unstable();
    windows.dedup();
    for (_, context) in pauses.iter().zip(contexts).filter(|(pause, _)| left(pause) == Some(1)) {
        context.spared_windows = windows.len() as u32;
    }
}

/// Whole segments of less than the MSS that the window left unused at a wait that an ACK ended; `None` where the room is no such
/// number, three segments or more, or not known.
fn left_segments(pause: &Facts, options: i64) -> Option<i64> {
    let mss = i64::from(pause.mss.max(1));
    let room = pause.room_at_start.filter(|room| (0..3 * mss).contains(room) && room % mss < options)?;
    let waited = !pause.first && pause.mss_known && pause.flight_at_start > 0 && pause.before.ends_whole(pause.mss);
    // The first segment leaves, however little of the window is left beside it.
    let counts = room / mss == 1 || pause.flight_at_start > mss;
    (waited && counts && pause.released_by_ack()).then_some(room / mss)
}
