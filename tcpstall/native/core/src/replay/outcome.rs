//! Effect of changes: replays of them against the unchanged replay, with the bounds of what the capture does not show.

use serde::Serialize;

use super::bound::Bound;
use super::change::Change;
use super::fit::{Carried, FITS_MEASURED, Fitted};
use super::gain::unreplayed;
use super::luck;
use super::model::{Played, play};
use super::record::Record;
use super::recover::Refusal;
use super::setup::{Control, HostSetup, Setup};
use super::times::Times;
use super::unknown::unknown;
use super::view::View;
use crate::time::Nanos;

/// Largest difference of a replay from the capture, as a share and in round trips: a replay that exceeds both is
/// refused.
const FITS: (f64, i64) = (0.3, 2);
/// Largest difference that the hosts' own time explains, whatever the round trip.
const HOSTS: Nanos = Nanos::from_millis(1);
/// Smallest margin of a prediction, as a share of it.
const LEAST_MARGIN: f64 = 0.02;
/// The same with BBR's third version, which was not compared with a real sender.
const OUTLINE_MARGIN: f64 = 0.15;
/// Share of the time from which a gain is a promise.
const PROMISE: f64 = 0.05;
/// Distance of replays with losses elsewhere, as a share of the likeliest, from which luck can decide.
const MUCH_LUCK: f64 = 0.3;
/// Round trips that the replay lacks from which a limit is hidden.
const LACKS: f64 = 0.9;
/// Error of a replay from the unknown times inside a round trip, in round trips.
const INSIDE: f64 = 0.1;
/// Waits of the hosts that a change takes away, as a share of its gain, from which the gain is uncertain.
const LATE: f64 = 0.1;
/// The same share from which there is no prediction.
const MOSTLY_LATE: f64 = 0.3;
/// Largest distance of the views of a limit that the flow never reached, as a share of the time or one round trip.
const HIDDEN: f64 = 0.15;

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

/// Least saving of a change that is suggested: most captures tell no shorter times apart.
const LEAST_SAVING: Nanos = Nanos::from_micros(1);

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
    /// Chance decides: of replays that differ in nothing but which packets are lost, too many are far from the likeliest.
    pub by_chance: bool,
}

impl ChangeEffect {
    /// True if the change saves time: a change that saves nothing is no advice.
    pub(super) fn saves(&self, unchanged: &Played) -> bool {
        let shorter = unchanged.transfer - self.transfer.expected_ns;
        self.saved_ns >= Nanos::ZERO && self.saved_ns.max(shorter) >= LEAST_SAVING
    }
}

/// The unchanged replay.
pub(super) struct Base<'a> {
    record: &'a Record,
    pub(super) setup: Setup,
    pub(super) captured: Times,
    pub(super) played: Played,
    control_known: bool,
    maybe_reno: bool,
    carried: Option<Carried>,
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
        if !setup.ends.iter().any(HostSetup::is_lossy) {
            return None;
        }
        let mut setup = setup.clone();
        setup.ends.iter_mut().for_each(|end| end.loses_nothing());
        Some(Whole { played: play(&setup)?, setup })
    }
}

