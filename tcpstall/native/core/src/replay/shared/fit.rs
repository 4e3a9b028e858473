//! Recovers flows on their line, and chooses the depth of its queue whose replay is closest to the capture.

use super::flows::Group;
use super::line::{self, Depth};
use crate::flow::End;
use crate::replay::model::{Member, Played, Start, play_together};
use crate::replay::recover::{Path, RecoveredSetup, recover_on};
use crate::replay::setup::{Control, Loss, QueueDepth};
use crate::replay::times::Times;
use crate::time::Nanos;

/// Step from one depth that is tried to the next.
const STEP: f64 = 1.25;
/// The least depth that is tried, segments.
const LEAST: i64 = 6;
/// The largest depth that is tried, in bandwidth-delay products.
const MOST: f64 = 12.0;
/// Throws of the dice by which one reading is judged.
const TRIES: u64 = 3;
/// Weight of another number of losses against another duration.
const LOSSES: f64 = 0.1;
/// Losses that are as good as none.
const FEW: f64 = 5.0;
/// Distance by which another congestion control of a sender must fit better.
const CLEARLY: f64 = 0.03;
/// Distance within which readings are as likely as the best one, and their largest number.
const LIKELY: (f64, usize) = (0.03, 4);
/// Flows whose senders are tried with each congestion control, one after the other.
const MOST_TRIED: usize = 12;
/// Largest variation of the starts: programs do not start to the microsecond.
const START: Nanos = Nanos::from_millis(1);
/// Largest variation of rate and depth, as a share.
const VARIES: f64 = 0.04;

/// The flows on their line.
pub(super) struct Fitted {
    /// Readings that fit alike, the best first.
    pub(super) readings: Vec<Vec<Member>>,
    pub(super) captured: Vec<Times>,
}

