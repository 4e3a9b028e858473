//! Growth of the congestion window in slow start: by all acknowledged bytes, by at most two segments per ACK, or by one
//! segment per ACK.
//!
//! Prior     by all acknowledged bytes (RFC 3465 §2.2; Linux `tcp_slow_start` counts segments)
//! Evidence  flights of two waits that ACKs ended: the second flight is the first plus the growth by the law for the
//!           ACKs between
//! Learnt    once a law fits two steps that the prior does not fit; a climb goes on over steps that only the ACKs explain, one by
//!           one, because merged ACKs count for less (4.4BSD's descendants count two segments at most)
//! Source    RFC 5681 §3.1 (at most a segment per ACK), RFC 3465 §2.2 (bytes acknowledged)

use serde::{Deserialize, Serialize};

use super::{BurstAndPause, Observed};

/// Law by which the congestion window grows in slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Growth {
    /// As many segments as were acknowledged.
    #[default]
    PerSegment,
    /// As many segments as were acknowledged, but no more than two per ACK (RFC 3465 §2.3, L = 2): a receiver that
    /// merges ACKs slows the growth.
    TwoPerAck,
    /// One segment per ACK, whatever the ACK covers: with a receiver that delays its ACKs the window grows 1.5-fold per
    /// round trip.
    PerAck,
}

/// Divisor of the flight: a step that adds less than an eighth of it, or a single segment, shows no law, because
/// congestion avoidance and chance do as much.
const LEAST_GROWTH: u32 = 8;
/// Steps that must fit an unusual law before it is believed.
const UNUSUAL: usize = 2;

/// Equal single steps that are no growth.
const REPEATED: usize = 3;

/// Step from one wait that an ACK ended to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct GrowthStep {
    from: usize,
    to: usize,
    per_segment: bool,
    two_per_ack: bool,
    per_ack: bool,
    /// The growth is not by all acknowledged bytes, but by what each ACK counts for where it counts for two segments at most, or
    /// for one.
    slower: bool,
    /// Other pauses are between the two waits: in those the sender had nothing to send.
    apart: bool,
}

impl GrowthStep {
    fn fits(&self, growth: Growth) -> bool {
        match growth {
            Growth::PerSegment => self.per_segment,
            Growth::TwoPerAck => self.two_per_ack,
            Growth::PerAck => self.per_ack,
        }
    }
}

/// Consecutive waits connected by growth.
#[derive(Clone, Debug)]
pub(super) struct GrowthRun {
    /// Rounds from the climb's first wait to its last.
    pub(super) rounds: std::ops::RangeInclusive<usize>,
    pub(super) steps: u32,
    /// The last round that the law explains: the ACKs before a later one were merged.
    pub(super) lawful: usize,
}

impl GrowthRun {
    fn goes_on(&mut self, to: usize) {
        (self.rounds, self.steps, self.lawful) = (*self.rounds.start()..=to, self.steps + 1, to);
    }

    /// The climb goes on where ACKs are merged, by what each of them counts for (RFC 3465 §2.3, RFC 5681 §3.1).
    fn goes_on_slower(&mut self, steps: &[GrowthStep]) {
        for step in steps.iter().filter(|step| step.slower && !step.apart) {
            if step.from == *self.rounds.end() {
                (self.rounds, self.steps) = (*self.rounds.start()..=step.to, self.steps + 1);
            }
        }
    }
}

/// Compares the growth with the law. The flight is counted in whole segments, its end may be a segment more, and TSO
/// defers a part of the permitted data. The tolerance stays below the growth itself.
fn agrees(grown: u64, law: u64, out: u32) -> bool {
    grown.abs_diff(law) <= u64::from(1 + out / 32).min(grown / 4)
}

