//! Finds the pace of a sender that spaces its segments: the rates of its pauses agree.

use super::super::burst::Burst;
use super::super::evidence::Facts;
use super::super::pauses::Context;
use super::beat::{EVEN, PACE_SHARE, is_repairing, is_same_pace, rate};

/// Ratio from which a rate is a different one: a sender may make up for a timer that fired late (Linux
/// `tcp_update_skb_after_send` deducts at most half of a segment's time).
pub const HURRIED: f64 = 3.0;

/// Ratio of the rate of a sender that makes up for half of a rest to its pace.
const MADE_UP: f64 = 2.0;
/// Steps from a burst to one of another size at the same rate that are no accident, how many there must be for each step at another
/// rate, and part of a burst by which sizes differ.
const STEPS: u32 = 3;
const MOSTLY: u32 = 3;
const SIZES: u64 = 20;

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
    let (mut rates, mut candidates, mut calm) = (Vec::new(), 0, 0);
    for (number, (pause, context)) in pauses.iter().zip(contexts.iter_mut()).enumerate() {
        let last = pause.before.clump;
        let could_be = pause.ended && !pause.first && pause.peer_bytes == 0 && pause.before.ends_whole(pause.mss);
        let pace = could_be.then(|| rate(last.bytes, pause.end - last.start)).flatten();
        context.pace = pace.filter(|pace| pause.left_in_flight > 0 || !hurried(&pause.before, *pace));
        candidates += u32::from(pace.is_some());
        // A timeout, or what is sent again and at the reports of a loss, has its own time.
        calm += u32::from(pace.is_some() && !is_repairing(pause));
        context.kept_pace = context.pace.map_or(0, |pace| kept_pace(pause, pace));
        rates.extend(context.pace.map(|pace| (pace, number)));
    }
    let in_proportion = rests_in_proportion(pauses, contexts);
    contexts.iter_mut().for_each(|context| {
        (context.pace_candidates, context.calm_candidates) = (candidates, calm);
        context.in_proportion = in_proportion;
    });
    rates.sort_unstable_by(|(rate, _), (other, _)| rate.total_cmp(other));
    // From each rate to the next both ends of the agreeing ones move on.
    let (mut low, mut high) = (0, 0);
    for &(rate, number) in &rates {
        low += rates[low..].iter().take_while(|(other, _)| *other < rate * (1.0 - PACE_SHARE)).count();
        high += rates[high..].iter().take_while(|(other, _)| *other <= rate * (1.0 + PACE_SHARE)).count();
        contexts[number].pace_agreement = (high - low - 1) as u32;
    }
    half_rests(pauses, contexts);
}

/// With nothing in flight the sender rested in proportion to bursts of whole segments that differed in size: no application
/// writes so.
fn rests_in_proportion(pauses: &[Facts], contexts: &[Context]) -> bool {
    let alone = pauses.iter().zip(contexts).filter(|(pause, _)| pause.left_in_flight == 0);
    let mut paced = alone.filter_map(|(pause, context)| Some((pause.before.clump.bytes, context.pace?)));
    let Some(mut last) = paced.next() else {
        return false;
    };
    let (mut steps, mut others) = (0, 0);
    for (bytes, pace) in paced {
        let (apart, same) = (bytes.abs_diff(last.0) * SIZES > last.0, (pace / last.1 - 1.0).abs() <= EVEN);
        steps += u32::from(apart && same);
        others += u32::from(apart && !same);
        last = (bytes, pace);
    }
    steps >= STEPS && steps >= MOSTLY * others
}

/// Marks the first rest of a pace, which may be shorter: Linux deducts the time that has passed from at most half of a rest
/// (`tcp_update_skb_after_send`). What left before it may be a whole initial window.
fn half_rests(pauses: &[Facts], contexts: &mut [Context]) {
    for next in 1..contexts.len() {
        let first = next - 1;
        let pace = pace_after((&pauses[first], &contexts[first]), (&pauses[next], &contexts[next]));
        if let Some(pace) = pace {
            let agreement = contexts[next].pace_agreement;
            let context = &mut contexts[first];
            (context.pace, context.pace_agreement, context.half_rest) = (Some(pace), agreement, true);
        }
    }
}

/// The pace that the next pause keeps, where the sender made up for a part of the first.
fn pace_after(first: (&Facts, &Context), next: (&Facts, &Context)) -> Option<f64> {
    let (rate, pace) = (first.1.pace?, next.1.pace?);
    let hurried = rate > pace * (1.0 + PACE_SHARE) && rate <= pace * MADE_UP * (1.0 + EVEN);
    // An ACK that comes a round trip later lets the next flight go.
    let unprompted = first.0.left_in_flight == 0 && first.0.duration() > first.0.rtt().times(2);
    let paced = next.1.pace_agreement > 0 && (next.1.in_proportion || next.0.is_paced_frame(pace));
    (hurried && unprompted && first.1.pace_agreement == 0 && paced).then_some(pace)
}
