//! What was captured, what the model makes of it, and what it makes of the change.

use serde::Serialize;

use super::change::{Change, View};
use super::model::{Played, play};
use super::record::Record;
use super::recover::{Recovered, Refusal, recover};
use super::remedies;
use super::setup::Setup;
use super::sizing::{Sizing, sizing};
use crate::time::Nanos;

/// A replay that differs from the capture by more than this share, and by more than so many round trips, explains nothing.
const FITS: (f64, i64) = (0.3, 2);
/// No prediction is surer than this share of itself.
const LEAST_MARGIN: f64 = 0.02;
/// Of a round trip: how far a replay is off for the moments inside one that it does not know.
const INSIDE: f64 = 0.1;
/// Round trips by which one reading of a capture must fit better than the usual one.
const CLEARLY: f64 = 1.2;
/// The same where a change moves whole round trips.
const STRUCTURAL: f64 = 1.0;

/// A span and the bounds that it is expected in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// The likeliest.
    pub expected_ns: Nanos,
    /// No less than this.
    pub low_ns: Nanos,
    /// No more than this.
    pub high_ns: Nanos,
}

/// One transfer as it was or as the model plays it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Times {
    /// From the client's SYN to the arrival of the last byte.
    pub transfer_ns: Nanos,
    /// Each exchange's latency for the client.
    pub exchanges_ns: Vec<Nanos>,
}

/// What a change, or several together, come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The changes.
    pub changes: Vec<Change>,
    /// Asked for by name, or because of what the flow waited for.
    pub suggested: bool,
    /// From the client's SYN (or its first write, on a connection in use) to the arrival of the last byte.
    pub transfer: Expected,
    /// Each exchange's latency for the client.
    pub exchanges: Vec<Expected>,
    /// What the client waits less than in the unchanged replay, over all exchanges, or over the transfer where there is none.
    pub saved_ns: Nanos,
}

/// Everything about one connection.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// Why nothing is predicted.
    pub refused: Option<Refusal>,
    /// The path's round trip without queues.
    pub rtt_ns: Option<Nanos>,
    /// As captured.
    pub captured: Option<Times>,
    /// As the model plays it unchanged.
    pub replayed: Option<Times>,
    /// The model's own error: the replay's transfer less the captured one.
    pub error_ns: Option<Nanos>,
    /// With the changes: those asked for in their order, or the remedies that the causes call for, the best first.
    pub outcomes: Vec<Outcome>,
    /// Sizes that the observed values suggest.
    pub sizing: Vec<Sizing>,
}

/// What a record supports: each set of `changes`, or where there is none each remedy by itself.
pub fn forecast(record: &Record, changes: &[Vec<Change>]) -> Forecast {
    let mut forecast = Forecast {
        refused: None,
        rtt_ns: record.row.base_rtt_ns,
        captured: None,
        replayed: None,
        error_ns: None,
        outcomes: Vec::new(),
        sizing: sizing(record),
    };
    match recover(record) {
        Ok(recovered) => forecast.plays(record, recovered, changes),
        Err(refusal) => forecast.refused = Some(refusal),
    }
    forecast
}

impl Forecast {
    fn plays(&mut self, record: &Record, recovered: Recovered, changes: &[Vec<Change>]) {
        let exchanges = record.row.exchanges.iter().flatten().map(|exchange| exchange.latency_ns).collect();
        let captured = Times { transfer_ns: recovered.transfer, exchanges_ns: exchanges };
        let fitted = fit(recovered.setup, &captured);
        self.captured = Some(captured.clone());
        let Some((setup, played)) = fitted else {
            self.refused = Some(Refusal::DoesNotFit);
            return;
        };
        let base = Base { setup, captured, played };
        let error = base.played.transfer - base.captured.transfer_ns;
        self.replayed = Some(base.played.times());
        self.error_ns = Some(error);
        let (share, rounds) = FITS;
        if Nanos(error.0.abs()) > base.captured.transfer_ns.scaled(share).max(base.setup.rtt.times(rounds)) {
            self.refused = Some(Refusal::DoesNotFit);
            return;
        }
        if changes.is_empty() {
            self.outcomes = remedies::called_for(record, &base.setup)
                .into_iter()
                .filter_map(|change| base.outcome(&[change], true))
                .collect();
            self.outcomes.sort_by_key(|outcome| Nanos(-outcome.saved_ns.0));
        } else {
            self.outcomes = changes.iter().filter_map(|changes| base.outcome(changes, false)).collect();
        }
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

    /// What the client waited: its own pauses between exchanges are not counted.
    fn waited(&self) -> Nanos {
        let exchanges = self.exchanges.iter().fold(Nanos::ZERO, |sum, span| sum + *span);
        if self.exchanges.is_empty() { self.transfer } else { exchanges }
    }

    /// How far it is from what was captured, over the transfer and all exchanges.
    fn distance(&self, captured: &Times) -> i64 {
        let exchanges = self.exchanges.iter().zip(&captured.exchanges_ns).map(|(own, was)| (*own - *was).0.abs());
        (self.transfer - captured.transfer_ns).0.abs() + exchanges.sum::<i64>()
    }
}

/// What a capture does not say outright: whether an idle lowers the window. It does unless the replay fits clearly better
/// without.
fn fit(setup: Setup, captured: &Times) -> Option<(Setup, Played)> {
    let usual = play(&setup)?;
    if setup.ends.iter().any(|end| !end.send_buffer.is_empty()) {
        // A buffer that binds hides what the window would allow.
        return Some((setup, usual));
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
struct Base {
    setup: Setup,
    captured: Times,
    played: Played,
}

impl Base {
    fn outcome(&self, changes: &[Change], suggested: bool) -> Option<Outcome> {
        let lifts = changes.iter().all(|change| change.only_lifts(&self.setup));
        let views = View::ALL.map(|view| {
            let mut setup = self.setup.clone();
            changes.iter().for_each(|change| change.apply(&mut setup, view));
            play(&setup).map(|played| (setup.rtt, if lifts { played.no_longer_than(&self.played) } else { played }))
        });
        let [Some((rtt, hopeful)), Some((_, likely)), Some((_, doubtful))] = views else { return None };
        let structural = changes.iter().any(Change::is_structural);
        let inside = rtt.scaled(if structural { STRUCTURAL } else { INSIDE });
        let expected = |own: Nanos, was: Nanos, all: [Nanos; 3]| {
            let error = Nanos((own - was).0.abs());
            let margin = error.max(all[1].scaled(LEAST_MARGIN)).max(inside);
            let low = all.iter().min().copied().unwrap_or(all[1]) - margin;
            let high = all.iter().max().copied().unwrap_or(all[1]) + margin;
            // Whatever is asked and answered takes a round trip.
            let low = low.max(rtt.min(all[1]));
            Expected { expected_ns: all[1], low_ns: low, high_ns: high }
        };
        let transfers = [hopeful.transfer, likely.transfer, doubtful.transfer];
        let exchanges = self.played.exchanges.iter().zip(&self.captured.exchanges_ns).enumerate();
        Some(Outcome {
            changes: changes.to_vec(),
            suggested,
            transfer: expected(self.played.transfer, self.captured.transfer_ns, transfers),
            exchanges: exchanges
                .map(|(at, (own, was))| {
                    expected(*own, *was, [&hopeful, &likely, &doubtful].map(|played| played.exchanges[at]))
                })
                .collect(),
            saved_ns: self.played.waited() - likely.waited(),
        })
    }
}
