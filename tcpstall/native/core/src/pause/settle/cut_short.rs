//! Short segments that a window cut, from a sender that marks the end of its data.
//!
//! PSH is on the segment that ends the data which the sender has (RFC 9293 §3.9.1.2). A window that is counted in bytes (the
//! peer's, or a congestion window: RFC 5681 §2) leaves room for less than a segment, and a sender that fills that room
//! goes on with a short segment without PSH. Such a segment is no end of a write: neither had the sender sent all, nor
//! does Nagle's algorithm hold anything back behind it. A send buffer that is full in the middle of a write ends with such a
//! segment too (lwIP's `tcp_write` leaves PSH out then), but at the same flight each round trip, and a congestion window that
//! counts bytes grows with each.

use super::super::evidence::Facts;
use super::some::replace_some;
use crate::time::Nanos;

/// Round trips after which flights alike to the byte are no growing window's: a window in congestion avoidance grows once a round
/// trip (RFC 5681 §3.1), and two flights alike may be one whose ACKs were lost.
const STANDS: usize = 4;

/// Different flights compared: a buffer has one size, and fills up to a few.
const LEVELS: usize = 64;

/// Clears the mark of a short segment at pauses where windows had cut all that were out.
pub(super) fn settle(pauses: Vec<Facts>) -> Vec<Facts> {
    // A burst that ended with PSH was all that the sender had, whatever cut the segments before.
    let cut = |pause: &Facts| pause.short_segment_out && pause.short_only_cut && !pause.before.pushed;
    if !pauses.iter().any(cut) || !marks_ends(&pauses) {
        return pauses;
    }
    let standing = standing(pauses.iter().filter(|pause| cut(pause)));
    let grows = |pause: &Facts| cut(pause) && !(has_room(pause) && standing.contains(&pause.flight_at_start));
    replace_some(pauses, grows, |pause| Facts {
        short_segment_out: false,
        short_segment_left: false,
        cut_short: !pause.before.ends_whole(pause.mss),
        ..pause
    })
}

/// The peer's window had room for a segment.
fn has_room(pause: &Facts) -> bool {
    pause.has_room() == Some(true) && pause.closed.is_none()
}

/// Flights, bytes, that stood to the byte over several round trips although the peer's window had room.
fn standing<'a>(cut: impl Iterator<Item = &'a Facts>) -> Vec<i64> {
    let mut levels: Vec<(i64, usize, Nanos)> = Vec::new();
    for pause in cut.filter(|pause| has_room(pause)) {
        levels.truncate(LEVELS);
        match levels.iter_mut().find(|(flight, ..)| *flight == pause.flight_at_start) {
            Some((_, rounds, last)) if pause.start() - *last >= pause.rtt().part(2) => {
                (*rounds, *last) = (*rounds + 1, pause.start());
            }
            Some(_) => {}
            None => levels.push((pause.flight_at_start, 1, pause.start())),
        }
    }
    levels.into_iter().filter(|(_, rounds, _)| *rounds >= STANDS).map(|(flight, ..)| flight).collect()
}

/// Some segment carries PSH, and no end of data lacks it: data that ended with a short segment, before the peer answered
/// or the sender fell silent.
fn marks_ends(pauses: &[Facts]) -> bool {
    let marked = pauses.iter().any(|pause| pause.before.pushes > 0 || pause.after.pushes > 0);
    let ends = |pause: &Facts| pause.is_turn() || pause.fell_silent();
    let short = |pause: &Facts| !pause.first && !pause.before.ends_whole(pause.mss) && !pause.before.pushed;
    marked && !pauses.iter().any(|pause| ends(pause) && short(pause) && pause.retransmissions == 0)
}

impl Facts {
    /// The flight is a whole number of full segments.
    pub(in super::super) fn is_whole(&self) -> bool {
        self.flight_at_start % i64::from(self.mss.max(1)) == 0
    }

    /// The flight is of frames of one size, although that is none that the SYNs announced.
    pub(in super::super) fn is_even(&self) -> bool {
        let (burst, frame) = (&self.before, i64::from(self.before.first_frame));
        frame > 0
            && burst.frames > 1
            && burst.bytes as i64 == frame * burst.frames as i64
            && self.flight_at_start % frame == 0
    }
}
