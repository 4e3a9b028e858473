//! Growth of a congestion window that its flights show, whatever the model says.

use super::details;
use super::limits::Limits;
use super::rule::Proof;
use crate::pause::Pause;
use crate::sender::cwnd::INITIAL_WINDOW;

/// Rounds through which no congestion window that follows the path stays the same.
const RESTS: u32 = 4;

/// Part of a round trip below which a wait away from the sender may be that of a link which collects frames.
pub(super) const CLUMPS: f64 = 0.5;

/// Tolerances within which a wait may have ended soon after an ACK by chance.
const BY_CHANCE: i64 = 4;

/// Divisor of a flight: one that is larger by more than this part exceeds it.
pub(super) const LARGER: u32 = 4;

/// Later flights were larger by more than a quarter.
pub(super) fn is_outgrown(pause: &Pause) -> bool {
    let (held, later) = (u64::from(pause.segments_held), u64::from(pause.context.read.most_later));
    u64::from(LARGER) * later > u64::from(LARGER + 1) * held
}

/// Recognises a full window by growth, in one of three forms. The flight is one of a row that grew as this sender's
/// congestion window does. Or it is the first flight, and smaller than what the sender later had in flight without a
/// wait. Or it followed a loss, and is smaller than what the sender had in flight before the loss, and no smaller than
/// what it had since: a buffer of a fixed size would hold as much again.
pub(super) fn by_growth(pause: &Pause, limits: &Limits) -> Option<Proof> {
    let read = &pause.context.read;
    let waits = pause.released_by_ack() && !pause.is_turn() && !pause.flight_unknown;
    let whole = !pause.short_segment_out || read.climb > 1 || pause.fills_byte_window();
    if !waits || !whole || pause.has_room() == Some(false) || pause.closed.is_some() {
        return None;
    }
    let begins = read.first_wait && pause.from_start;
    let detail = if begins { details::INITIAL_WINDOW } else { details::SLOW_START };
    let stands = pause.context.plateau_rounds >= limits.plateau_rounds;
    // No flight so far was larger: slow start leaves them so, also from a window that the model does not know (RFC 3390).
    let grows = pause.from_start && pause.losses == 0 && read.most_before <= pause.segments_held;
    let record = begins || grows && !ends_by_chance(pause) && pause.unseen.is_nothing();
    // One that a standard allows may stand before it grows.
    let usual = stands && pause.fills_initial_window();
    let initial = record && pause.segments_held < INITIAL_WINDOW && is_outgrown(pause) && (!stands || usual);
    // Without a loss a sender that watches the delay lowers its window (LEDBAT: RFC 6817 §2.4.2). Linux lets one first
    // write exceed a small buffer, so one larger flight shows nothing; away from the sender flights may seem to swing.
    let below = |flight: u32| 4 * u64::from(pause.segments_held) <= 3 * u64::from(flight);
    let before = if pause.near_sender() { read.twice_before } else { read.often_before };
    // A window that watches the delay moves with it every few round trips; a small one may rest at its minimum.
    let rests = pause.context.plateau_rounds >= RESTS && pause.segments_held > INITIAL_WINDOW;
    // With what ACKs freed during the wait as much was out as before: a limit that stood. Away from the sender flights that vary
    // may be the path's; and on a path as short as hosts are slow an application may write as soon after an ACK.
    let smaller = below(before) && pause.segments_at_start < before;
    let varies = pause.near_sender() && pause.losses == 0 && pause.followed_soon();
    let lowered = (stands || varies) && !rests && !pause.short_segment_out && smaller;
    // Without another loss a window falls no further.
    let cut = pause.losses > 0 && below(read.most_before) && !below(read.most_since_loss);
    let fallen = cut || lowered;
    let (detail, confidence) = match read.climb {
        0 if initial => (detail, if usual { 0.6 } else { 0.7 }),
        0 if fallen => (details::CONGESTION_AVOIDANCE, 0.65),
        0 => return None,
        1 => (detail, 0.75),
        // Another limit may have held a flight of that size, as flights that stand from there on show, or an idle period lowered it.
        _ if read.merged && stands_from_here(pause) => return None,
        _ if read.merged || read.after_idle && !pause.from_start => (detail, 0.75),
        // The peer's window may have been full and have grown by as much: away from the sender a flight does not show it.
        _ if pause.room_at_start.is_none() && !pause.near_sender() => (detail, 0.75),
        // The capture began later: earlier events, perhaps a loss, are unknown.
        _ => (detail, if pause.from_start { 0.9 } else { 0.85 }),
    };
    Some(Proof { detail, confidence })
}

/// After a wait as short as hosts are slow a writer meets an ACK by chance, and away from the sender a link that delivers frames in
/// clumps makes waits of less than a round trip.
fn ends_by_chance(pause: &Pause) -> bool {
    let short = pause.duration() <= pause.tolerance().times(BY_CHANCE);
    short || may_be_clumps(pause)
}

/// Away from the sender a wait that short may be that of a link which collects frames.
pub(super) fn may_be_clumps(pause: &Pause) -> bool {
    !pause.near_sender() && pause.duration() < pause.rtt().scaled(CLUMPS)
}

/// The next flight is as large, or larger by less than an eighth: a window in slow start grows by more.
fn stands_from_here(pause: &Pause) -> bool {
    let next = pause.context.next_flight.unwrap_or(0) - pause.flight_at_start;
    (0..pause.flight_at_start / STANDS).contains(&next)
}

/// Divisor of a flight: a smaller step to the next is no growth of slow start.
const STANDS: i64 = 8;
