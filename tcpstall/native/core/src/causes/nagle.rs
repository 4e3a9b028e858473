//! `nagle` — a small segment was held until earlier data was acknowledged.
//!
//! Rule      a sub-MSS segment was unacknowledged, and: an ACK covered it and one sub-MSS segment went out alone; or a burst had
//!           ended with a full segment, so that what was left of the write is held, until the next write took it along
//!           (`tail-held`); or a sender that writes less than a segment at a time filled one up (`filled-up`); or the short end of
//!           a write left alone, at the ACK after which nothing was out, with room in both windows before (`write-tail`)
//! Evidence  `in_flight_bytes`, `burst_bytes`
//! Source    RFC 9293 §3.7.4, RFC 896; Linux `tcp_nagle_check` with Minshall's rule; 4.4BSD `tcp_output`
//! Abstains  never
//! Looks like `delayed-ack` (the ACK came late on purpose), `app-limited` (a reply of the peer came between), `cwnd-limited` (one byte beyond a full window)

use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Proof, Rule, Verdict, is_blurred, yes};
use crate::gap::{Gap, SOON};

pub(super) const RULE: Rule = Rule { cause: Cause::Nagle, judge };

fn judge(gap: &Gap, limits: &Limits) -> Verdict {
    if let Some(proof) = tail_waited(gap, limits) {
        return Verdict::Yes(proof);
    }
    if !gap.short_segment_out || gap.peer_bytes > 0 || !gap.ended {
        return Verdict::No;
    }
    let (mss, first) = (u64::from(gap.mss), gap.after.clump.first_bytes);
    // Where packets are stored late, segments that left together may seem to have left one after the other.
    let alone = u64::from(gap.after.first_frame) == first && (!is_blurred(gap) || gap.after.frames == 1);
    let small_alone = alone && first < mss;
    if !gap.short_segment_left && small_alone && gap.released_by_ack() {
        // Held data is in the send buffer. A full send buffer may have had no room for more than this, or each write is
        // this long.
        return yes("", if gap.context.brimful { 0.6 } else { 0.85 });
    }
    let held = !gap.near_sender() && gap.context.traits.second_held.learnt().is_some();
    if held
        && !gap.short_segment_left
        && small_alone
        && gap.after_ack().is_some_and(|span| span <= gap.rtt().scaled(SOON))
    {
        // Rests on the sender's habit: this segment came soon after the ACK on a path that jitters.
        return yes("", 0.75);
    }
    let open = gap.room_at_start.is_none_or(|room| room >= i64::from(gap.mss)) && gap.segments_at_start < gap.cwnd;
    if !gap.short_segment_left || !open {
        return Verdict::No;
    }
    match (may_hold_tail(gap) && !gap.released_at_once(), gap.context.small_writes && first == mss) {
        (true, _) => yes("tail-held", 0.7),
        (false, true) => yes("filled-up", 0.7),
        (false, false) => Verdict::No,
    }
}

/// The short end of a write left alone and only when nothing else was outstanding, although neither the congestion
/// window nor the send buffer held it: RFC 896 holds it back behind any outstanding data.
fn tail_waited(gap: &Gap, limits: &Limits) -> Option<Proof> {
    let read = &gap.context.read;
    let full = gap.cwnd_known && f64::from(gap.segments_held) >= FULL * f64::from(gap.cwnd);
    // One flight per answer is no plateau: a buffer of that size shows round after round of the same answer.
    let stands = gap.context.plateau_refills >= limits.plateau_rounds && gap.context.traits.nagle.learnt().is_none();
    // A cap on bursts cuts every answer at the same place, after more than one or two segments.
    let capped = gap.context.turns_cut_alike >= limits.cut_turns && gap.segments_at_start > FEWEST;
    // Away from the sender all ACKs of a flight precede the data that each of them released.
    let blurred = !gap.near_sender() && gap.context.traits.nagle.times == 0;
    let grows = gap.context.cut_grows || blurred;
    if !read.tail_held || grows || gap.peer_bytes > 0 || full || stands || capped || read.climb > 0 && gap.near_sender()
    {
        return None;
    }
    let confidence = match gap.context.traits.nagle.times {
        0 => 0.6,
        1 => 0.75,
        _ => 0.85,
    };
    // Without the handshake the segment size is a guess.
    let confidence = if gap.from_start { confidence } else { f32::min(confidence, 0.75) };
    Some(Proof { detail: "write-tail", confidence })
}

/// Fewest segments that a cap on bursts releases (RFC 5681 §4.1 and RFC 3390: an initial window of two to four).
const FEWEST: u32 = 2;

/// Share of the modelled window from which the congestion window may have held the tail.
const FULL: f64 = 0.85;

/// A short segment is outstanding and whole segments left last: the rest of the write is held until an ACK or the next
/// write.
pub(super) fn may_hold_tail(gap: &Gap) -> bool {
    gap.short_segment_left && gap.before.ends_whole(gap.mss)
}
