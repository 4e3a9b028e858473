//! `nagle` — a small segment was held until earlier data was acknowledged.
//!
//! Rule      a sub-MSS segment was unacknowledged, and: an ACK covered it and one sub-MSS segment went out alone; or a burst had
//!           ended with a full segment, so that what was left of the write is held, until the next write took it along
//!           (`tail-held`, of a sender with few segments in flight); or a sender that writes less than a segment at a time filled
//!           one of known size up (`filled-up`; where many are in flight, not at an ACK, which lets whole segments go by itself);
//!           or the short end of a write left alone, at the ACK after which nothing was out, with room in both windows before, if
//!           only since an earlier ACK (`write-tail`); or an application writes on a beat, and only whole segments leave while data
//!           is out; or, before anything showed a loss, ACKs of whole segments without PSH released nothing, and the short end left
//!           alone once the loss was repaired (`write-tail`); or, from a sender that holds the end of each write behind any data, a
//!           whole segment stayed unacknowledged until the next write (`tail-held`). Not with more than one short segment in
//!           flight: their sender holds none back; but where each of these left behind a whole one, a short one that left alone at
//!           the ACK after which nothing was out had been held
//! Evidence  `in_flight_bytes`, `burst_bytes`
//! Source    RFC 9293 §3.7.4, RFC 896; Linux `tcp_nagle_check` with Minshall's rule; 4.4BSD and XNU `tcp_output`
//! Abstains  where the short segment carries the FIN; where payload or the FIN of the peer reached the sender between its last data
//!           and its next, as the ACK did, the wait is `app-limited`, and this cause is also possible; unsure where the short
//!           segment lacks PSH, where writes of one size follow each other, because the next may have come late in the wait, where
//!           the data followed the ACK, at the sender, by more than a quarter of the wait, where this sender had several short
//!           segments in flight before, after a timeout that the tap saw only as a silence, and where the modelled congestion window
//!           was full until late in the wait: stacks ask the window first
//! Looks like `delayed-ack` (the ACK came late on purpose), `app-limited` (a reply of the peer came between), `cwnd-limited` (one byte beyond a full window)

use super::cause::Cause;
use super::details;
use super::limits::Limits;
use super::rule::{Proof, Rule, Verdict, is_blurred, yes};
use crate::pause::{Pause, Trigger};
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::time::Nanos;
use crate::traits::{Nagle, Observed};

pub(super) const RULE: Rule = Rule { cause: Cause::Nagle, judge };

