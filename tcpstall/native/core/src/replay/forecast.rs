//! Compares the captured transfer with its replay, and the replay with replays of changes.

use serde::Serialize;

use super::bound::Bound;
use super::change::{Change, View};
use super::luck;
use super::model::{Played, play};
use super::record::Record;
use super::recover::{RecoveredSetup, Refusal, recover};
use super::remedies;
use super::setup::{HostSetup, Setup};
use super::sizing::{Sizing, sizing};
use super::times::Times;
use crate::time::Nanos;

/// Events of all replays of one flow together; a flow that needs more is refused.
pub const MOST_EVENTS: u64 = 100_000_000;
/// Largest difference of a replay from the capture, as a share and in round trips: a replay that exceeds both is
/// refused.
const FITS: (f64, i64) = (0.3, 2);
/// Largest difference that the hosts' own time explains, whatever the round trip.
const HOSTS: Nanos = Nanos::from_millis(1);
/// Smallest margin of a prediction, as a share of it.
const LEAST_MARGIN: f64 = 0.02;
/// Error of a replay from the unknown times inside a round trip, in round trips.
const INSIDE: f64 = 0.1;
/// Round trips by which another reading of a capture must fit better than the usual one.
const CLEARLY: f64 = 1.2;
/// Largest distance of the views of a limit that the flow never reached, as a share of the time or one round trip.
const HIDDEN: f64 = 0.15;
/// Distance from the captured times, as a share of them, within which one level of the send buffer fits.
const LEVEL: f64 = 0.05;
/// Error in round trips where a change affects whole round trips.
const STRUCTURAL: f64 = 1.0;

/// A span and its expected bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// The likeliest value.
    pub expected_ns: Nanos,
    /// Lower bound.
    pub low_ns: Nanos,
    /// Upper bound.
    pub high_ns: Nanos,
}

/// Effect of a change, or of several together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeEffect {
    /// The changes.
    pub changes: Vec<Change>,
    /// True if the change was suggested by the flow's causes, false if it was requested by name.
    pub suggested: bool,
    /// Time from the client's SYN (or its first write, on a connection in use) to the arrival of the last byte.
    pub transfer: Expected,
    /// Each exchange's latency for the client.
    pub exchanges: Vec<Expected>,
    /// Time that the client waits less than in the unchanged replay, over all exchanges, or over the transfer where
    /// there is none; no more than `owned_ns`.
    pub saved_ns: Nanos,
    /// Time of the causes that the changes address: the largest possible saving.
    pub owned_ns: Nanos,
    /// The replay gained clearly more than its causes own; the excess is not promised.
    pub bounded: bool,
}

/// Changes whose effect the capture does not show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unpredicted {
    /// The changes, made together.
    pub changes: Vec<Change>,
    /// Reason why there is no prediction.
    pub refused: Refusal,
}

/// Forecast for one connection.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// Reason why there is no prediction.
    pub refused: Option<Refusal>,
    /// The path's round trip without queues.
    pub rtt_ns: Option<Nanos>,
    /// Captured times.
    pub captured: Option<Times>,
    /// Times of the unchanged replay.
    pub replayed: Option<Times>,
    /// The model's own error: the replay's transfer less the captured one.
    pub error_ns: Option<Nanos>,
    /// Effects of the changes: the requested ones in their order, or the remedies for the causes, the best first.
    pub outcomes: Vec<ChangeEffect>,
    /// The requested changes without a prediction.
    pub unpredicted: Vec<Unpredicted>,
    /// Sizes that fit the observed values.
    pub sizing: Vec<Sizing>,
}

/// Forecast from a record: for each set of `changes`, or, without any, for each remedy alone.
pub fn forecast(record: &Record, changes: &[Vec<Change>]) -> Forecast {
    forecast_within(record, changes, MOST_EVENTS)
}

