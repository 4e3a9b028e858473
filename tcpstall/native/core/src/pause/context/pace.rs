//! Finds the pace of a sender that spaces its segments: the rates of its pauses agree.

use super::super::burst::Burst;
use super::super::evidence::Facts;
use super::super::pauses::Context;
use super::beat::{EVEN, PACE_SHARE, is_repairing, is_same_pace, rate};
use crate::time::Nanos;

/// Ratio from which a rate is a different one: a sender may make up for a timer that fired late (Linux
/// `tcp_update_skb_after_send` deducts at most half of a segment's time).
pub const HURRIED: f64 = 3.0;

/// Divisor of a rest: silences up to that part of it lie within what left before it, as the path or the tap delivered it in pieces.
const PIECES: i64 = 64;

/// Frames of a burst whose rate shows what the path can carry.
const TRAIN: u64 = 3;

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

/// What left since the last rest.
struct Frame {
    start: Nanos,
    bytes: u64,
    /// First of the pauses within it; the pause itself where there is none.
    first: usize,
}

/// What left before the pause since the last rest: its last clump, and with it whole bursts before while the silences between are a
/// small part of the pause. With data in flight an ACK may have ended such a silence; at the sender no path lies before the tap.
fn frame(pauses: &[Facts], number: usize) -> Frame {
    let (pause, last) = (&pauses[number], pauses[number].before.clump);
    let piece = pause.duration().part(PIECES);
    let mut frame = Frame { start: last.start, bytes: last.bytes, first: number };
    if pause.near_sender() || pause.left_in_flight > 0 || last.longest_silence > piece {
        return frame;
    }
    (frame.start, frame.bytes) = (pause.before.start, pause.before.bytes);
    for earlier in (0..number).rev() {
        let silence = &pauses[earlier];
        let within = silence.duration() <= piece && !silence.first && silence.peer_bytes == 0;
        if !within || silence.before.clump.longest_silence > piece {
            break;
        }
        frame = Frame { start: silence.before.start, bytes: frame.bytes + silence.before.bytes, first: earlier };
    }
    frame
}

/// Rate of a train of several frames, bytes per second.
fn train(burst: &Burst) -> Option<f64> {
    let rest = burst.bytes.saturating_sub(u64::from(burst.first_frame));
    rate(rest, burst.end - burst.start).filter(|_| burst.frames >= TRAIN)
}

/// A paced sender's pause is proportional to the bytes sent before it (Linux sch_fq, tcp_internal_pacing).
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    for (number, pause) in pauses.iter().enumerate() {
        if pause.ended && !pause.first && pause.peer_bytes == 0 && pause.before.ends_whole(pause.mss) {
            let frame = frame(pauses, number);
            // The silences within it are no rests.
            contexts[frame.first..number].iter_mut().for_each(|context| context.rested_after = 0);
            let pace = rate(frame.bytes, pause.end - frame.start);
            let whole = frame.start <= pause.before.start;
            let kept = pace.filter(|pace| pause.left_in_flight > 0 || whole || !hurried(&pause.before, *pace));
            (contexts[number].rested_after, contexts[number].pace) = (pace.map_or(0, |_| frame.bytes), kept);
        }
    }
    let (mut rates, mut candidates, mut calm) = (Vec::new(), 0, 0);
    for (number, (pause, context)) in pauses.iter().zip(contexts.iter_mut()).enumerate() {
        candidates += u32::from(context.rested_after > 0);
        // A timeout, or what is sent again and at the reports of a loss, has its own time.
        calm += u32::from(context.rested_after > 0 && !is_repairing(pause));
        context.kept_pace = context.pace.map_or(0, |pace| kept_pace(pause, pace));
        rates.extend(context.pace.filter(|_| context.rested_after > 0).map(|pace| (pace, number)));
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
    if rates.len() > STEPS as usize {
        let fastest = pauses.iter().filter_map(|pause| train(&pause.before)).fold(0.0, f64::max);
        contexts.iter_mut().for_each(|context| context.fastest = fastest);
    }
    first_rests(pauses, contexts);
}

/// With nothing in flight the sender rested in proportion to bursts of whole segments that differed in size: no application
/// writes so.
fn rests_in_proportion(pauses: &[Facts], contexts: &[Context]) -> bool {
    let alone = pauses.iter().zip(contexts).filter(|(pause, _)| pause.left_in_flight == 0);
    let rests = alone.filter(|(_, context)| context.rested_after > 0);
    let mut paced = rests.filter_map(|(_, context)| Some((context.rested_after, context.pace?)));
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
fn first_rests(pauses: &[Facts], contexts: &mut [Context]) {
    for next in 1..contexts.len() {
        let first = next - 1;
        let pace = pace_after((&pauses[first], &contexts[first]), (&pauses[next], &contexts[next]));
        if let Some(pace) = pace {
            let agreement = contexts[next].pace_agreement;
            let context = &mut contexts[first];
            (context.pace, context.pace_agreement, context.first_rest) = (Some(pace), agreement, true);
        }
    }
}

/// The pace that the next pause keeps, where the first one was a rest after what left last, or made up for a part of it.
fn pace_after(first: (&Facts, &Context), next: (&Facts, &Context)) -> Option<f64> {
    let last = first.0.before.clump;
    let alone = rate(last.bytes, first.0.end - last.start).filter(|_| first.1.rested_after > 0);
    let (rate, pace) = (alone.filter(|rate| !hurried(&first.0.before, *rate))?, next.1.pace?);
    let rested = rate >= pace * (1.0 - PACE_SHARE) && rate <= pace * MADE_UP * (1.0 + EVEN);
    // An ACK that comes a round trip later lets the next flight go.
    let unprompted = first.0.left_in_flight == 0 && first.0.duration() > first.0.rtt().times(2);
    let paced = next.1.pace_agreement > 0 && (next.1.in_proportion || next.0.is_paced_frame(pace));
    (rested && unprompted && first.1.pace_agreement == 0 && paced).then_some(pace)
}
