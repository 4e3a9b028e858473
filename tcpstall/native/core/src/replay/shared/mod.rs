//! Replays flows together that share a line: one queue of the rate and depth that all of them show, and each flow's own
//! applications and limits.
//!
//! [`flows`] brings them to one clock, [`line`] infers the line, [`fit`] recovers the flows on it and chooses the depth
//! whose replay is closest to the capture, [`outcome`] compares replays with changes.

mod fit;
mod flows;
mod line;
mod outcome;

use super::change::Change;
use super::forecast::Forecast;
use super::record::Record;
use super::recover::Refusal;

/// One of the flows on a line.
#[derive(Clone, Copy, Debug)]
pub struct OnLine<'a> {
    /// Its record.
    pub record: &'a Record,
    /// The changes of hosts are made at it; those of the path concern all.
    pub changed: bool,
}

/// Forecasts of flows that share a line, for each set of `changes`: in the order of the changed ones. Each is refused
/// where the unchanged replay of all of them does not fit the capture.
pub fn forecast_together(flows: &[OnLine<'_>], changes: &[Vec<Change>]) -> Vec<Forecast> {
    let refused = |refusal: Refusal| {
        let changed = flows.iter().filter(|flow| flow.changed);
        changed.map(|flow| Forecast::refused(flow.record, refusal)).collect()
    };
    let Some(group) = flows::Group::of(flows) else { return refused(Refusal::SharedLine) };
    match fit::fit(&group) {
        Some(fitted) => outcome::forecasts(&group, &fitted, changes),
        None => refused(Refusal::SharedLine),
    }
}