/// The same forecast, with at most `most` events of all replays together.
pub fn forecast_within(record: &Record, changes: &[Vec<Change>], most: u64) -> Forecast {
    let mut forecast = Forecast {
        refused: None,
        rtt_ns: record.row.base_rtt_ns,
        captured: None,
        replayed: None,
        error_ns: None,
        outcomes: Vec::new(),
        unpredicted: Vec::new(),
        sizing: sizing(record),
    };
    match recover(record) {
        Ok(recovered) => forecast.plays(record, recovered, changes, most),
        Err(refusal) => forecast.refused = Some(refusal),
    }
    forecast
}

impl Forecast {
    fn plays(&mut self, record: &Record, recovered: RecoveredSetup, changes: &[Vec<Change>], most: u64) {
        let exchanges = record.row.exchanges.iter().flatten().map(|exchange| exchange.latency_ns).collect();
        let captured = Times { transfer_ns: recovered.transfer, exchanges_ns: exchanges };
        let fitted = fit(recovered.setup, &captured);
        self.captured = Some(captured.clone());
        let Some((setup, played)) = fitted else {
            self.refused = Some(Refusal::DoesNotFit);
            return;
        };
        let base = Base { record, whole: Whole::of(&setup), setup, captured, played };
        let error = base.played.transfer - base.captured.transfer_ns;
        self.replayed = Some(base.played.times());
        self.error_ns = Some(error);
        if !base.fits() {
            self.refused = Some(Refusal::DoesNotFit);
            return;
        }
        let called_for = || remedies::called_for(record, &base.setup).into_iter().map(|change| vec![change]).collect();
        let suggested = changes.is_empty();
        let sets: Vec<Vec<Change>> = if suggested { called_for() } else { changes.to_vec() };
        if base.events(&sets) > most {
            self.refused = Some(Refusal::TooLong);
            return;
        }
        for changes in sets {
            match base.outcome(&changes, suggested) {
                Ok(outcome) => self.outcomes.push(outcome),
                Err(refused) => self.unpredicted.push(Unpredicted { changes, refused }),
            }
        }
        if suggested {
            self.unpredicted.clear();
            self.outcomes.retain(|outcome| outcome.saves(&base.played));
            self.outcomes.sort_by_key(|outcome| Nanos(-outcome.saved_ns.0));
        }
    }
}

impl ChangeEffect {
    /// True if the change saves time: a change that saves nothing is no advice.
    fn saves(&self, unchanged: &Played) -> bool {
        self.saved_ns > Nanos::ZERO || self.saved_ns == Nanos::ZERO && self.transfer.expected_ns < unchanged.transfer
    }
}

impl Played {
    fn times(&self) -> Times {
        Times { transfer_ns: self.transfer, exchanges_ns: self.exchanges.clone() }
    }

    fn no_longer_than(mut self, other: &Played) -> Played {
        self.transfer = self.transfer.min(other.transfer);
        self.exchanges.iter_mut().zip(&other.exchanges).for_each(|(own, other)| *own = (*own).min(*other));
        self
    }

    /// This replay, with its gain over `from` limited to the gain of `changed` over `unchanged`.
    fn gaining_no_more(mut self, from: &Played, unchanged: &Played, changed: &Played) -> Played {
        let least = |from: Nanos, unchanged: Nanos, changed: Nanos| from - (unchanged - changed).or_zero();
        self.transfer = self.transfer.max(least(from.transfer, unchanged.transfer, changed.transfer));
        let others = from.exchanges.iter().zip(&unchanged.exchanges).zip(&changed.exchanges);
        for (own, ((from, unchanged), changed)) in self.exchanges.iter_mut().zip(others) {
            *own = (*own).max(least(*from, *unchanged, *changed));
        }
        self
    }

    /// Time that the client waited, without its own pauses between exchanges.
    fn waited(&self) -> Nanos {
        let exchanges = self.exchanges.iter().fold(Nanos::ZERO, |sum, span| sum + *span);
        if self.exchanges.is_empty() { self.transfer } else { exchanges }
    }

