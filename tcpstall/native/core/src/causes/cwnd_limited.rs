//! `cwnd-limited` — the congestion window was full.
//!
//! Rule      segments in flight, after the ACKs that trail the burst, reach {cwnd_share} of the modelled congestion window
//!           ({cwnd_share_after_loss} also once losses have made the model an estimate), with room for another segment in the
//!           peer's window; or the flights have doubled at every ACK since the connection began, or the first burst has grown from
//!           exchange to exchange, below an initial window of ten segments; or a flight below that was the largest so far, and
//!           later ones were larger by more than a quarter (less sure where it stands as large as a standard lets it begin); or
//!           flight after flight grew by what the ACKs between them allow, as this sender counts (the trait `growth`), in segments
//!           or in bytes (where a flight may stand before the next, and short segments have ACKs of their own): then neither the
//!           model nor the start of the connection is needed; or flights of whole segments stand (at the sender, soon after an ACK:
//!           or vary) well below what earlier waits had, because no buffer shrinks, unless flights beyond a usual initial window
//!           stand from round trip to round trip; or flights of whole segments stand, and an ACK of less than a third released
//!           more, here or (away from the sender) where as many bytes were in flight, or each ACK released a frame of its own (away
//!           from the sender PSH ends each frame), where a writer woken for a part of its buffer would have filled larger frames;
//!           or a flight ended within a segment without PSH, from a sender whose data ends with PSH, unless such flights stand to
//!           the byte; or a report of a loss, which frees no buffer and wakes no writer, released whole segments; or exchange after
//!           exchange the first burst stops where the window has room for less than another frame of offloaded segments; or, away
//!           from the sender, as many segments were out as the modelled window holds, whichever ACKs seem to have come before the
//!           wait; or a flight below an initial window ended within a write, as missing PSH shows, its ACK let more go, and the
//!           next flight was larger, as no earlier one was (less sure without that growth, where a flight larger than any before
//!           had four segments at most); or, away from the sender, bursts that all ended within a write brought more from round
//!           trip to round trip from the write's beginning on; or, away from the sender, data that was lost before the tap fills
//!           the modelled window of slow start up; or flights fill the window of a sender whose slow start counts each ACK, however
//!           much it covers, for two segments at most; or, before the first loss, they grow by a twentieth from round trip to round
//!           trip (twice, or once from the end of slow start); or five waits or more of a flow are for it, and nothing but the
//!           model shows a buffer in a single one. Not where ACKs of half of the flight released nothing for longer than paths and
//!           hosts vary; nor where, at the sender, the data left by itself long after ACKs had made room, nor after several ACKs
//!           that came together, from a sender whose full windows opened at the first of such ACKs; nor in slow start where flights
//!           stand over {plateau_rounds} rounds; nor by the model where the last segment was short and had PSH, as not each has, or
//!           short writes are out, and no ACK at the sender let the next one go: all that had been written was out. No such ACK
//!           counts from a sender that sets PSH on each segment, nor where flights get smaller without a loss: some stacks wake a
//!           writer for less
//! Evidence  `in_flight_segments`, `cwnd_estimate_segments`, `window_unused_bytes`; detail `initial-window`, `slow-start`,
//!           `congestion-avoidance`
//! Source    RFC 5681 §2 (cwnd counts bytes), §3.1, RFC 3390, RFC 3465 §2.3, RFC 6928, RFC 9293 §3.9.1.2 (PSH), RFC 9438; Linux
//!           `bictcp_update`, `tcp_cwnd_test`, `tcp_is_cwnd_limited`, `tcp_tso_autosize`, `tcp_tso_should_defer`
//! Abstains  the start of the connection was not captured and no growth shows the window, or packets are missing; or a wait without
//!           an end lasted so long that the retransmission timer must have fired, and nothing was seen of that; or the last segment
//!           was full and had no PSH, from a sender that marks the end of its data, no ACK ended the wait, and the model has room
//!           Never sure where by the model the sender still climbs back from an idle period, or may do so, as many segments were
//!           acknowledged before it, or as the capture begins with the climb; where the model has room for a segment and nothing was
//!           lost, where a short answer to the peer followed, or the short end of a write once all was acknowledged or several ACKs
//!           had made room (Nagle's algorithm may hold that back too), nor away from the sender for less than half of a round trip
//! Looks like `rwnd-limited` (no room), `sndbuf-limited` (flight far below the model, or alike to the byte), `pacing` (no ACK ends the wait)

