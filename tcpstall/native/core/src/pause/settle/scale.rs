//! Infers a window scale that was not captured from how the flights fill the window.

use super::super::evidence::Facts;
use super::super::evidence::unseen::Unseen;
use super::some::replace_some;
use crate::time::Nanos;

/// Largest window shift that is used: RFC 7323 §2.3.
const MAX_SHIFT: u32 = 14;
/// Pauses that must begin with a full window before a scale is believed.
const FULL: usize = 3;
/// Smallest of the largest windows of a receiver: a segment of the size that every host accepts (RFC 9293 §3.7.1).
const ONE_SEGMENT: i64 = 536;
/// Smallest window that a receiver keeps open: two such segments (RFC 9293 §3.8.6.2.2). A writer of small pieces fills a
/// smaller window by chance.
const LEAST: i64 = 2 * ONE_SEGMENT;
/// Share of the sender's pauses that must begin with a full window.
const FULL_SHARE: f64 = 0.3;

/// Divisor of the pauses: as few flights may exceed the windows that the others follow. Away from the sender an ACK reaches it
/// sooner than usual now and then, and the data that the ACK released seems to be in flight beside the data it covers.
const OVER: usize = 10;
/// Sizes of the window that flights must have filled before a flight that exceeds it is taken for such an error.
const SIZES: usize = 4;

/// Infers the scale. No flight exceeds the window, so the smallest shift under which all flights fit is a lower bound; it
/// must make the window hold a segment once. It is the scale if flights repeatedly fill the window to less than a segment,
/// because only a receive window causes that; a few flights are enough if a segment was cut to the byte that the window left.
/// Where even that bound leaves room, no window was full.
pub(super) fn settle(pauses: Vec<Facts>) -> Vec<Facts> {
    let overrun = pauses.iter().filter(|pause| overruns(pause)).count();
    // Where flights end at the window it is one: an ACK that the tap saw late makes it seem overrun once.
    let is_none = overrun > 0 && overrun > pauses.iter().filter(|pause| ends_at_window(pause)).count();
    let pauses = if is_none { pauses.into_iter().map(without_window).collect() } else { pauses };
    if !pauses.iter().any(is_unscaled) {
        return pauses;
    }
    let judged =
        |pause: &&Facts| is_unscaled(pause) && pause.flight_at_start > 0 && !pause.flight_unknown && !pause.first;
    let holds =
        |shift: u32| pauses.iter().filter(|pause| is_unscaled(pause)).any(|pause| window(pause, shift) >= ONE_SEGMENT);
    let fits = |shift: &u32| {
        holds(*shift) && pauses.iter().filter(judged).all(|pause| pause.flight_at_start <= window(pause, *shift))
    };
    let Some(shift) = (0..=MAX_SHIFT).find(fits) else { return pauses };
    let pauses = replace_some(pauses, is_unscaled, |pause| Facts {
        least_room: Some(window(&pause, shift) - pause.flight_at_start),
        ..pause
    });
    let all = pauses.iter().filter(judged).count();
    let full_under =
        |shift: u32| pauses.iter().filter(judged).filter(move |pause| is_full(pause, shift)).collect::<Vec<_>>();
    let is_scale = |shift: u32, full: &[&Facts]| {
        let enough = full.len() >= FULL && full.len() as f64 >= FULL_SHARE * all as f64;
        (enough || are_filled_to_the_byte(full, shift)) && !stands_while_the_window_moves(full)
    };
    let follows = |lower: &u32| {
        let over = pauses.iter().filter(judged).filter(|pause| pause.flight_at_start > window(pause, *lower)).count();
        let full = full_under(*lower);
        OVER * over <= all
            && is_scale(*lower, &full)
            && (follow_the_window(&full) || are_filled_to_the_byte(&full, *lower))
    };
    let is_bound = |shift: &u32| is_scale(*shift, &full_under(*shift));
    let Some(shift) = (0..shift).find(follows).or(Some(shift).filter(is_bound)) else {
        return pauses;
    };
    let largest = pauses.iter().filter(judged).map(|pause| window(pause, shift)).max().unwrap_or_default();
    replace_some(pauses, is_unscaled, |pause| with_window(window(&pause, shift), largest, pause))
}

