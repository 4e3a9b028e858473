//! Finds the pace of a sender that spaces its segments: the rates of its pauses agree.

use super::super::burst::Burst;
use super::super::evidence::Facts;
use super::super::pauses::Context;
use super::beat::{PACE_SHARE, is_same_pace, rate};

/// Ratio from which a rate is a different one: a sender may make up for a timer that fired late (Linux
/// `tcp_update_skb_after_send` deducts at most half of a segment's time).
pub const HURRIED: f64 = 3.0;

impl Context {
    /// The pause has about this rate, bytes per second.
    pub fn keeps(&self, rate: f64) -> bool {
        self.pace.is_some_and(|pace| is_same_pace(rate, pace))
    }
}

/// Number of spacings just too short for a pause in the burst before, if the pause has the same pace and is hardly longer.
fn kept_pace(pause: &Facts, pace: f64) -> u32 {
    let (burst, last) = (&pause.before, pause.before.clump);
    let before = rate(burst.bytes - last.bytes, last.start - burst.start);
    let same = before.is_some_and(|before| is_same_pace(before, pace));
    let no_longer = pause.duration() <= last.longest_silence.scaled(1.0 + PACE_SHARE);
    if same && no_longer { last.count - 1 } else { 0 }
}

/// The burst before its last clump left faster than the pace: a paced sender delays each segment.
fn hurried(burst: &Burst, pace: f64) -> bool {
    let before = rate(burst.bytes - burst.clump.bytes, burst.clump.start - burst.start);
    before.is_some_and(|before| before > HURRIED * pace)
}

/// A paced sender's pause is proportional to the bytes sent before it (Linux sch_fq, tcp_internal_pacing).
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    let (mut rates, mut unpaced) = (Vec::new(), 0);
    for (number, (pause, context)) in pauses.iter().zip(contexts.iter_mut()).enumerate() {
        let last = pause.before.clump;
        let could_be = pause.ended && !pause.first && pause.peer_bytes == 0 && pause.before.ends_whole(pause.mss);
        let pace = could_be.then(|| rate(last.bytes, pause.end - last.start)).flatten();
        context.pace = pace.filter(|pace| pause.left_in_flight > 0 || !hurried(&pause.before, *pace));
        unpaced += u32::from(pace.is_some() && context.pace.is_none());
        context.kept_pace = context.pace.map_or(0, |pace| kept_pace(pause, pace));
        rates.extend(context.pace.map(|pace| (pace, number)));
    }
    contexts.iter_mut().for_each(|context| context.pace_candidates = rates.len() as u32 + unpaced);
    rates.sort_unstable_by(|(rate, _), (other, _)| rate.total_cmp(other));
    // From each rate to the next both ends of the agreeing ones move on.
    let (mut low, mut high) = (0, 0);
    for &(rate, number) in &rates {
        low += rates[low..].iter().take_while(|(other, _)| *other < rate * (1.0 - PACE_SHARE)).count();
        high += rates[high..].iter().take_while(|(other, _)| *other <= rate * (1.0 + PACE_SHARE)).count();
        contexts[number].pace_agreement = (high - low - 1) as u32;
    }
}
