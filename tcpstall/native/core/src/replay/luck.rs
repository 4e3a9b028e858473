//! Varies what a capture does not show exactly: a changed transfer meets the path's losses elsewhere, and other limits
//! are known to a few percent.

use super::model::{Played, play};
use super::setup::{FrameBuffer, HostSetup, QueueDepth, Reuse, Setup, UNLIMITED, WindowGrowth};
use super::view::View;
use crate::sender::timers::TICK;
use crate::time::Nanos;

/// Places that the losses take by turns, evenly apart, the captured one among them.
const PLACES: i64 = 4;
/// Replays with losses elsewhere, beside the captured place.
pub(super) const TURNS: u64 = PLACES as u64 - 1;

/// The setup with all losses of each end moved by a part of its data.
pub(super) fn elsewhere(setup: &Setup) -> impl Iterator<Item = Setup> {
    (1..PLACES).map(|turn| {
        let mut moved = setup.clone();
        let bytes = moved.ends.each_ref().map(|end| end.bytes().max(1));
        moved.ends.iter_mut().zip(bytes).for_each(|(end, bytes)| turns(end, bytes, turn));
        // Acknowledgements are of the peer's data.
        moved.ends.iter_mut().zip([bytes[1], bytes[0]]).for_each(|(end, bytes)| turns_acks(end, bytes, turn));
        moved
    })
}

fn turns(end: &mut HostSetup, bytes: i64, turn: i64) {
    for loss in &mut end.losses {
        loss.at = (loss.at + bytes / PLACES * turn) % bytes;
    }
    end.losses.sort_by_key(|loss| loss.at);
}

fn turns_acks(end: &mut HostSetup, bytes: i64, turn: i64) {
    for lost in &mut end.lost_acks {
        lost.from = (lost.from + bytes / PLACES * turn) % bytes;
    }
}

/// Replays with losses by chance: a further one lies between the shortest and the longest of 19 in 18 of 20 cases.
pub(super) const DRAWS: u64 = 19;

/// Replays of a setup with each throw of the dice, the shortest waits first; those that never end are left out.
pub(super) fn draws(setup: &Setup) -> Vec<Played> {
    let played = (0..DRAWS).filter_map(|seed| play(&Setup { seed, ..setup.clone() }));
    let mut played: Vec<Played> = played.collect();
    played.sort_by_key(Played::waited);
    played
}

/// The shortest, the middle or the longest of them.
pub(super) fn middle(drawn: &[Played], view: View) -> Option<Played> {
    let at = view.pick(0, drawn.len() / 2, drawn.len().checked_sub(1)?);
    drawn.get(at).cloned()
}

/// Draws of 19 that may be far from the middle one: with more of them, less than four in five transfers are near it.
const FAR_DRAWS: usize = 3;

/// True if chance decides the time with a change: too many of the `drawn` replays, or one with the captured losses at other
/// data (`luck` without its last, which has none), differ from the likeliest by more than `close`.
pub(super) fn decides(likely: &Played, drawn: &[Played], luck: &[Played], close: Nanos) -> bool {
    let far = |played: &&Played| (played.waited() - likely.waited()).0.abs() > close.0;
    let elsewhere = luck.split_last().map_or(luck, |(_, elsewhere)| elsewhere);
    drawn.iter().filter(far).count() > FAR_DRAWS || elsewhere.iter().any(|played| far(&played))
}

/// Replays with other limits, beside the likeliest.
pub(super) const BESIDE: u64 = 2;
/// Error of a window or buffer that was recovered, as a share of it.
const KNOWN: f64 = 0.05;

/// The setup with all windows and buffers a little smaller, and a little larger.
pub(super) fn beside(setup: impl Fn() -> Setup) -> impl Iterator<Item = Setup> {
    [1.0 - KNOWN, 1.0 + KNOWN].into_iter().map(move |share| {
        let mut setup = setup();
        setup.ends.iter_mut().for_each(|end| resized(end, share));
        setup.reuse = setup.reuse.map(|reuse| Reuse { window: share, ..reuse });
        setup
    })
}

fn resized(end: &mut HostSetup, share: f64) {
    let sized = |bytes: i64| (bytes as f64 * share) as i64;
    let window = i64::from(end.initial_window);
    let other = if share < 1.0 { sized(window).min(window - 1) } else { sized(window).max(window + 1) };
    end.initial_window = other.max(1) as u32;
    for level in end.send_buffer.iter_mut().filter(|level| level.full < UNLIMITED) {
        (level.full, level.wake) = (sized(level.full), sized(level.wake));
    }
    end.frames = end.frames.map(|frames| FrameBuffer { wake: sized(frames.wake), ..frames });
    end.queue = end.queue.map(|queue| QueueDepth { bytes: sized(queue.bytes), ..queue });
    if end.delayed_ack > TICK {
        end.delayed_ack = if share < 1.0 { end.delayed_ack - TICK } else { end.delayed_ack + TICK };
    }
    end.growth = end.growth.map(|growth| WindowGrowth { first: sized(growth.first), ..growth });
}
