//! `capture-gap` — the packets that would tell what happened are not in the capture.
//!
//! Rule      a paste leaves lines out inside the pause; or data was acknowledged during it that the tap never saw; or more
//!           bytes are missing before the data that ended it than any window allows to be under way
//! Evidence  `last_packet` before the hole, `next_packet` after it; details `left-out` (by a paste), `acked-unseen`, `unseen`
//! Source    tcpdump(1): packets dropped by kernel; `......` in a paste stands for lines left out
//! Abstains  never
//! Looks like `app-limited` (a gap in the capture is no pause of the sender), `retransmission` (a hole at a tap behind a loss)

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::rule::{Rule, Verdict, yes};
use crate::pause::Pause;

pub(super) const RULE: Rule = Rule { cause: Cause::CaptureGap, judge };

fn judge(pause: &Pause, _: &Limits) -> Verdict {
    if pause.left_out.is_some() {
        return yes(details::LEFT_OUT, 0.99);
    }
    // Packets that the network lost, and the byte of a window probe, are missing from the capture too.
    let otherwise = pause.retransmissions > 0 || pause.loss_hints > 0 || pause.closed.is_some();
    // Data that was acknowledged within a round trip left with the burst before, so the wait is real.
    let round_trip = pause.srtt.unwrap_or_default().max(pause.rtt());
    let sent_inside = pause.unseen.tail_acked.is_some_and(|acked| acked - pause.start() > round_trip.scaled(1.5));
    if sent_inside && !otherwise {
        return yes(details::ACKED_UNSEEN, 0.8);
    }
    // More bytes are missing before the next data than the window allows: they were sent and acknowledged outside the
    // capture.
    if pause.largest_window > 0 && pause.hole_before > pause.largest_window {
        return yes(details::UNSEEN, 0.8);
    }
    Verdict::No
}