fn judge(pause: &Pause, limits: &Limits) -> Verdict {
    if does_not_hold(pause) {
        return if holds_behind_short(pause) { yes("", 0.7) } else { Verdict::No };
    }
    if let Some(proof) = tail_waited(pause, limits) {
        return Verdict::Yes(proof);
    }
    // Once may be an accident: a probe takes a held write along.
    let once = pause.context.traits.nagle.value == Some(Nagle::Nothing);
    // The ACK lets go what was held: what came later than half of the wait after it may have been written only then. At the
    // sender, where the ACK is seen as the sender sees it, so may what came a quarter later.
    let after = pause.after_ack().unwrap_or_default();
    let late = after + after > pause.duration();
    let rather_late = pause.near_sender() && after.times(QUARTER) > pause.duration();
    // The end of what is queued carries PSH (RFC 9293 §3.9.1.2): without it a window may have cut the segment short.
    let unmarked = !pause.after.first_pushed;
    let most = if late {
        LATE
    } else if rather_late || once || unmarked || may_be_full(pause) {
        UNSURE
    } else {
        1.0
    };
    if holds_beat(pause) {
        return yes(details::TAIL_HELD, 0.7);
    }
    if holds_rest(pause) {
        // Where PSH marks the end of data, a segment without it shows that the rest was there.
        return yes(details::TAIL_HELD, if pause.in_mid_write() { 0.75 } else { 0.6 });
    }
    if !pause.short_segment_out || pause.peer_bytes > 0 || !pause.ended {
        return Verdict::No;
    }
    let (mss, first) = (u64::from(pause.mss), pause.after.clump.first_bytes);
    // Where packets are stored late, segments that left together may seem to have left one after the other.
    let alone = u64::from(pause.after.first_frame) == first && (!is_blurred(pause) || pause.after.frames == 1);
    let small_alone = alone && first < mss;
    if small_alone && closed_with_it(pause) {
        return Verdict::No;
    }
    if !pause.short_segment_left && small_alone && pause.released_by_ack() {
        // Held data is in the send buffer. A full send buffer may have had no room for more than this, or each write is
        // this long. So may a buffer of less than a segment, whose content leaves again and again as one segment.
        let alike = pause.context.plateau_rounds >= limits.plateau_rounds
            && pause.flight_at_start == pause.context.plateau
            && pause.after.clump.first_bytes == pause.before.bytes
            && pause.left_in_flight == 0;
        // Amid a bulk transfer the short segment's own ACK may have come long before the one that this data followed.
        let bulk = pause.left_in_flight > 0 && (pause.segments_at_start > INITIAL_WINDOW || refills(pause));
        return yes(
            "",
            match (pause.context.brimful || bulk, alike) {
                (true, _) => 0.6,
                (false, true) => 0.75,
                (false, false) => most.min(if repeats_write(pause) { 0.75 } else { 0.85 }),
            },
        );
    }
    let by_habit = !pause.near_sender() && pause.context.traits.second_held.learnt().is_some();
    if by_habit && !pause.short_segment_left && small_alone && pause.followed_soon() {
        // Rests on the sender's habit: this segment came soon after the ACK on a path that jitters.
        return yes("", 0.75);
    }
    let open =
        pause.room_at_start.is_none_or(|room| room >= i64::from(pause.mss)) && pause.segments_at_start < pause.cwnd;
    if !pause.short_segment_left || !open {
        return Verdict::No;
    }
    // Many segments out, or a loss among them, are a bulk sender's, unless it writes on a beat: a window or a buffer made
    // it wait.
    let few = pause.segments_at_start <= INITIAL_WINDOW || pause.context.small_writes || pause.context.on_beat;
    let held = may_hold_tail(pause) && !pause.released_at_once() && few && pause.loss_hints == 0;
    // Amid many segments in flight an ACK lets a whole one go, whatever the application wrote. The largest write so far
    // looks like a full segment where nothing else shows how large these are.
    let written = pause.segments_at_start <= INITIAL_WINDOW || !pause.released_at_once();
    let whole = pause.mss_known && first == mss;
    match (held, pause.context.small_writes && whole && written) {
        (true, _) => yes(details::TAIL_HELD, 0.7),
        (false, true) => yes(details::FILLED_UP, 0.7),
        (false, false) => Verdict::No,
    }
}

/// More than one short segment was in flight, now or often before: the sender had sent one while another was unacknowledged,
/// as with TCP_NODELAY. Each variant of the algorithm allows one at most.
pub(super) fn does_not_hold(pause: &Pause) -> bool {
    let learnt = pause.context.traits.nagle.learnt();
    if pause.has_several_short() || matches!(learnt, Some(Nagle::Nothing | Nagle::ShortBefore)) {
        return true;
    }
    let full = i64::from(pause.mss) - MOST_OPTIONS;
    let others = i64::from(pause.segments_at_start) - 1;
    pause.mss_known && !pause.flight_unknown && others > 0 && pause.flight_at_start < others * full
}

/// Short segments left behind whole ones only, as Darwin lets them, or as the algorithm is off. One more left alone at the ACK
/// after which nothing was out: the one before it was short, so Darwin held this one until then.
fn holds_behind_short(pause: &Pause) -> bool {
    let shown = pause.has_several_short() || pause.context.traits.nagle.learnt() == Some(Nagle::ShortBefore);
    let off = pause.has_short_behind_short() || pause.context.traits.nagle.learnt() == Some(Nagle::Nothing);
    let first = pause.after.clump.first_bytes;
    let alone = u64::from(pause.after.first_frame) == first && first < u64::from(pause.mss) && !is_blurred(pause);
    let waited = pause.released_by_ack() && pause.left_in_flight == 0 && pause.peer_bytes == 0;
    let ends_short = pause.short_segment_out && pause.before.last_frame < pause.mss;
    shown && !off && alone && waited && ends_short
}

