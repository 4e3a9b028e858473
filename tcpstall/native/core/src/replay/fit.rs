//! Chooses among readings of a capture the one whose replay is closest to it.

use super::model::{Played, play};
use super::setup::{Control, HostSetup, Setup};
use super::times::Times;
use crate::flow::End;
use crate::time::Nanos;

/// Largest difference of a replay from the capture, of a sender that paces by the rate that it measures, as a share and
/// in round trips.
pub(super) const FITS_MEASURED: (f64, i64) = (0.15, 1);
/// Round trips by which another reading of a capture must fit better than the usual one.
const CLEARLY: f64 = 1.2;
/// Distance from the captured times, as a share of them, within which one level of the send buffer fits.
const LEVEL: f64 = 0.05;
/// Distance from the captured times, as a share of them, of a replay whose queue overflows by itself.
const OVERFLOW: f64 = 0.15;
/// Distance in round trips within which two readings fit alike.
const ALIKE: f64 = 0.3;

impl Played {
    /// Distance from the captured times, over the transfer and all exchanges.
    fn distance(&self, captured: &Times) -> i64 {
        let exchanges = self.exchanges.iter().zip(&captured.exchanges_ns).map(|(own, was)| (*own - *was).0.abs());
        (self.transfer - captured.transfer_ns).0.abs() + exchanges.sum::<i64>()
    }

    /// True if the transfer is that of the capture, of a sender whose pace has no unknown part.
    fn fits_measured(&self, captured: &Times, rtt: Nanos) -> bool {
        let (share, rounds) = FITS_MEASURED;
        let allowed = captured.transfer_ns.scaled(share).max(rtt.times(rounds));
        (self.transfer - captured.transfer_ns).0.abs() <= allowed.0
    }
}

/// The reading that fits, with its replay.
pub(super) struct Fitted {
    pub(super) setup: Setup,
    pub(super) played: Played,
    /// The capture shows which congestion control the senders run, or would look the same with another.
    pub(super) control_known: bool,
    /// The capture would look the same if its CUBIC were Reno.
    pub(super) maybe_reno: bool,
    /// Data that were carried at a pace of unknown cause.
    pub(super) carried: Option<Carried>,
}

/// A pace of unknown cause, fitted to the captured time.
pub(super) struct Carried {
    /// Sender of the data.
    pub(super) end: End,
    /// The replay without the pace.
    pub(super) without: Played,
}

/// The reading that fits; `None` where the replay never ends.
pub(super) fn fit(setup: Setup, captured: &Times) -> Option<Fitted> {
    let (setup, played) = reading(setup, captured)?;
    let (setup, played) = third_version(setup, played, captured);
    // A halved window was seen at a loss.
    if setup.ends.iter().any(|end| end.control != Control::Cubic) {
        return Some(Fitted { setup, played, control_known: true, maybe_reno: false, carried: None });
    }
    let mut reno = setup.clone();
    reno.ends.iter_mut().for_each(|end| end.control = Control::Reno);
    let Some(other) = play(&reno) else {
        return Some(Fitted { setup, played, control_known: false, maybe_reno: false, carried: None });
    };
    let apart = other.distance(&played.times());
    let clear = setup.rtt.scaled(CLEARLY).0.max(captured.transfer_ns.scaled(LEVEL).0);
    let (own, others) = (played.distance(captured), other.distance(captured));
    Some(if others + clear < own {
        Fitted { setup: reno, played: other, control_known: true, maybe_reno: false, carried: None }
    } else {
        let (seen, alike) = (own + clear < others, apart <= setup.rtt.scaled(ALIKE).0);
        Fitted { setup, played, control_known: seen || alike, maybe_reno: !seen, carried: None }
    })
}

/// BBR's third version in place of the first, where that alone fits.
fn third_version(setup: Setup, first: Played, captured: &Times) -> (Setup, Played) {
    if !setup.is_measured() || first.fits_measured(captured, setup.rtt) {
        return (setup, first);
    }
    let mut other = setup.clone();
    other.ends.iter_mut().filter(|end| end.control == Control::Bbr).for_each(|end| end.control = Control::Bbr3);
    match play(&other).filter(|third| third.fits_measured(captured, setup.rtt)) {
        Some(third) => (other, third),
        None => (setup, first),
    }
}

fn reading(setup: Setup, captured: &Times) -> Option<(Setup, Played)> {
    let mut other = setup.clone();
    other.ends.iter_mut().for_each(|end| end.frames = None);
    let usual = by_levels(other, captured);
    if setup.ends.iter().all(|end| end.frames.is_none()) {
        return usual;
    }
    framed(setup, captured, usual)
}