    /// Distance from the captured times, over the transfer and all exchanges.
    fn distance(&self, captured: &Times) -> i64 {
        let exchanges = self.exchanges.iter().zip(&captured.exchanges_ns).map(|(own, was)| (*own - *was).0.abs());
        (self.transfer - captured.transfer_ns).0.abs() + exchanges.sum::<i64>()
    }
}

/// Decides whether idle periods lower the window, which a capture does not show directly. They do unless the replay
/// fits clearly better without.
fn fit(setup: Setup, captured: &Times) -> Option<(Setup, Played)> {
    let usual = play(&setup)?;
    if setup.ends.iter().any(|end| !end.send_buffer.is_empty()) {
        // A limiting buffer hides the effect of the window. One level for all data moves with a change, levels by
        // offset do not.
        let mut level = setup.clone();
        level.ends.iter_mut().for_each(HostSetup::level_buffer);
        let allowed = setup.rtt.max(captured.transfer_ns.scaled(LEVEL)).0;
        return match play(&level) {
            Some(played) if played.distance(captured) <= usual.distance(captured).max(allowed) => Some((level, played)),
            _ => Some((setup, usual)),
        };
    }
    let mut other = setup.clone();
    other.ends.iter_mut().for_each(|end| end.idle_restart = false);
    let clear = setup.rtt.scaled(CLEARLY).0;
    match play(&other) {
        Some(played) if played.distance(captured) + clear < usual.distance(captured) => Some((other, played)),
        _ => Some((setup, usual)),
    }
}

/// The unchanged replay.
struct Base<'a> {
    record: &'a Record,
    setup: Setup,
    captured: Times,
    played: Played,
    /// The replay without losses, where there were losses.
    whole: Option<Whole>,
}

/// The same connection on a path that loses no data.
struct Whole {
    setup: Setup,
    played: Played,
}

impl Whole {
    fn of(setup: &Setup) -> Option<Whole> {
        if setup.ends.iter().all(|end| end.losses.is_empty()) {
            return None;
        }
        let mut setup = setup.clone();
        setup.ends.iter_mut().for_each(|end| end.losses.clear());
        Some(Whole { played: play(&setup)?, setup })
    }
}