/// The reading of the capture that fits best; `None` where the line is unknown or no replay ends.
pub(super) fn fit(group: &Group<'_>) -> Option<Fitted> {
    let rates = End::BOTH.map(|end| line::rate(group, end));
    if rates == [None, None] {
        return None;
    }
    let recovered: Option<Vec<RecoveredSetup>> = group
        .flows
        .iter()
        .map(|flow| {
            let of = |end: End| flow.end(end);
            let path = Path {
                rtt: group.rtt,
                distances: End::BOTH.map(|end| group.distances[of(end)]),
                rates: End::BOTH.map(|end| rates[of(end)]),
                queues: End::BOTH.map(|end| rates[of(end)].is_some()),
            };
            recover_on(flow.record, &path).ok()
        })
        .collect();
    let recovered = recovered?;
    let transfers: Vec<Nanos> = recovered.iter().map(|one| one.transfer).collect();
    let captured = group
        .flows
        .iter()
        .zip(&transfers)
        .map(|(flow, transfer)| Times {
            transfer_ns: *transfer,
            exchanges_ns: flow.record.row.exchanges.iter().flatten().map(|exchange| exchange.latency_ns).collect(),
        })
        .collect();
    // The part of a handshake that others' data did not queue.
    let opening = recovered.iter().map(|one| one.setup.opening).min().unwrap_or_default();
    let members: Vec<Member> = recovered
        .into_iter()
        .zip(&group.flows)
        .zip(group.starts(&transfers))
        .map(|((one, flow), start)| {
            let mut setup = one.setup;
            setup.opening = if setup.lost_handshake { setup.opening } else { opening };
            Member { setup, start, flipped: flow.flipped }
        })
        .collect();
    let lost = lost(&members);
    let off = |members: &[Member]| distance(members, &transfers, lost);
    let depths = depths(group, members, rates);
    let mut readings: Vec<(f64, Vec<Member>)> =
        depths.iter().filter_map(|members| Some((off(members)?, members.clone()))).collect();
    readings.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (best, first) = readings.first().cloned()?;
    if let Some(controls) = controls(&first, best, &off) {
        readings = depths
            .into_iter()
            .filter_map(|mut members| {
                for (member, controls) in members.iter_mut().zip(&controls) {
                    member.setup.ends.iter_mut().zip(controls).for_each(|(end, control)| end.control = *control);
                }
                Some((off(&members)?, members))
            })
            .collect();
        readings.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    let (best, _) = *readings.first()?;
    readings.truncate(LIKELY.1);
    readings.retain(|(own, _)| *own <= best + LIKELY.0);
    Some(Fitted { readings: readings.into_iter().map(|(_, members)| members).collect(), captured })
}

/// Congestion controls of both ends of each member with which the replays fit clearly better; `None` where the known ones
/// do. The sender that sends most is tried, one member after the other.
fn controls(members: &[Member], off: f64, distance: &dyn Fn(&[Member]) -> Option<f64>) -> Option<Vec<[Control; 2]>> {
    let (mut members, mut best, mut other) = (members.to_vec(), off, false);
    for at in 0..members.len().min(MOST_TRIED) {
        let sender = End::BOTH.into_iter().max_by_key(|end| members[at].setup.ends[*end].bytes())?;
        for control in [Control::Reno, Control::Cubic, Control::Bbr] {
            let now = members[at].setup.ends[sender].control;
            if now == control {
                continue;
            }
            members[at].setup.ends[sender].control = control;
            match distance(&members).filter(|own| own + CLEARLY < best) {
                Some(own) => (best, other) = (own, true),
                None => members[at].setup.ends[sender].control = now,
            }
        }
    }
    other.then(|| members.iter().map(|member| member.setup.ends.each_ref().map(|end| end.control)).collect())
}

/// Data lost by all members.
fn lost(members: &[Member]) -> f64 {
    let losses = members.iter().flat_map(|member| &member.setup.ends).flat_map(|end| &end.losses);
    losses.map(|loss| f64::from(loss.times)).sum()
}

/// The members with queues of different depths; with their losses at fixed data where no queue need have overflowed.
fn depths(group: &Group<'_>, members: Vec<Member>, rates: [Option<f64>; 2]) -> Vec<Vec<Member>> {
    let mut all = vec![members];
    for end in End::BOTH {
        let Some(rate) = rates[end] else { continue };
        let members = &all[0];
        let losses: Vec<_> =
            members.iter().zip(&group.flows).map(|(one, flow)| one.setup.ends[flow.end(end)].losses.clone()).collect();
        let known = line::depth(group, end, rate, &losses);
        let depth = |bytes, losses: Option<&[Vec<Loss>]>| {
            let mut members = members.clone();
            for (at, (member, flow)) in members.iter_mut().zip(&group.flows).enumerate() {
                let own = &mut member.setup.ends[flow.end(end)];
                own.queue = Some(QueueDepth { bytes, overflowed: losses.is_some() });
                if let Some(losses) = losses {
                    own.losses.clone_from(&losses[at]);
                }
            }
            members
        };
        let product = (rate * group.rtt.0 as f64 / 1e9) as i64;
        let mss = group.flows.iter().map(|flow| flow.record.mss[flow.end(end)]).max().unwrap_or(1);
        let none = vec![Vec::new(); members.len()];
        let elsewhere = known.as_ref().map_or(&none, |known| &known.elsewhere);
        let all_lost: usize = losses.iter().map(Vec::len).sum();
        let mut tried = Vec::new();
        // Where most losses fell while the queue was full, other replays lose other data.
        if elsewhere.iter().map(Vec::len).sum::<usize>() >= all_lost.div_ceil(2) {
            tried.push(depth(known.as_ref().map_or(product, |known| known.deepest), None));
        }
        if all_lost > 0 {
            let (least, most) = match &known {
                Some(Depth { deepest, .. }) => (deepest * 2 / 3, deepest * 3 / 2),
                None => (LEAST * mss, (MOST * product as f64) as i64),
            };
            let mut bytes = least.max(LEAST * mss);
            while bytes <= most.max(LEAST * mss) {
                tried.push(depth(bytes, Some(elsewhere)));
                bytes = (bytes as f64 * STEP) as i64;
            }
        }
        all = tried;
    }
    all
}

/// Mean distance of the replays from the captured times, as a share of them, with a share for another number of losses.
fn distance(members: &[Member], captured: &[Nanos], lost: f64) -> Option<f64> {
    let one = |seed| {
        let played = play_together(&varied(members, seed))?;
        let off = played.iter().zip(captured).map(|(own, was)| (own.transfer - *was).0.abs() as f64);
        let whole: f64 = captured.iter().map(|was| was.0 as f64).sum();
        let again: u64 = played.iter().map(|own| own.sent_again).sum();
        Some(off.sum::<f64>() / whole.max(1.0) + LOSSES * ((again as f64 + FEW) / (lost + FEW)).ln().abs())
    };
    let all: Option<Vec<f64>> = (0..TRIES).map(one).collect();
    Some(all?.iter().sum::<f64>() / TRIES as f64)
}

/// The members with starts, rate and depth as another run would have them.
pub(super) fn varied(members: &[Member], seed: u64) -> Vec<Member> {
    let mut dice = crate::replay::model::Dice::new(seed);
    let (rate, depth) = (1.0 + VARIES * (dice.throw() - 0.5), 1.0 + VARIES * (dice.throw() - 0.5));
    let vary = |member: &Member| {
        let mut member = member.clone();
        member.setup.seed = seed;
        let later = START.scaled(dice.throw());
        member.start = match member.start {
            Start::At(time) => Start::At(time + later),
            Start::After(other, span) => Start::After(other, span + later),
        };
        for end in &mut member.setup.ends {
            end.rate = end.rate.map(|own| own * rate);
            end.queue = end.queue.map(|queue| QueueDepth { bytes: (queue.bytes as f64 * depth) as i64, ..queue });
        }
        member
    };
    members.iter().map(vary).collect()
}

/// Replays of all readings by turns, `count` of them, each with another throw of the dice; those that never end are left
/// out.
pub(super) fn replays(readings: &[Vec<Member>], count: u64) -> Vec<Vec<Played>> {
    let turns = readings.iter().cycle().zip(0..count);
    turns.filter_map(|(members, seed)| play_together(&varied(members, seed))).collect()
}