/// The short segment left with the FIN, at an ACK: a sender that closes holds nothing back (RFC 9293 §3.7.4), so the end was written,
/// or got room, only then.
fn closed_with_it(pause: &Pause) -> bool {
    pause.after.closes && pause.after.frames == 1
}

/// What the ACK let go is as long as what it covered, to the byte, behind whole segments: the room that it made in a full buffer.
fn refills(pause: &Pause) -> bool {
    pause.acked == pause.after.clump.first_bytes as i64 && pause.segments_at_start > FEWEST
}

/// What the ACK let go and the write before it are of one size, or several such writes: these come at times of their own, and
/// this one may have come late in the wait.
pub(super) fn repeats_write(pause: &Pause) -> bool {
    let (write, next) = (u64::from(pause.before.last_frame).max(1), pause.after.clump.first_bytes.max(1));
    next.is_multiple_of(write) || write.is_multiple_of(next)
}

/// The last frame lacks no more of whole segments than TCP options take: its segments may be full ones.
pub(super) fn may_be_full(pause: &Pause) -> bool {
    let (frame, mss) = (i64::from(pause.before.last_frame), i64::from(pause.mss.max(1)));
    let segments = (frame + mss - 1) / mss;
    frame > 0 && segments * mss - frame <= segments * MOST_OPTIONS && frame % mss != 0
}

/// Confidence where the short segment may be a full one, or where the sender once held none back.
pub(super) const UNSURE: f32 = 0.75;

/// Divisor of the wait: a write that comes by chance follows the ACK by less in one wait of four.
pub(super) const QUARTER: i64 = 4;

/// Confidence where most of the wait came after the ACK.
const LATE: f32 = 0.6;

/// Largest size of TCP options, bytes: segments shorter than the MSS by less may be full ones (RFC 9293 §3.1).
const MOST_OPTIONS: i64 = 40;

/// The short end of a write left alone and only when nothing else was outstanding, although neither the congestion
/// window nor the send buffer held it: RFC 896 holds it back behind any outstanding data.
fn tail_waited(pause: &Pause, limits: &Limits) -> Option<Proof> {
    let read = &pause.context.read;
    // Otherwise a window, a buffer or a cap may have held it.
    let let_room_pass = pause.let_room_pass();
    let full = pause.cwnd_known && f64::from(pause.segments_held) >= NEARLY_FULL * f64::from(pause.cwnd);
    // One flight per answer is no plateau: a buffer of that size shows round after round of the same answer.
    let stands = pause.context.plateau_refills >= limits.plateau_rounds
        && pause.context.traits.nagle.learnt().is_none()
        && !read.tail_ends;
    // A cap on bursts cuts every answer at the same place, after more than one or two segments.
    let capped = pause.context.turns_cut_alike >= limits.cut_turns && pause.segments_at_start > FEWEST;
    // Away from the sender all ACKs of a flight precede the data that each of them released.
    let tails = match pause.context.traits.nagle {
        Observed { value: Some(Nagle::AnyData), times } => times,
        _ => 0,
    };
    let blurred = !pause.near_sender() && tails == 0 && !read.tail_ends;
    let climbs = pause.context.cut_grows || read.climb > 0 && pause.near_sender();
    let limited = !let_room_pass && (full || stands || capped || climbs);
    if !read.tail_held || limited || blurred || pause.peer_bytes > 0 {
        return None;
    }
    let confidence = match tails {
        0 => 0.6_f32,
        1 => 0.75,
        _ => 0.85,
    };
    // Without the handshake the segment size is a guess.
    // After a timeout the window, which the model does not know, may have held the tail.
    let sure = pause.from_start && !pause.context.after_timeout;
    let confidence = if sure && !window_held(pause) { confidence } else { confidence.min(UNSURE) };
    Some(Proof { detail: details::WRITE_TAIL, confidence })
}

