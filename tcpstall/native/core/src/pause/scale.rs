//! Infers a window scale that was not captured from how the flights fill the window.

use super::evidence::Pause;
use crate::time::Nanos;

/// Largest window shift that is used: RFC 7323 §2.3.
const MAX_SHIFT: u32 = 14;
/// Pauses that must begin with a full window before a scale is believed.
const FULL: usize = 3;
/// Smallest window that a receiver keeps open: two segments of the size that every host accepts (RFC 9293 §3.7.1,
/// §3.8.6.2.2). A writer of small pieces fills a smaller window by chance.
const LEAST: i64 = 2 * 536;
/// Share of the sender's pauses that must begin with a full window.
const FULL_SHARE: f64 = 0.3;

/// Infers the scale. No flight exceeds the window, so the smallest shift under which all flights fit is a lower bound.
/// It is the scale if flights repeatedly fill the window to less than a segment, because only a receive window causes
/// that. Where even that bound leaves room, no window was full.
pub(super) fn infer(pauses: &mut [Pause]) {
    let overrun = pauses.iter().filter(|pause| overruns(pause)).count();
    // Where flights end at the window it is one: an ACK that the tap saw late makes it seem overrun once.
    if overrun > pauses.iter().filter(|pause| ends_at_window(pause)).count() {
        pauses.iter_mut().for_each(forget_window);
    }
    // Before the first window was seen the field is also 0.
    let unscaled = |pause: &Pause| pause.window.is_none() && (pause.window_field > 0 || pause.closed.is_some());
    let judged = |pause: &&Pause| unscaled(pause) && pause.flight_at_start > 0 && !pause.flight_unknown && !pause.first;
    let window = |pause: &Pause, shift: u32| i64::from(pause.window_field) << shift;
    let fits = |shift: &u32| pauses.iter().filter(judged).all(|pause| pause.flight_at_start <= window(pause, *shift));
    let Some(shift) = (0..=MAX_SHIFT).find(fits) else { return };
    for pause in pauses.iter_mut().filter(|pause| unscaled(pause)) {
        pause.least_room = Some(window(pause, shift) - pause.flight_at_start);
    }
    let is_full = |pause: &&Pause| {
        let window = window(pause, shift);
        let room = window - pause.flight_at_start;
        // No sender cuts a segment short of the window's end (RFC 9293 §3.8.6.2.1): a short one before it ended a write.
        let filled = room == 0 || pause.before.ends_whole(pause.mss);
        window >= LEAST && room < pause.next_segment() && filled
    };
    let full: Vec<&Pause> = pauses.iter().filter(judged).filter(is_full).collect();
    let all = pauses.iter().filter(judged).count();
    if full.len() < FULL || (full.len() as f64) < FULL_SHARE * all as f64 || stands_while_the_window_moves(&full) {
        return;
    }
    let largest = pauses.iter().filter(judged).map(|pause| window(pause, shift)).max().unwrap_or_default();
    for pause in pauses.iter_mut().filter(|pause| unscaled(pause)) {
        let window = window(pause, shift);
        pause.window = Some(window);
        pause.room_at_start = Some(window - pause.flight_at_start);
        pause.largest_window = pause.largest_window.max(largest);
        pause.scale_inferred = true;
        if let Some((time, packet)) = pause.widened.filter(|_| pause.room_at_start < Some(pause.next_segment())) {
            (pause.last_ack, pause.last_ack_packet) = (pause.last_ack.max(Some(time)), Some(packet));
        }
    }
}

/// More was in flight than the largest window that was ever announced allows, by over a segment, although the SYNs show no
/// scale: no sender does that (RFC 9293 §3.8.6), so a middlebox changed a SYN, or another host sent it. A lone byte may be a
/// window probe.
fn overruns(pause: &Pause) -> bool {
    let unscaled = pause.window.is_some_and(|window| window > 0 && window == i64::from(pause.window_field));
    let most = pause.largest_window.max(pause.window.unwrap_or_default());
    let certain = !pause.flight_unknown && pause.unseen.is_nothing() && pause.disorder == Nanos::ZERO;
    unscaled && certain && pause.flight_at_start > most + i64::from(pause.mss)
}

/// The flight left less than a segment of the window, or overran it by less than one.
fn ends_at_window(pause: &Pause) -> bool {
    pause.flight_at_start > 0 && pause.room_at_start.is_some_and(|room| room.abs() < i64::from(pause.mss))
}

/// Treats the window as one of unknown scale; only a field of 0 still says that it is closed.
fn forget_window(pause: &mut Pause) {
    if pause.window_field > 0 {
        (pause.window, pause.room_at_start, pause.room_held, pause.largest_window) = (None, None, None, 0);
    }
    if pause.persist.window.is_some_and(|window| window > 0) {
        (pause.closed, pause.reopened) = (None, None);
    }
}

/// The flights are equal to the byte and not whole segments, while the window is not the same: it bounds none of them.
fn stands_while_the_window_moves(full: &[&Pause]) -> bool {
    let (flight, mss) = (full[0].flight_at_start, i64::from(full[0].mss.max(1)));
    let stands = flight % mss != 0 && full.iter().all(|pause| pause.flight_at_start == flight);
    stands && full.iter().any(|pause| pause.window_field != full[0].window_field)
}