fn step(rounds: &[BurstAndPause], from: usize, to: usize) -> GrowthStep {
    let (before, after) = (&rounds[from], &rounds[to]);
    let apart = to > from + 1;
    let grown = u64::from(after.out.saturating_sub(before.out));
    let acked = after.acked.saturating_sub(before.acked);
    let acks: u64 = rounds[from + 1..=to].iter().map(|round| u64::from(round.acks)).sum();
    let much = grown * u64::from(LEAST_GROWTH) >= u64::from(before.out).max(1) && (grown > 1 || before.out == 1);
    let shows = |law: u64| much && agrees(grown, law, after.out);
    let (per_segment, two_per_ack, per_ack) = (shows(acked), shows(acked.min(2 * acks)), shows(acks));
    let counted = before.counted.zip(after.counted).and_then(|(before, after)| after.checked_sub(before));
    let slower = !per_segment && (per_ack || counted.is_some_and(|counted| shows(u64::from(counted))));
    GrowthStep { from, to, per_segment, two_per_ack, per_ack, slower, apart }
}

/// Steps from each wait that an ACK ended to the next such wait, where nothing was lost between them.
pub(super) fn steps(rounds: &[BurstAndPause]) -> Vec<GrowthStep> {
    let mut steps = Vec::new();
    let mut last = None;
    for (at, round) in rounds.iter().enumerate() {
        if round.disturbed {
            last = None;
        } else if round.is_wait() {
            steps.extend(last.map(|from| step(rounds, from, at)));
            last = Some(at);
        }
    }
    steps
}

/// Returns the law that fits more steps which the prior does not fit, or the prior.
pub(super) fn learn(steps: &[GrowthStep]) -> Observed<Growth> {
    let near = || steps.iter().filter(|step| !step.apart);
    let prior = near().filter(|step| step.per_segment).count();
    let only = |law: Growth| near().filter(|step| step.fits(law) && !step.per_segment).count();
    let prior_only = |law: Growth| near().filter(|step| step.per_segment && !step.fits(law)).count();
    for law in [Growth::PerAck, Growth::TwoPerAck] {
        let times = only(law);
        if times > prior_only(law) && (times >= UNUSUAL || times == 1 && prior == 0) {
            return Observed::of(law, times as u32);
        }
    }
    Observed::of(Growth::PerSegment, prior as u32)
}

/// Runs of consecutive steps that the law fits. A run may cross pauses of another reason only if the law was learnt.
pub(super) fn climbs(rounds: &[BurstAndPause], steps: &[GrowthStep], growth: Observed<Growth>) -> Vec<GrowthRun> {
    let Some(law) = growth.value else { return Vec::new() };
    let fits = |step: &GrowthStep| step.fits(law) && (!step.apart || growth.learnt().is_some());
    let mut climbs: Vec<GrowthRun> = Vec::new();
    for step in steps.iter().filter(|step| fits(step)) {
        match climbs.last_mut().filter(|climb| *climb.rounds.end() == step.from) {
            Some(climb) => climb.goes_on(step.to),
            None => climbs.push(GrowthRun { rounds: step.from..=step.to, steps: 1, lawful: step.to }),
        }
    }
    // A single step may be chance, unless a flow or an idle period ended just before it.
    let begins = |climb: &GrowthRun| {
        let start = *climb.rounds.start();
        start == 0 || rounds[start - 1].idle || !rounds[..start].iter().any(BurstAndPause::is_wait)
    };
    climbs.retain(|climb| climb.steps >= 2 || growth.learnt().is_some() || begins(climb));
    let ends = |climb: &GrowthRun| (rounds[*climb.rounds.start()].out, rounds[*climb.rounds.end()].out, climb.steps);
    let seen: Vec<_> = climbs.iter().map(ends).collect();
    // A window that nothing lowered cannot grow by the same step again and again: a buffer refills in such steps.
    let repeats = |climb: &GrowthRun| seen.iter().filter(|other| **other == ends(climb)).count() >= REPEATED;
    climbs.retain(|climb| climb.steps >= 2 || begins(climb) || !repeats(climb));
    climbs.iter_mut().for_each(|climb| climb.goes_on_slower(steps));
    climbs
}
