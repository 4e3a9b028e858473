//! Compares the captured transfer with its replay, and the replay with replays of changes.

use serde::Serialize;

use super::carried::carried;
use super::change::Change;
use super::fit::{Carried, Fitted, fit};
use super::outcome::{Base, ChangeEffect};
use super::record::Record;
use super::recover::{RecoveredSetup, Refusal, recover, shares};
use super::remedies;
use super::sizing::{Sizing, sizing};
use super::times::Times;
use crate::flow::End;
use crate::time::Nanos;

/// Events of all replays of one flow together; a flow that needs more is refused.
pub const MOST_EVENTS: u64 = 100_000_000;

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
    /// Times of the unchanged replay without the pace that was fitted to the captured time; `None` where no pace was
    /// fitted.
    pub without_pace: Option<Times>,
    /// Exchanges beyond those that are kept of a flow: the transfer contains them, the exchanges do not.
    pub exchanges_left_out: u64,
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
    let mut forecast = Forecast::of(record);
    match recover(record) {
        Ok(recovered) => forecast.plays(record, recovered, changes, most),
        Err(refusal) => forecast.refused = Some(refusal),
    }
    forecast
}

impl Forecast {
    /// A forecast without any prediction.
    pub(super) fn of(record: &Record) -> Forecast {
        Forecast {
            refused: None,
            rtt_ns: record.row.base_rtt_ns,
            captured: None,
            replayed: None,
            without_pace: None,
            exchanges_left_out: record.exchanges_left_out,
            error_ns: None,
            outcomes: Vec::new(),
            unpredicted: Vec::new(),
            sizing: sizing(record),
        }
    }

    /// A forecast that is refused.
    pub(super) fn refused(record: &Record, refusal: Refusal) -> Forecast {
        Forecast { refused: Some(refusal), ..Forecast::of(record) }
    }

    fn plays(&mut self, record: &Record, recovered: RecoveredSetup, changes: &[Vec<Change>], most: u64) {
        let exchanges = record.row.exchanges.iter().flatten().map(|exchange| exchange.latency_ns).collect();
        let captured = Times { transfer_ns: recovered.transfer, exchanges_ns: exchanges };
        let fitted = fit(recovered.setup, &captured).map(|fitted| {
            match carried(record, &fitted.setup, &fitted.played, &captured, &recovered.progress) {
                Some((end, setup, played)) => {
                    let carried = Some(Carried { end, without: fitted.played });
                    Fitted { setup, played, carried, ..fitted }
                }
                None => fitted,
            }
        });
        self.captured = Some(captured.clone());
        // Others that filled the line are a better reason than that the replay without them is too quick.
        let shared = End::BOTH.into_iter().any(|end| shares(record, end));
        let misfit = if shared { Refusal::SharedLine } else { Refusal::DoesNotFit };
        let Some(fitted) = fitted else {
            self.refused = Some(misfit);
            return;
        };
        let base = Base::of(record, fitted, captured);
        let error = base.played.transfer - base.captured.transfer_ns;
        self.replayed = Some(base.played.times());
        self.without_pace = base.without_pace();
        self.error_ns = Some(error);
        if !base.fits() {
            self.refused = Some(misfit);
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