/// Send buffers by the rule for large frames, where that fits as well as their levels: levels do not move with a change.
fn framed(mut setup: Setup, captured: &Times, usual: Option<(Setup, Played)>) -> Option<(Setup, Played)> {
    if let Some((usual, _)) = &usual {
        // What else was found of the ends.
        for (end, usual) in setup.ends.iter_mut().zip(&usual.ends) {
            let frames = end.frames;
            *end = HostSetup { frames, ..usual.clone() };
        }
    }
    let both = [false, true].into_iter().filter_map(|at_once| {
        let mut setup = setup.clone();
        setup.ends.iter_mut().filter_map(|end| end.frames.as_mut()).for_each(|frames| frames.at_once = at_once);
        let played = play(&setup)?;
        Some((setup, played))
    });
    let Some((setup, played)) = both.min_by_key(|(_, played)| played.distance(captured)) else { return usual };
    let alike = setup.rtt.scaled(ALIKE).0;
    match &usual {
        Some((_, other)) if played.distance(captured) > other.distance(captured).max(alike) => usual,
        _ => Some((setup, played)),
    }
}

/// The reading with levels of the send buffer.
fn by_levels(mut setup: Setup, captured: &Times) -> Option<(Setup, Played)> {
    let overflows = overflowing(&setup, captured);
    // The losses are replayed already.
    setup.ends.iter_mut().filter_map(|end| end.queue.as_mut()).for_each(|queue| queue.overflowed = false);
    let (setup, usual) = match overflows {
        Some(fitting) => fitting,
        None => by_rounds_or_bytes(setup, captured)?,
    };
    if setup.ends.iter().any(|end| !end.send_buffer.is_empty()) {
        let (setup, usual) = by_rule(setup, usual, captured);
        return Some(level(setup, usual, captured));
    }
    // Whether idle periods lower the window is not visible directly. They do unless the replay fits clearly better
    // without.
    let mut other = setup.clone();
    other.ends.iter_mut().for_each(|end| end.idle_restart = false);
    let clear = setup.rtt.scaled(CLEARLY).0;
    match play(&other) {
        Some(played) if played.distance(captured) + clear < usual.distance(captured) => Some((other, played)),
        _ => Some((setup, usual)),
    }
}

/// Windows that grow by round trips, unless they fit clearly better by the data that had arrived.
fn by_rounds_or_bytes(setup: Setup, captured: &Times) -> Option<(Setup, Played)> {
    if setup.ends.iter().all(|end| end.growth.is_none()) {
        let played = play(&setup)?;
        return Some((setup, played));
    }
    let mut other = setup.clone();
    other.ends.iter_mut().for_each(|end| end.growth = None);
    let (rounds, bytes) = (play(&setup), play(&other));
    match (rounds, bytes) {
        (Some(rounds), Some(bytes))
            if rounds.distance(captured) > bytes.distance(captured) + setup.rtt.scaled(ALIKE).0 =>
        {
            Some((other, bytes))
        }
        (Some(rounds), _) => Some((setup, rounds)),
        (None, bytes) => Some((other, bytes?)),
    }
}

/// Losses by the queue in place of losses at fixed data, where they fell while the queue was full and the replay fits.
fn overflowing(setup: &Setup, captured: &Times) -> Option<(Setup, Played)> {
    let full = |end: &HostSetup| end.queue.is_some_and(|queue| queue.overflowed);
    if !setup.ends.iter().any(full) {
        return None;
    }
    let mut setup = setup.clone();
    setup.ends.iter_mut().filter(|end| full(end)).for_each(|end| end.losses.clear());
    let played = play(&setup)?;
    let allowed = setup.rtt.max(captured.transfer_ns.scaled(OVERFLOW)).0;
    (played.distance(captured) <= allowed).then_some((setup, played))
}

/// Writers that are woken by the kernel's rule alone, where that fits better: others are kept waiting by their hosts.
fn by_rule(setup: Setup, usual: Played, captured: &Times) -> (Setup, Played) {
    let mut ruled = setup.clone();
    ruled.ends.iter_mut().for_each(|end| end.wakes_by_rule = true);
    match play(&ruled) {
        Some(played) if played.distance(captured) < usual.distance(captured) => (ruled, played),
        _ => (setup, usual),
    }
}

/// One level of the send buffer for all data, where it fits: levels by offset do not move with a change.
fn level(setup: Setup, usual: Played, captured: &Times) -> (Setup, Played) {
    let mut level = setup.clone();
    level.ends.iter_mut().for_each(HostSetup::level_buffer);
    let allowed = setup.rtt.max(captured.transfer_ns.scaled(LEVEL)).0;
    match play(&level) {
        Some(played) if played.distance(captured) <= usual.distance(captured).max(allowed) => (level, played),
        _ => (setup, usual),
    }
}