impl Base<'_> {
    pub(super) fn of(record: &Record, fitted: Fitted, captured: Times) -> Base<'_> {
        let Fitted { setup, played, control_known, maybe_reno, carried } = fitted;
        Base { record, whole: Whole::of(&setup), setup, captured, played, control_known, maybe_reno, carried }
    }

    /// Times of the unchanged replay without the fitted pace; `None` where no pace was fitted.
    pub(super) fn without_pace(&self) -> Option<Times> {
        self.carried.as_ref().map(|carried| carried.without.times())
    }

    /// Approximate number of events in all replays for these sets of changes.
    pub(super) fn events(&self, sets: &[Vec<Change>]) -> u64 {
        let whole = self.whole.as_ref().map_or(0, |whole| whole.played.events);
        let unpaced = u64::from(self.carried.is_some());
        let turns = luck::BESIDE + unpaced + if self.whole.is_some() { luck::TURNS } else { 0 };
        let once = (self.played.events + whole) * View::ALL.len() as u64 + self.played.events * turns + whole;
        let draws = |set: &&Vec<Change>| set.iter().any(Change::is_drawn);
        let drawn = sets.iter().filter(draws).count() as u64 * luck::DRAWS * self.played.events;
        once.saturating_mul(sets.len() as u64).saturating_add(drawn)
    }

    /// True if the client waited a round trip more than in the replay: a limit that the capture does not show held a
    /// flight back, and may hold a larger one back too.
    fn lacks_a_round_trip(&self) -> bool {
        let exchanges = self.captured.exchanges_ns.iter().fold(Nanos::ZERO, |sum, span| sum + *span);
        let waited = if self.captured.exchanges_ns.is_empty() { self.captured.transfer_ns } else { exchanges };
        self.whole.is_none() && waited - self.played.waited() >= self.setup.rtt.scaled(LACKS)
    }

    /// True if the unchanged replay is as long as the capture, with its pauses and without them.
    pub(super) fn fits(&self) -> bool {
        // A pace that is measured has no unknown part: what misses it is another version of BBR.
        let (share, rounds) = if self.setup.is_measured() { FITS_MEASURED } else { FITS };
        let near = |own: Nanos, was: Nanos| {
            (own - was).0.abs() <= was.scaled(share).max(self.setup.rtt.times(rounds)).max(HOSTS).0
        };
        let exchanges = self.captured.exchanges_ns.iter().fold(Nanos::ZERO, |sum, span| sum + *span);
        // At a sender behind a bottleneck the captured exchanges end before the queue that the replay adds.
        let known = !self.captured.exchanges_ns.is_empty() && self.setup.ends.iter().all(|end| end.rate.is_none());
        near(self.played.transfer, self.captured.transfer_ns) && (!known || near(self.played.waited(), exchanges))
    }

    pub(super) fn outcome(&self, changes: &[Change], suggested: bool) -> Result<ChangeEffect, Refusal> {
        if let Some(refusal) = unknown(changes, self.record, &self.setup) {
            return Err(refusal);
        }
        if !self.control_known && changes.iter().any(|change| change.name == "cc") {
            return Err(Refusal::UnknownControl);
        }
        let paths = ["rtt", "rate", "queue", "queue-packets"];
        if self
            .carried
            .as_ref()
            .is_some_and(|at| changes.iter().any(|one| paths.contains(&one.name) && one.is_at(at.end)))
        {
            return Err(Refusal::UnknownLimit);
        }
        let lifts = changes.iter().all(|change| change.only_lifts(&self.setup));
        let bound = Bound::of(self.record, &self.captured, changes, &self.setup);
        let missing = unreplayed(self.record, &self.captured, &self.played, changes);
        // Waits for a buffer that the replay lacks stay.
        // Pushes of whole frames leave no frame to be filled again, so the stops move with every change of the window.
        let framed = self.setup.ends.iter().any(|end| end.frames.is_some()) && self.played.whole_frames;
        let hidden = framed || missing.transfer_ns == Nanos::ZERO && self.lacks_a_round_trip();
        if hidden && changes.iter().any(Change::widens) {
            return Err(Refusal::HiddenLimit);
        }
        let mut bounded = [false; View::ALL.len()];
        let mut saved = [Nanos::ZERO; View::ALL.len()];
        let drawn = self.drawn(changes);
        let views = View::ALL.map(|view| {
            let (rtt, mut played) = match luck::middle(&drawn, view) {
                Some(played) => (self.setup.rtt, played),
                None => self.changed(changes, view)?,
            };
            if lifts {
                played = played.no_longer_than(&self.played);
            }
            saved[view as usize] = (self.played.waited() - played.waited()).min(bound.owned());
            played = played.longer(&missing);
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
        let fills = self.setup.ends.iter().any(|end| end.queue.is_some_and(|queue| !queue.overflowed));
        let window = changes.iter().all(|change| change.name != "loss" && !paths.contains(&change.name));
        let was = self.played.waited();
        if fills && window && likely.waited() < was - was.scaled(PROMISE) && doubtful.waited() > was + rtt {
            return Err(Refusal::HiddenQueue);
        }
        let no_longer_late = self.no_longer_late(&likely);
        if no_longer_late > MOSTLY_LATE {
            return Err(Refusal::UnknownLimit);
        }
        let inside = rtt.scaled(INSIDE);
        let luck = if drawn.is_empty() { self.luck(changes) } else { Vec::new() };
        if self.is_luck(&likely, &luck) {
            return Err(Refusal::Luck);
        }
        let others = self.other_turns(changes, &bound, lifts, &missing);
        if others.as_ref().is_some_and(|others| (others.waited() - likely.waited()).0.abs() > close.0) {
            return Err(Refusal::HiddenLimit);
        }
        if self.as_reno(changes).is_some_and(|other| (other.waited() - likely.waited()).0.abs() > close.0) {
            return Err(Refusal::UnknownControl);
        }
        let by_chance = luck::decides(&likely, &drawn, &luck, close);
        let near = if drawn.is_empty() { self.near(changes, &bound, lifts, &missing) } else { Vec::new() };
        let unpaced = self.unpaced(changes, &bound);
        let first = self.first_version(changes);
        let margin = if first.is_some() { OUTLINE_MARGIN } else { LEAST_MARGIN };
        let no_sooner = Some(&self.played).filter(|_| no_longer_late > LATE);
        let all: Vec<&Played> = [&hopeful, &likely, &doubtful]
            .into_iter()
            .chain(no_sooner)
            .chain(&others)
            .chain(&luck)
            .chain(&first)
            .chain(&near)
            .chain(&drawn)
            .chain(unpaced.iter().flatten())
            .collect();
        let lacking = missing.transfer_ns > Nanos::ZERO;
        let expected = |own: Nanos, was: Nanos, of: &dyn Fn(&Played) -> Nanos| {
            let likely = of(&likely);
            let error = Nanos((own - was).0.abs());
            let least = likely.scaled(margin).max(inside);
            let (below, above) = (error.max(least), if lacking { least } else { error.max(least) });
            let low = all.iter().map(|played| of(played)).min().unwrap_or(likely) - below;
            let high = all.iter().map(|played| of(played)).max().unwrap_or(likely) + above;
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
            by_chance,
        })
    }

    /// Replays with the changes where chance decides which packets are lost, the shortest first; none otherwise.
    fn drawn(&self, changes: &[Change]) -> Vec<Played> {
        if !changes.iter().any(Change::is_drawn) {
            return Vec::new();
        }
        let mut setup = self.setup.clone();
        changes.iter().for_each(|change| change.apply(&mut setup, View::Likely));
        luck::draws(&setup)
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

    /// True if the replays with losses elsewhere, of which the last has none, differ by more than the change saves, and by
    /// much. Of a change without effect that is said.
    fn is_luck(&self, likely: &Played, luck: &[Played]) -> bool {
        let Some((_, elsewhere)) = luck.split_last() else { return false };
        let waited = || elsewhere.iter().chain([likely]).map(Played::waited);
        let (Some(least), Some(most)) = (waited().min(), waited().max()) else { return false };
        let effect = Nanos((self.played.waited() - likely.waited()).0.abs());
        let any = effect > self.played.waited().scaled(LEAST_MARGIN);
        any && most - least > effect && most - least > likely.waited().scaled(MUCH_LUCK)
    }

    /// The replay with the changes where writers of large frames run after acknowledgements of the same moment instead of
    /// among them, or the other way round: nothing decides who runs first.
    fn other_turns(&self, changes: &[Change], bound: &Bound, lifts: bool, missing: &Times) -> Option<Played> {
        let mut setup = self.setup.clone();
        changes.iter().for_each(|change| change.apply(&mut setup, View::Likely));
        let mut framed = setup.ends.iter_mut().filter_map(|end| end.frames.as_mut()).peekable();
        framed.peek()?;
        framed.for_each(|frames| frames.at_once = !frames.at_once);
        let played = self.held(play(&setup)?, bound, lifts, missing);
        Some(played)
    }

    /// A replay of the likeliest view, with what the bound and the capture's unreplayed waits add.
    fn held(&self, mut played: Played, bound: &Bound, lifts: bool, missing: &Times) -> Played {
        if lifts {
            played = played.no_longer_than(&self.played);
        }
        played = played.longer(missing);
        bound.hold(&mut played, &self.played, &self.captured);
        played
    }

    /// The likeliest replays with the changes where the limits are a little smaller and larger: a round trip more or less
    /// where the data just fits.
    fn near(&self, changes: &[Change], bound: &Bound, lifts: bool, missing: &Times) -> Vec<Played> {
        let changed = luck::beside(|| {
            let mut setup = self.setup.clone();
            changes.iter().for_each(|change| change.apply(&mut setup, View::Likely));
            setup
        });
        let played = changed.filter_map(|setup| play(&setup));
        played.map(|played| self.held(played, bound, lifts, missing)).collect()
    }

    /// Where a pace was fitted, the replay with the changes and without the pace, and the unchanged replay: the change may
    /// lift the unknown limit, and the unknown limit may take away what the change gains.
    fn unpaced(&self, changes: &[Change], bound: &Bound) -> Option<[Played; 2]> {
        let end = self.carried.as_ref()?.end;
        let mut setup = self.setup.clone();
        setup.ends[end].pace = None;
        changes.iter().for_each(|change| change.apply(&mut setup, View::Likely));
        let mut played = play(&setup)?;
        bound.hold(&mut played, &self.played, &self.captured);
        Some([played, self.played.clone()])
    }

    /// The replay with another queue where Reno takes the place of CUBIC, if the capture would look the same: Reno's slow
    /// start goes on until a queue overflows.
    fn as_reno(&self, changes: &[Change]) -> Option<Played> {
        let queues = changes.iter().any(|change| change.name.starts_with("queue"));
        let mut setup = self.setup.clone();
        setup.ends.iter_mut().filter(|_| queues && self.maybe_reno).for_each(|end| end.control = Control::Reno);
        changes.iter().for_each(|change| change.apply(&mut setup, View::Likely));
        (queues && self.maybe_reno).then(|| play(&setup)).flatten()
    }

    /// The replay with the changes where BBR's first version takes the place of the third.
    fn first_version(&self, changes: &[Change]) -> Option<Played> {
        let mut setup = self.setup.clone();
        changes.iter().for_each(|change| change.apply(&mut setup, View::Likely));
        let mut third = setup.ends.iter_mut().filter(|end| end.control == Control::Bbr3).peekable();
        third.peek()?;
        third.for_each(|end| end.control = Control::Bbr);
        play(&setup)
    }

    /// Waits of the hosts that the change takes away, as a share of its gain: the capture does not show whether a host
    /// that no longer stops goes on sooner.
    fn no_longer_late(&self, changed: &Played) -> f64 {
        let (gone, gain) = (self.played.late - changed.late, self.played.transfer - changed.transfer);
        if gain > Nanos::ZERO { gone.or_zero().0 as f64 / gain.0 as f64 } else { 0.0 }
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
        let keeps =
            changes.iter().all(|change| !matches!(change.name, "loss" | "rtt" | "cc" | "queue" | "queue-packets"));
        Some(match self.whole.as_ref().filter(|_| keeps) {
            Some(whole) => (rtt, played.gaining_no_more(&self.played, &whole.played, &made(&whole.setup)?.1)),
            None => (rtt, played),
        })
    }
}