/// The modelled window was full to the segment until late in the wait. Stacks ask the window first (Linux `tcp_write_xmit`, 4.4BSD
/// `tcp_output`), so the algorithm can have held the tail only since an ACK made room.
fn window_held(pause: &Pause) -> bool {
    let full = pause.cwnd_known && pause.losses == 0 && pause.segments_at_start >= pause.cwnd;
    full && pause.room_since.is_some_and(|since| (pause.end - since).times(2) < pause.duration())
}

/// An application writes on a beat, and yet whole segments leave while earlier ones are outstanding: RFC 896 holds the rest of
/// each write until the next write fills a segment up. Minshall's variant lets the rest leave, because no short segment is out.
fn holds_beat(pause: &Pause) -> bool {
    let any_data = pause.context.traits.nagle.value != Some(Nagle::ShortOnly);
    pause.context.beat && any_data && !pause.short_segment_out && pause.peer_bytes == 0
}

/// A whole segment stayed unacknowledged until the next write came, from a sender that holds the short end of each write
/// behind any data (RFC 896): the end of this write waited as well, and left within the next one.
fn holds_rest(pause: &Pause) -> bool {
    let any_data = pause.context.traits.nagle.learnt() == Some(Nagle::AnyData);
    let rests = pause.ended && pause.left_in_flight > 0 && !pause.released_by_ack() && pause.peer_bytes == 0;
    let open = pause.has_room() != Some(false) && pause.segments_held < pause.cwnd;
    let marked = pause.context.traits.push.learnt().is_some() && pause.before.pushed;
    let whole = pause.before.ends_whole(pause.mss) && !marked;
    any_data && rests && open && whole && !pause.recovering && pause.hole.is_none()
}

/// Time until which nothing but the held end of a write made the sender wait, where a loss then stretched the wait: ACKs of the
/// flight came and released nothing, although both windows had room and more was queued, as missing PSH shows; once all was
/// acknowledged, a short segment left alone. Until a report of the loss, or the last ACK before the timer, no loss was known.
pub(super) fn held_until_repair(pause: &Pause) -> Option<Nanos> {
    let repair = pause.repair.as_deref()?;
    let first = repair.attempts.first()?;
    let until = match first.trigger {
        Trigger::Fast => first.time,
        Trigger::Timeout | Trigger::TailProbe => first.time - first.waited,
        Trigger::Unseen => return None,
    };
    let known = pause.recovering || pause.hole.and_then(|hole| hole.reported).is_some_and(|at| at <= pause.start());
    let open = pause.has_room() == Some(true) && pause.closed.is_none() && pause.segments_at_start < pause.cwnd;
    let alone = pause.after.frames == 1 && pause.after.first_frame < pause.mss && !pause.after.closes;
    let tail = alone && pause.left_in_flight == 0 && pause.released_by_ack() && pause.peer_bytes == 0;
    let queued = pause.before.is_cut(pause.mss) && pause.after.first_pushed;
    let held = tail && queued && pause.mss_known && !does_not_hold(pause);
    (held && open && !known && repair.first.acks > 0).then_some(until)
}

/// The end of a write was held until a loss showed: no trait is needed, but a lowered window may have held it as well.
pub(super) const BEFORE_REPAIR: Proof = Proof { detail: details::WRITE_TAIL, confidence: UNSURE };

/// Fewest segments that a cap on bursts releases (RFC 5681 §4.1 and RFC 3390: an initial window of two to four).
const FEWEST: u32 = 2;

/// Share of the modelled window from which the congestion window may have held the tail.
const NEARLY_FULL: f64 = 0.85;

/// A short segment is outstanding and whole segments left last: the rest of the write is held until an ACK or the next
/// write.
pub(super) fn may_hold_tail(pause: &Pause) -> bool {
    pause.short_segment_left && pause.before.ends_whole(pause.mss)
}