impl Base<'_> {
    /// Approximate number of events in all replays for these sets of changes.
    fn events(&self, sets: &[Vec<Change>]) -> u64 {
        let whole = self.whole.as_ref().map_or(0, |whole| whole.played.events);
        let turns = if self.whole.is_some() { luck::TURNS } else { 0 };
        let once = (self.played.events + whole) * View::ALL.len() as u64 + self.played.events * turns + whole;
        once.saturating_mul(sets.len() as u64)
    }

    /// True if the unchanged replay is as long as the capture, with its pauses and without them.
    fn fits(&self) -> bool {
        let (share, rounds) = FITS;
        let near = |own: Nanos, was: Nanos| {
            (own - was).0.abs() <= was.scaled(share).max(self.setup.rtt.times(rounds)).max(HOSTS).0
        };
        let exchanges = self.captured.exchanges_ns.iter().fold(Nanos::ZERO, |sum, span| sum + *span);
        // At a sender behind a bottleneck the captured exchanges end before the queue that the replay adds.
        let known = !self.captured.exchanges_ns.is_empty() && self.setup.ends.iter().all(|end| end.rate.is_none());
        near(self.played.transfer, self.captured.transfer_ns) && (!known || near(self.played.waited(), exchanges))
    }

    fn outcome(&self, changes: &[Change], suggested: bool) -> Result<ChangeEffect, Refusal> {
        if let Some(refusal) = changes.iter().find_map(|change| change.refused(self.record, &self.setup)) {
            return Err(refusal);
        }
        let lifts = changes.iter().all(|change| change.only_lifts(&self.setup));
        let bound = Bound::of(self.record, &self.captured, changes);
        let mut bounded = [false; View::ALL.len()];
        let mut saved = [Nanos::ZERO; View::ALL.len()];
        let views = View::ALL.map(|view| {
            let (rtt, mut played) = self.changed(changes, view)?;
            if lifts {
                played = played.no_longer_than(&self.played);
            }
            saved[view as usize] = (self.played.waited() - played.waited()).min(bound.owned());
            let cut = bound.hold(&mut played, &self.played, &self.captured);
            bounded[view as usize] = cut > self.captured.transfer_ns.scaled(LEAST_MARGIN);
            Some((rtt, played))
        });
        let [Some((rtt, hopeful)), Some((_, likely)), Some((_, doubtful))] = views else {
            return Err(Refusal::Endless);
        };
        let guess = (hopeful.transfer - likely.transfer).0.abs().max((doubtful.transfer - likely.transfer).0.abs());
        let close = rtt.max(likely.transfer.scaled(HIDDEN));
        if guess > close.0 && changes.iter().any(|change| change.sets_hidden_limit(&self.setup)) {
            return Err(Refusal::HiddenLimit);
        }
        let structural = changes.iter().any(Change::is_structural);
        let inside = rtt.scaled(if structural { STRUCTURAL } else { INSIDE });
        let luck = self.luck(changes);
        let all: Vec<&Played> = [&hopeful, &likely, &doubtful].into_iter().chain(&luck).collect();
        let expected = |own: Nanos, was: Nanos, of: &dyn Fn(&Played) -> Nanos| {
            let likely = of(&likely);
            let error = Nanos((own - was).0.abs());
            let margin = error.max(likely.scaled(LEAST_MARGIN)).max(inside);
            let low = all.iter().map(|played| of(played)).min().unwrap_or(likely) - margin;
            let high = all.iter().map(|played| of(played)).max().unwrap_or(likely) + margin;
            // Every request with its answer takes a round trip.
            let low = low.max(rtt.min(likely));
            Expected { expected_ns: likely, low_ns: low, high_ns: high }
        };
        let exchanges = self.played.exchanges.iter().zip(&self.captured.exchanges_ns).enumerate();
        Ok(ChangeEffect {
            changes: changes.to_vec(),
            suggested,
            transfer: expected(self.played.transfer, self.captured.transfer_ns, &|played| played.transfer),
            exchanges: exchanges.map(|(at, (own, was))| expected(*own, *was, &|played| played.exchanges[at])).collect(),
            saved_ns: saved[View::Likely as usize],
            owned_ns: bound.owned(),
            bounded: bounded[View::Likely as usize],
        })
    }

    /// The likeliest replays with the changes where losses hit other data, or none.
    fn luck(&self, changes: &[Change]) -> Vec<Played> {
        let Some(whole) = self.whole.as_ref().filter(|_| changes.iter().all(|change| change.name != "loss")) else {
            return Vec::new();
        };
        let setups = luck::elsewhere(&self.setup).chain([whole.setup.clone()]);
        let changed = setups.filter_map(|mut setup| {
            changes.iter().for_each(|change| change.apply(&mut setup, View::Likely));
            play(&setup)
        });
        changed.collect()
    }

    /// The replay with the changes. Only a path without losses removes a loss: any other change gains no more than it
    /// gains without losses.
    fn changed(&self, changes: &[Change], view: View) -> Option<(Nanos, Played)> {
        let made = |setup: &Setup| {
            let mut setup = setup.clone();
            changes.iter().for_each(|change| change.apply(&mut setup, view));
            Some((setup.rtt, play(&setup)?))
        };
        let (rtt, played) = made(&self.setup)?;
        let keeps = changes.iter().all(|change| !matches!(change.name, "loss" | "rtt"));
        Some(match self.whole.as_ref().filter(|_| keeps) {
            Some(whole) => (rtt, played.gaining_no_more(&self.played, &whole.played, &made(&whole.setup)?.1)),
            None => (rtt, played),
        })
    }
}
