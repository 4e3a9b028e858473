//! Effects of changes on flows that share a line.

use super::fit::{Fitted, replays};
use super::flows::{Group, Sharing};
use crate::replay::change::Change;
use crate::replay::forecast::{Forecast, Unpredicted};
use crate::replay::model::{Member, Played};
use crate::replay::outcome::{ChangeEffect, Expected};
use crate::replay::recover::Refusal;
use crate::replay::remedies::called_for;
use crate::replay::times::Times;
use crate::replay::view::View;
use crate::sender::sizes;
use crate::time::Nanos;

/// Replays of one setup in the likeliest view, and in each of the others.
const DRAWS: (u64, u64) = (19, 4);
/// Largest difference of a flow's replay from the capture, as a share and in round trips.
const FITS: (f64, i64) = (0.3, 2);
/// Largest difference of all flows together, as a share.
const ALL_FIT: f64 = 0.15;
/// Smallest margin of a prediction, as a share of it: flows that share a line take their turns differently in each run,
/// the more so where its queue overflows.
const LEAST_MARGIN: (f64, f64) = (0.05, 0.15);
/// The same of another congestion control beside others': which of them gives way is known least.
const CONTROL_MARGIN: f64 = 0.25;
/// Share of the time from which a gain is a promise.
const PROMISE: f64 = 0.05;
/// Least saving of a change that is suggested.
const LEAST_SAVING: Nanos = Nanos::from_micros(1);
/// Share of the draws that may be far from the middle one.
const FAR: f64 = 0.2;
/// Distance from the middle that is near, as a share.
const CLOSE: f64 = 0.15;

/// Forecasts of the changed flows.
pub(super) fn forecasts(group: &Group<'_>, fitted: &Fitted, changes: &[Vec<Change>]) -> Vec<Forecast> {
    let base = replays(&fitted.readings, DRAWS.0);
    let changed: Vec<usize> = (0..group.flows.len()).filter(|at| group.flows[*at].changed).collect();
    let mut forecasts: Vec<Forecast> = changed.iter().map(|at| Forecast::of(group.flows[*at].record)).collect();
    let unchanged: Vec<Option<Times>> = (0..group.flows.len()).map(|at| middle(&base, at)).collect();
    let sum = |times: &mut dyn Iterator<Item = Nanos>| times.fold(Nanos::ZERO, |sum, span| sum + span);
    let was = sum(&mut fitted.captured.iter().map(|times| times.transfer_ns));
    let own = sum(&mut unchanged.iter().flatten().map(|times| times.transfer_ns));
    let all_fit = (own - was).0.abs() <= was.scaled(ALL_FIT).0.max(group.rtt.times(FITS.1).0);
    for (forecast, at) in forecasts.iter_mut().zip(&changed) {
        let captured = &fitted.captured[*at];
        forecast.captured = Some(captured.clone());
        let Some(replayed) = unchanged[*at].clone() else {
            forecast.refused = Some(Refusal::SharedLine);
            continue;
        };
        let error = replayed.transfer_ns - captured.transfer_ns;
        let near = captured.transfer_ns.scaled(FITS.0).max(group.rtt.times(FITS.1));
        forecast.error_ns = Some(error);
        forecast.replayed = Some(replayed);
        forecast.refused = (!all_fit || error.0.abs() > near.0).then_some(Refusal::SharedLine);
    }
    if forecasts.iter().all(|forecast| forecast.refused.is_some()) {
        return forecasts;
    }
    let suggested = changes.is_empty();
    let sets = if suggested { remedies(group, fitted) } else { changes.to_vec() };
    for set in &sets {
        let made = unknown(set).map_or_else(|| draws(group, fitted, set).ok_or(Refusal::Endless), Err);
        for (forecast, at) in forecasts.iter_mut().zip(&changed).filter(|(forecast, _)| forecast.refused.is_none()) {
            match &made {
                Ok(made) => forecast.outcomes.extend(effect(set, forecast, made, *at, group.rtt)),
                Err(refused) => forecast.unpredicted.push(Unpredicted { changes: set.clone(), refused: *refused }),
            }
        }
    }
    if suggested {
        for forecast in &mut forecasts {
            forecast.unpredicted.clear();
            forecast.outcomes.retain(|outcome| !outcome.by_chance && outcome.saved_ns >= LEAST_SAVING);
            forecast.outcomes.iter_mut().for_each(|outcome| outcome.suggested = true);
            forecast.outcomes.sort_by_key(|outcome| Nanos(-outcome.saved_ns.0));
        }
    }
    forecasts
}

/// Changes to try, each alone: a faster line, and the remedies that the causes of the changed flows call for, with the
/// largest value of each.
fn remedies(group: &Group<'_>, fitted: &Fitted) -> Vec<Vec<Change>> {
    let mut found: Vec<Change> = Vec::new();
    let Some(members) = fitted.readings.first() else { return Vec::new() };
    let rate = members.iter().flat_map(|member| &member.setup.ends).filter_map(|end| end.rate).fold(0.0, f64::max);
    let faster = i64::try_from(sizes::faster_link(rate as u64)).ok();
    found.extend(faster.and_then(|rate| Change::new("rate", Some(rate))));
    for (flow, member) in group.flows.iter().zip(members).filter(|(flow, _)| flow.changed) {
        for change in called_for(flow.record, &member.setup) {
            match found.iter_mut().find(|known| known.name == change.name) {
                Some(known) if known.name != "rate" => known.value = known.value.max(change.value),
                Some(_) => {}
                None => found.push(change),
            }
        }
    }
    found.into_iter().filter(|change| change.name != "reuse-connection").map(|change| vec![change]).collect()
}

