//! Short segments that a window cut, from a sender that marks the end of its data.
//!
//! PSH is on the segment that ends the data which the sender has (RFC 9293 §3.9.1.2). A window that is counted in bytes (the
//! peer's, or a congestion window: RFC 5681 §2) leaves room for less than a segment, and a sender that fills that room
//! goes on with a short segment without PSH. Such a segment is no end of a write: neither had the sender sent all, nor
//! does Nagle's algorithm hold anything back behind it.

use super::evidence::Facts;
use super::some::replace_some;

/// Clears the mark of a short segment at pauses where windows had cut all that were out.
pub(super) fn settle(pauses: Vec<Facts>) -> Vec<Facts> {
    // A burst that ended with PSH was all that the sender had, whatever cut the segments before.
    let cut = |pause: &Facts| pause.short_segment_out && pause.short_only_cut && !pause.before.pushed;
    if !pauses.iter().any(cut) || !marks_ends(&pauses) {
        return pauses;
    }
    replace_some(pauses, cut, |pause| Facts {
        short_segment_out: false,
        short_segment_left: false,
        cut_short: !pause.before.ends_whole(pause.mss),
        ..pause
    })
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
    pub(super) fn is_whole(&self) -> bool {
        self.flight_at_start % i64::from(self.mss.max(1)) == 0
    }

    /// The flight is of frames of one size, although that is none that the SYNs announced.
    pub(super) fn is_even(&self) -> bool {
        let (burst, frame) = (&self.before, i64::from(self.before.first_frame));
        frame > 0
            && burst.frames > 1
            && burst.bytes as i64 == frame * burst.frames as i64
            && self.flight_at_start % frame == 0
    }
}
