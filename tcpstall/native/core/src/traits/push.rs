//! PSH: a sender that marks the end of its data had more to send after a segment without the mark.
//!
//! Prior     no segment shows whether more data was queued
//! Evidence  segments with PSH; against it: an end of data without PSH (the peer answered next, or the last segment was
//!           short and no ACK released more: a window counted in bytes cuts segments too)
//! Learnt    once two segments carried PSH, and no end of data lacked it
//! Source    RFC 9293 §3.9.1.2: the last buffered segment must carry PSH; 4.4BSD `tcp_output` sets it on the segment that
//!           empties the buffer, Linux `tcp_push` on the last segment of each write

use super::{BurstAndPause, Observed, Tail};

/// Counts the segments with PSH; 0 where an end of data lacked it.
pub(super) fn learn(rounds: &[BurstAndPause]) -> Observed<bool> {
    let bursts = || rounds.iter().filter(|round| !round.no_burst);
    let ends = |round: &&BurstAndPause| {
        !round.disturbed && (round.answered || round.tail != Tail::Whole && !round.is_released())
    };
    let unmarked = bursts().filter(ends).any(|round| !round.pushed);
    let marked = rounds.iter().map(|round| round.pushes).sum();
    Observed::of(true, if unmarked { 0 } else { marked })
}