/// Reason why the capture cannot show the effect of these changes.
fn unknown(changes: &[Change]) -> Option<Refusal> {
    changes.iter().find_map(|change| match change.name {
        "reuse-connection" => Some(Refusal::SharedLine),
        _ => None,
    })
}

/// Replays with the changes: those in the likeliest view first; `None` where one never ends.
fn draws(group: &Group<'_>, fitted: &Fitted, changes: &[Change]) -> Option<Vec<Vec<Played>>> {
    let mut all = Vec::new();
    for view in [View::Likely, View::Hopeful, View::Doubtful] {
        let changed = |members: &Vec<Member>| {
            let made = |(member, flow): (&Member, &Sharing<'_>)| {
                let mut member = member.clone();
                for change in changes.iter().filter(|change| flow.changed || change.is_of_path()) {
                    let end = change.end.map(|end| flow.end(end));
                    Change { end, ..change.clone() }.apply(&mut member.setup, view);
                }
                member
            };
            members.iter().zip(&group.flows).map(made).collect()
        };
        let readings: Vec<Vec<Member>> = fitted.readings.iter().map(changed).collect();
        let count = if view == View::Likely { DRAWS.0 } else { DRAWS.1 };
        let played = replays(&readings, count);
        if (played.len() as u64) < count {
            return None;
        }
        all.extend(played);
    }
    Some(all)
}

/// Times of one flow, each in the middle of the replays.
fn middle(played: &[Vec<Played>], at: usize) -> Option<Times> {
    let exchanges = played.first()?[at].exchanges.len();
    let of = |span: &dyn Fn(&Played) -> Nanos| {
        let mut spans: Vec<Nanos> = played.iter().map(|all| span(&all[at])).collect();
        spans.sort_unstable();
        spans[spans.len() / 2]
    };
    Some(Times {
        transfer_ns: of(&|one| one.transfer),
        exchanges_ns: (0..exchanges).map(|number| of(&|one| one.exchanges[number])).collect(),
    })
}

fn effect(
    changes: &[Change],
    forecast: &Forecast,
    made: &[Vec<Played>],
    at: usize,
    rtt: Nanos,
) -> Option<ChangeEffect> {
    let (unchanged, captured) = (forecast.replayed.as_ref()?, forecast.captured.as_ref()?);
    let likely = &made[..DRAWS.0 as usize];
    let times = middle(likely, at)?;
    let again = |all: &[Played]| all.iter().map(|one| one.sent_again).sum::<u64>();
    let control = changes.iter().any(|change| change.name == "cc");
    let margin = if control {
        CONTROL_MARGIN
    } else if made.iter().any(|all| again(all) > 0) {
        LEAST_MARGIN.1
    } else {
        LEAST_MARGIN.0
    };
    let expected = |middle: Nanos, own: Nanos, was: Nanos, span: &dyn Fn(&Played) -> Nanos| {
        let spans = || made.iter().map(|all| span(&all[at]));
        let error = Nanos((own - was).0.abs()).max(middle.scaled(margin)).max(rtt.scaled(0.1));
        let low = spans().min().unwrap_or(middle) - error;
        let high = spans().max().unwrap_or(middle) + error;
        Expected { expected_ns: middle, low_ns: low.max(rtt.min(middle)), high_ns: high }
    };
    let exchanges = times.exchanges_ns.iter().zip(&unchanged.exchanges_ns).zip(&captured.exchanges_ns).enumerate();
    let exchanges: Vec<Expected> = exchanges
        .map(|(number, ((middle, own), was))| expected(*middle, *own, *was, &|one| one.exchanges[number]))
        .collect();
    let waited = |times: &Times| {
        let all = times.exchanges_ns.iter().fold(Nanos::ZERO, |sum, span| sum + *span);
        if times.exchanges_ns.is_empty() { times.transfer_ns } else { all }
    };
    let close = rtt.max(waited(&times).scaled(CLOSE));
    let far = likely.iter().filter(|all| (all[at].waited() - waited(&times)).0.abs() > close.0).count();
    let transfer = expected(times.transfer_ns, unchanged.transfer_ns, captured.transfer_ns, &|one| one.transfer);
    // A gain that the next run may lack is no promise.
    let was = waited(unchanged);
    let high = exchanges.iter().fold(Nanos::ZERO, |sum, span| sum + span.high_ns);
    let high = if exchanges.is_empty() { transfer.high_ns } else { high };
    let unsure = waited(&times) < was - was.scaled(PROMISE) && high > was;
    Some(ChangeEffect {
        changes: changes.to_vec(),
        suggested: false,
        transfer,
        exchanges,
        saved_ns: waited(unchanged) - waited(&times),
        owned_ns: waited(captured),
        bounded: false,
        by_chance: unsure || far as f64 > FAR * likely.len() as f64,
    })
}