/// The flight left less than a segment of the window under this shift. No sender cuts a segment short of the window's end
/// (RFC 9293 §3.8.6.2.1): a short one before it ended a write; so did a whole one after which the peer spoke.
fn is_full(pause: &Facts, shift: u32) -> bool {
    let window = window(pause, shift);
    let room = window - pause.flight_at_start;
    let filled = room == 0 || pause.before.ends_whole(pause.mss) && !pause.is_turn();
    window >= LEAST && (0..pause.next_segment()).contains(&room) && filled
}

/// Again and again a segment was cut to the byte that the window left.
fn are_filled_to_the_byte(full: &[&Facts], shift: u32) -> bool {
    full.iter().filter(|pause| pause.is_cut_to(window(pause, shift))).count() >= FULL
}

/// Windows of several sizes were full, each more than once: the flights change with the window.
fn follow_the_window(full: &[&Facts]) -> bool {
    let mut fields: Vec<u16> = full.iter().map(|pause| pause.window_field).collect();
    fields.sort_unstable();
    fields.chunk_by(|a, b| a == b).filter(|alike| alike.len() > 1).count() >= SIZES
}

/// The scale of the window is unknown, which a field of 0 does not need. Before the first window was seen the field is also 0.
fn is_unscaled(pause: &Facts) -> bool {
    pause.window.is_none() && pause.window_field > 0
}

fn window(pause: &Facts, shift: u32) -> i64 {
    i64::from(pause.window_field) << shift
}

/// The pause with the inferred `window` at its start; the `largest` of the sender's pauses was announced too.
fn with_window(window: i64, largest: i64, pause: Facts) -> Facts {
    let room = window - pause.flight_at_start;
    let widened = pause.widened.filter(|_| room < pause.next_segment());
    Facts {
        window: Some(window),
        room_at_start: Some(room),
        largest_window: pause.largest_window.max(largest),
        scale_inferred: true,
        last_ack: widened.map_or(pause.last_ack, |(time, _)| pause.last_ack.max(Some(time))),
        last_ack_packet: widened.map_or(pause.last_ack_packet, |(_, packet)| Some(packet)),
        ..pause
    }
}

/// More was in flight than the largest window that was ever announced allows, by over a segment, although the SYNs show no
/// scale: no sender does that (RFC 9293 §3.8.6), so a middlebox changed a SYN, or another host sent it. A lone byte may be a
/// window probe.
fn overruns(pause: &Facts) -> bool {
    let unscaled = pause.window.is_some_and(|window| window > 0 && window == i64::from(pause.window_field));
    let most = pause.largest_window.max(pause.window.unwrap_or_default());
    let certain = !pause.flight_unknown && pause.unseen.is_nothing() && pause.disorder == Nanos::ZERO;
    unscaled && certain && pause.flight_at_start > most + i64::from(pause.mss)
}

/// The flight left less than a segment of the window, or overran it by less than one.
fn ends_at_window(pause: &Facts) -> bool {
    pause.flight_at_start > 0 && pause.room_at_start.is_some_and(|room| room.abs() < i64::from(pause.mss))
}

/// The pause with a window of unknown scale; only a field of 0 still says that it is closed.
fn without_window(pause: Facts) -> Facts {
    let pause = Facts { unseen: Unseen { overrun: true, ..pause.unseen }, ..pause };
    let narrow = pause.persist.window.is_some_and(|window| window > 0);
    let pause = if narrow { Facts { closed: None, reopened: None, ..pause } } else { pause };
    if pause.window_field == 0 {
        return pause;
    }
    Facts { window: None, room_at_start: None, room_held: None, largest_window: 0, ..pause }
}

/// The flights are equal to the byte and not whole segments, while the window is not the same: it bounds none of them.
fn stands_while_the_window_moves(full: &[&Facts]) -> bool {
    let (flight, mss) = (full[0].flight_at_start, i64::from(full[0].mss.max(1)));
    let stands = flight % mss != 0 && full.iter().all(|pause| pause.flight_at_start == flight);
    stands && full.iter().any(|pause| pause.window_field != full[0].window_field)
}