use super::cause::Cause;
use super::cwnd_growth::{by_growth, is_outgrown, may_be_clumps};
use super::details;
use super::limits::Limits;
use super::rule::{Missing, Proof, Rule, Verdict, yes};
use crate::pause::Pause;
use crate::sender::cwnd::{CongestionPhase, INITIAL_WINDOW};
use crate::sender::timers;

pub(super) const RULE: Rule = Rule { cause: Cause::CwndLimited, judge };

/// Share of the modelled window from which the window is full to the segment.
const FULL_TO_THE_SEGMENT: f64 = 0.98;

/// Confidence where the window has room for a part of the next frame.
const KEEPS_BACK: f32 = 0.75;

/// Confidence where a part of the flight was lost before the tap.
const BEYOND_TAP: f32 = 0.7;

/// Length of a wait without an end, in retransmission timeouts: in that time the timer had doubled and fired again.
const TIMERS: i64 = 4;

fn judge(pause: &Pause, limits: &Limits) -> Verdict {
    // The model is of common senders: the window of another one may be as small as what is in flight.
    let queued = || pause.in_mid_write() && pause.ended && !pause.refilled() && pause.has_room() == Some(true);
    match full(pause, limits) {
        // By the model the sender climbs back from an idle period, which something else denies: one of the two is wrong.
        Verdict::Yes(proof) if climbs_back(pause) => {
            Verdict::Yes(Proof { confidence: proof.confidence.min(KEEPS_BACK), ..proof })
        }
        verdict => verdict.or(|| if queued() { Verdict::CannotTell(Missing::LIMIT) } else { Verdict::No }),
    }
}

/// The modelled window is still below what it was before an idle period, and above what that left.
fn climbs_back(pause: &Pause) -> bool {
    let back = pause.cwnd_before_idle.zip(pause.cwnd_after_idle);
    back.is_some_and(|(before, after)| after < pause.cwnd && pause.cwnd < before)
}

/// More was queued behind a small flight, its ACK let the sender go on, and the next flight was larger, as no earlier one was:
/// a congestion window grows so, from an initial one that the model does not know (RFC 3390) or below what was written.
/// Where the rest of the write shows no growth, the largest flight so far is less sure, of as few segments as initial windows have.
fn by_queue(pause: &Pause, limits: &Limits) -> Option<Proof> {
    let waits = pause.in_mid_write() && pause.released_soon() && pause.peer_bytes == 0 && !pause.flight_unknown;
    // What had left before the ACK came, by the TSval that it echoes, waited for something else.
    let open = pause.has_room() == Some(true) && pause.closed.is_none() && !pause.left_before_ack;
    let small = pause.from_start && pause.losses == 0 && pause.segments_held < INITIAL_WINDOW;
    let next = pause.context.next_flight.is_some_and(|next| next >= pause.flight_at_start + i64::from(pause.mss));
    let before = pause.context.read.most_before;
    let grows = next && is_outgrown(pause) && before <= pause.segments_held;
    let few = before < pause.segments_held && pause.segments_held <= RFC_5681;
    let stands = pause.context.plateau_rounds >= limits.plateau_rounds;
    let held = waits && open && small && !stands && (grows || few);
    held.then_some(Proof { detail: details::SLOW_START, confidence: if grows { 0.7 } else { 0.6 } })
}

/// Largest initial window of RFC 5681 §3.1, segments.
pub(super) const RFC_5681: u32 = 4;

/// More was queued behind each burst, the window had room, and from round trip to round trip more arrived.
fn by_rounds(pause: &Pause) -> Option<Proof> {
    let grows = pause.context.rounds_grow && pause.in_mid_write() && pause.losses == 0;
    grows.then_some(Proof { detail: details::SLOW_START, confidence: 0.7 })
}

/// The next flight is larger by less than the ACKs before it: in slow start each lets go a segment more than it covers (RFC 5681
/// §3.1), so a limit of its own may have held this flight as well.
fn grows_too_little(pause: &Pause) -> bool {
    let least = pause.flight_at_start + i64::from(pause.after.acks.saturating_sub(1)) * i64::from(pause.mss);
    pause.context.next_flight.is_some_and(|next| next < least)
}

/// Decides whether the congestion window is full (the idle-restart rule applies the same test to a lowered window).
pub(super) fn full(pause: &Pause, limits: &Limits) -> Verdict {
    // On a path that lengthens each ACK seems to come sooner than it did.
    let longer = pause.context.dripping && pause.released_soon() || pause.context.creeping && pause.may_be_path();
    // What a window cut off waits for the window alone: away from the sender the path delayed the ACK or its answer.
    let queued = pause.in_mid_write();
    let late = pause.fell_silent() && queued && (pause.released_soon() || pause.context.rounds_grow);
    let silent = pause.fell_silent() && !longer && !late;
    // A congestion window lets go at each ACK.
    let by_message = pause.is_let_go_by_message() && pause.acks_let_nothing_go();
    let passed = let_acks_pass(pause) || let_half_pass(pause) || left_late(pause) || by_message;
    if pause.first || pause.flight_at_start == 0 || silent || passed {
        return Verdict::No;
    }
    match by_model(pause, limits) {
        Verdict::Yes(proof) => {
            let unsure = late || tail_may_wait(pause);
            yes(proof.detail, if unsure { proof.confidence.min(KEEPS_BACK) } else { proof.confidence })
        }
        other => {
            let proof = by_growth(pause, limits).or_else(|| by_report(pause)).or_else(|| by_count(pause, limits));
            let proof = proof.or_else(|| by_queue(pause, limits)).or_else(|| by_rounds(pause));
            let proof = proof.or_else(|| by_hole(pause));
            proof.map_or(other, Verdict::Yes)
        }
    }
}

/// At the sender the data left long after the ACK that had made room for two segments, and at no other: a full window lets go
/// at the ACK, and a frame that Linux keeps back (`tcp_tso_should_defer`) leaves at the next one.
fn left_late(pause: &Pause) -> bool {
    let alone = pause.near_sender() && pause.left_by_itself() && pause.losses == 0;
    alone && pause.acked >= i64::from(2 * pause.mss)
}

/// Segments that ACKs cover from which a full window has room for a frame of its own.
const ROOM: u32 = 2;

/// At the sender the first of the ACKs that came together makes room for as much as it covered (RFC 5681 §3.1), and this sender
/// goes on at the first of them; the data left only after later ones.
fn let_acks_pass(pause: &Pause) -> bool {
    let calm = !pause.recovering && pause.loss_hints == 0 && pause.retransmissions == 0;
    pause.context.goes_at_first && pause.near_sender() && pause.let_pass >= ROOM && calm
}

/// The short end of a write left alone behind whole segments, and only after ACKs that had made room for it: stacks hold it back for
/// as long as anything, or more than a few segments, is outstanding (RFC 1122 §4.2.3.4). Hosts that take in ACKs in batches look alike.
fn tail_may_wait(pause: &Pause) -> bool {
    let tail = pause.after.frames == 1 && pause.after.first_frame < pause.mss && pause.before.ends_whole(pause.mss);
    pause.ended && pause.near_sender() && tail && pause.let_pass >= ROOM
}

/// Divisor of the flight: ACKs of so much that release nothing have met no full window.
pub(super) const LET_PASS: i64 = 2;

/// ACKs of half of the flight released nothing. Each makes room in a congestion window, and Linux defers no frame for
/// longer than until a third of the window has room (`tcp_tso_should_defer`). Away from the sender the path lasts no longer than
/// the soonest answer that the tap has seen.
fn let_half_pass(pause: &Pause) -> bool {
    let half = pause.left_in_flight > 0 && LET_PASS * pause.acked >= pause.flight_at_start;
    let seen = pause.near_sender() || pause.after_ack().is_some_and(|span| span > pause.distance);
    let Some(since) = pause.room_since.filter(|_| half && pause.losses == 0 && seen) else {
        return false;
    };
    let tolerance = pause.tolerance();
    if pause.end - since <= tolerance {
        return false;
    }
    // The data left much later than any ACK, or at a later one.
    let idle = pause.ended && pause.after_ack().is_some_and(|span| span > tolerance.times(3));
    idle || pause.let_room_pass()
}

/// Whole segments were in flight, the peer's window had room, and a report of a loss released more: only the congestion
/// window had held it.
fn by_report(pause: &Pause) -> Option<Proof> {
    let whole = pause.after.first_frame >= pause.mss;
    let held = pause.released_by_report() && pause.has_room() == Some(true) && pause.closed.is_none();
    let lone = pause.acks == 0 && pause.peer_bytes == 0 && !pause.flight_unknown;
    (held && whole && lone).then_some(Proof { detail: details::CONGESTION_AVOIDANCE, confidence: 0.7 })
}

/// Away from the sender, as many segments were out as the modelled window holds. Full segments take longer on their way than
/// those of the handshake did, so ACKs that seem to have reached the sender before the wait may have come only during it.
fn by_count(pause: &Pause, limits: &Limits) -> Option<Proof> {
    let known = pause.cwnd_known && !pause.flight_unknown && pause.losses == 0;
    let fills = known && !pause.near_sender() && pause.segments_at_start == pause.cwnd;
    let waits = pause.ended && !pause.is_turn() && (pause.acks > 0 || pause.left_in_flight > 0);
    let other = pause.context.brimful || stands_from_the_start(pause, limits) || ran_out(pause);
    (fills && waits && !other).then_some(Proof { detail: phase(pause), confidence: KEEPS_BACK })
}

/// Away from the sender, the data that ended the wait came after lost data. With the part of it that left before the wait, the
/// flight filled the modelled window: in slow start no flight is smaller than the window that the ACKs before made.
fn by_hole(pause: &Pause) -> Option<Proof> {
    let lost = pause.hole_before / i64::from(pause.mss.max(1));
    let within = i64::from(pause.cwnd) - i64::from(pause.segments_at_start) <= lost;
    let known = pause.cwnd_known && !pause.flight_unknown && pause.losses == 0 && !pause.recovering;
    let away = !pause.near_sender() && lost > 0 && pause.segments_at_start < pause.cwnd;
    let grows = pause.phase == CongestionPhase::SlowStart && !pause.short_segment_out && !pause.is_turn();
    let waits = pause.released_by_ack() && pause.has_room() == Some(true) && pause.closed.is_none();
    (known && away && within && grows && waits).then_some(Proof { detail: details::SLOW_START, confidence: BEYOND_TAP })
}

/// Detail of a full window, by the phase of its growth.
fn phase(pause: &Pause) -> &'static str {
    match pause.phase {
        CongestionPhase::Initial => details::INITIAL_WINDOW,
        CongestionPhase::SlowStart => details::SLOW_START,
        CongestionPhase::CongestionAvoidance | CongestionPhase::Recovery => details::CONGESTION_AVOIDANCE,
    }
}

/// Less than a segment followed, once nothing was in flight: the short end of a write waits for that too (RFC 896).
fn waits_for_its_end(pause: &Pause) -> bool {
    pause.ended && pause.left_in_flight == 0 && pause.after.clump.first_bytes < u64::from(pause.mss)
}

/// The first flight is larger than any usual initial window (RFC 6928), and later ones are no larger: a congestion window
/// would have doubled.
fn stands_from_the_start(pause: &Pause, limits: &Limits) -> bool {
    let unusual = pause.phase == CongestionPhase::Initial && pause.segments_held > INITIAL_WINDOW;
    // After whole segments the rest of a buffer is less than a segment.
    let rest = if pause.short_segment_out { 0 } else { i64::from(pause.mss) };
    let next = pause.context.next_flight.is_some_and(|next| next <= pause.flight_at_start + rest);
    // Behind a queue each ACK frees a segment or two, however large the window is.
    let queued = pause.context.dripping || pause.context.bottleneck.is_some();
    unusual && next && !queued && pause.context.plateau_rounds >= limits.plateau_rounds
}

/// The last segment was short and had PSH, as not each has, or the flight is of short writes: what left last was the end of all
/// that had been written (RFC 9293 §3.9.1.2), for a host fills the last queued segment up before it queues another. What was
/// written later waited for the window only if an ACK let it go.
fn ran_out(pause: &Pause) -> bool {
    let burst = &pause.before;
    let end = u64::from(burst.pushes) < burst.frames && burst.last_frame < burst.first_frame;
    let short = 2 * pause.flight_at_start < i64::from(pause.segments_at_start) * i64::from(pause.mss);
    // Away from the sender nobody sees that; a window that is full to the segment is no accident.
    let let_go =
        if pause.near_sender() { pause.released_by_ack() } else { !short && pause.segments_at_start == pause.cwnd };
    burst.pushed && burst.last_frame < pause.mss && pause.mss_known && (end || short) && !let_go
}

fn by_model(pause: &Pause, limits: &Limits) -> Verdict {
    if pause.flight_unknown || !pause.cwnd_known {
        // The window is unknown, but its growth is visible, and so is the amount that each ACK releases.
        let shows = pause.context.creeping || pause.context.dripping && !pause.short_segment_out;
        let creeping = shows && !pause.flight_unknown && pause.released_by_ack() && !pause.is_turn();
        let missing = if pause.from_start { Missing::PACKETS } else { Missing::START };
        return if creeping { yes(details::CONGESTION_AVOIDANCE, 0.7) } else { Verdict::CannotTell(missing) };
    }
    if !pause.ended && pause.duration() > timers::rto(pause.srtt).times(TIMERS) {
        // Whatever the window was, the retransmission timer would have fired long ago.
        return Verdict::CannotTell(Missing::PACKETS);
    }
    let share = f64::from(pause.segments_held) / f64::from(pause.cwnd.max(1));
    let (needed, confidence): (f64, f32) =
        if pause.losses == 0 { (limits.cwnd_share, 0.96) } else { (limits.cwnd_share_after_loss, 0.75) };
    if pause.context.brimful || stands_from_the_start(pause, limits) {
        return Verdict::No;
    }
    let freed = !pause.ended || pause.acks > 0 || pause.left_in_flight > 0;
    if !freed || pause.is_turn() {
        return Verdict::No;
    }
    // A sender that may not send has whole segments in flight; a sender with no more data ends with a partial segment.
    let estimated = pause.losses > 0 && pause.context.plateau_rounds >= limits.plateau_rounds;
    let all_but_full = pause.short_segment_out && (share < FULL_TO_THE_SEGMENT || estimated) || ran_out(pause);
    let alike = pause.context.turns_cut_alike >= limits.cut_turns;
    let keeps_back = alike && pause.keeps_a_frame_back() && !pause.short_segment_out;
    if share < needed && !keeps_back || all_but_full {
        let doubling = pause.context.doubling && pause.context.next_flight.is_some();
        let growing = (doubling || pause.context.cut_grows) && pause.losses == 0;
        let dripping = pause.context.dripping && !pause.short_segment_out && !pause.sent_all();
        // The peer's window had room, so the cut is the congestion window's.
        let cut = pause.cut_short && pause.released_by_ack() && pause.has_room() == Some(true);
        let creeping = pause.context.creeping || dripping || cut;
        return match (growing, creeping || pause.context.bytes_grow) {
            (true, _) => {
                let unsure = waits_for_its_end(pause) || pause.context.read.first_wait || grows_too_little(pause);
                yes(details::SLOW_START, if unsure { 0.7 } else { 0.8 })
            }
            (false, true) => yes(details::CONGESTION_AVOIDANCE, 0.7),
            (false, false) => Verdict::No,
        };
    }
    let detail = phase(pause);
    // A window in slow start grows with each round.
    let slow = detail != details::CONGESTION_AVOIDANCE && pause.context.stands_next;
    // Behind a queue each ACK frees a segment or two, however large the window is.
    let free = pause.context.read.climb == 0 && !pause.context.dripping && pause.context.bottleneck.is_none();
    if slow && free && pause.context.plateau_rounds >= limits.plateau_rounds {
        return Verdict::No;
    }
    let confidence = if slow { confidence.min(KEEPS_BACK) } else { confidence };
    // In congestion avoidance the window hardly moves, and other limits coincide with it more often.
    let confidence = if detail == details::CONGESTION_AVOIDANCE { confidence.min(0.85) } else { confidence };
    let confidence = if share < needed { confidence.min(KEEPS_BACK) } else { confidence };
    // Without a loss the model counts each segment of slow start, and a full window has no room for another.
    let short_of_it = share < FULL_TO_THE_SEGMENT && pause.losses == 0;
    // What answers the peer may have been written only then.
    let unsure = short_of_it || pause.answers_peer() || waits_for_its_end(pause);
    let confidence = if unsure { confidence.min(KEEPS_BACK) } else { confidence };
    // More was sent than the modelled window holds, so the model is of another sender.
    let confidence = if pause.segments_held > pause.cwnd { confidence.min(0.75) } else { confidence };
    // In slow start no flight is smaller than the first: another limit than an unusually large initial window held both.
    let first = pause.phase == CongestionPhase::Initial && pause.segments_held > INITIAL_WINDOW;
    let shrank = pause.context.next_flight.is_some_and(|next| next < pause.flight_at_start);
    let confidence = if first && shrank { confidence.min(0.7) } else { confidence };
    // Away from the sender, a link that delivers frames in clumps makes waits of less than a round trip as well.
    let clumps = may_be_clumps(pause);
    let confidence = if clumps { confidence.min(0.75) } else { confidence };
    // A window counted in segments ends with a whole one.
    let confidence = if pause.short_segment_out { confidence.min(0.75) } else { confidence };
    // The segment that emptied the buffer alone had PSH: a window as large as all that had been written is an accident.
    let confidence = if pause.sent_all() { confidence.min(KEEPS_BACK) } else { confidence };
    // Slow start and the climb back after an idle period look alike.
    let confidence = if pause.old_window_known { confidence } else { confidence.min(0.7) };
    yes(detail, confidence)
}
