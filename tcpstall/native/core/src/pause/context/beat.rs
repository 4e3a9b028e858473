//! Detects writes on a beat: silences of one length, however much was sent before them.
//!
//! A paced sender rests in proportion to what it sent (Linux `sch_fq`, `tcp_internal_pacing`). An application that writes
//! at the tick of a timer rests as long after one segment as after two. Nagle's algorithm cuts such writes to whole
//! segments, so that the bursts alone look paced.

use super::super::burst::Burst;
use super::super::evidence::Facts;
use super::super::pauses::Context;
use crate::time::Nanos;

/// Largest difference between rates of one pace.
pub const PACE_SHARE: f64 = 0.15;

/// Bytes per second; `None` in no time.
pub(super) fn rate(bytes: u64, span: Nanos) -> Option<f64> {
    (span > Nanos::ZERO).then(|| bytes as f64 * 1e9 / span.0 as f64)
}

/// Both rates are one.
pub(super) fn is_same_pace(rate: f64, other: f64) -> bool {
    (rate / other - 1.0).abs() <= PACE_SHARE
}
/// Largest difference between silences of one beat.
pub(super) const EVEN: f64 = 0.02;
/// Silences of one length after a burst of another size, from which the length is no accident.
const OTHERS: usize = 3;
/// Segments of the least frame of a pace, and one more: as much as a write of another size may seem.
const SHORT_FRAME: u64 = 3;
/// Share of silences of another length after bursts of one size, from which no rate explains them: one in eight.
const UNEVEN_SHARE: usize = 8;

/// Pauses between short writes that no ACK ended, and their share, from which the writes do not wait for ACKs: four, and
/// one in four.
const TICKS: usize = 4;
/// Bursts that no ACK released, as far from the ones before as others, which show a beat, and their share, from which
/// they are no accident among many: one in eight.
const STEPS: usize = 2;
const STEPS_SHARE: usize = 8;
/// Share by which the ticks of a sleeping application vary.
const UNSTEADY: f64 = 0.15;

/// Marks the pauses of a beat.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    let mut spaced: Vec<(Nanos, u64, usize)> = Vec::new();
    for (index, (pause, context)) in pauses.iter().zip(&*contexts).enumerate() {
        // An ACK that ends the silence sets its length, and where nothing is outstanding the bursts may be whole writes.
        let unprompted = !pause.released_by_ack() && !is_repairing(pause);
        if context.pace.is_some() && pause.left_in_flight > 0 && unprompted && !is_large_frame(pause, context) {
            let last = pause.before.clump;
            spaced.push((pause.end - last.start, last.bytes, index));
        }
    }
    spaced.sort_unstable();
    let mut start = 0;
    for end in 1..=spaced.len() {
        if end < spaced.len() && spaced[end].0 <= spaced[start].0.scaled(1.0 + EVEN) {
            continue;
        }
        let alike = &spaced[start..end];
        if alike.len() - commonest(alike) >= OTHERS {
            alike.iter().for_each(|(_, _, index)| contexts[*index].beat = true);
        }
        start = end;
    }
    let small_writes = contexts.first().is_some_and(|context| context.small_writes);
    if small_writes && is_filled_up(&spaced) {
        spaced.iter().for_each(|(_, _, index)| contexts[*index].beat = true);
    }
}

/// As large as the frame that Linux cuts at a rate which several pauses have, and larger than two short writes: where the rate
/// steps up and down (BBR), the frames grow and shrink with it, and rests stay alike (`tcp_tso_autosize`).
fn is_large_frame(pause: &Facts, context: &Context) -> bool {
    let large =
        pause.before.clump.bytes > SHORT_FRAME * u64::from(pause.mss) && context.pace_agreement as usize >= OTHERS;
    large && context.pace.is_some_and(|pace| pause.is_paced_frame(pace))
}

/// Marks the pauses between short writes at the tick of a timer: they have one length, whether an ACK happens to end
/// them or not. A writer that waits for room in its buffer goes on at ACKs alone.
pub(super) fn find_ticks(pauses: &[Facts], contexts: &mut [Context]) {
    let single = |pause: &Facts| {
        let between = is_short_write(&pause.before, pause.mss) && is_short_write(&pause.after, pause.mss);
        between && pause.ended && !pause.first && pause.peer_bytes == 0 && pause.retransmissions == 0
    };
    let singles = pauses.iter().filter(|pause| single(pause)).count();
    let unprompted = |pause: &&Facts| single(pause) && !pause.released_by_ack();
    let mut lengths: Vec<Nanos> = pauses.iter().filter(unprompted).map(Facts::duration).collect();
    for (pause, context) in pauses.iter().zip(contexts.iter_mut()) {
        // No buffer is as small: two short writes, less than two full segments.
        context.ticks = single(pause) && pause.flight_at_start < 2 * i64::from(pause.mss);
    }
    if lengths.len() < TICKS || lengths.len() * TICKS < singles {
        return;
    }
    lengths.sort_unstable();
    let (low, high) = (lengths[lengths.len() / 4], lengths[lengths.len() * 3 / 4]);
    if high > low.scaled(1.0 + UNSTEADY) {
        return;
    }
    let (low, high) = (low.scaled(1.0 - UNSTEADY), high.scaled(1.0 + UNSTEADY));
    for (pause, context) in pauses.iter().zip(contexts) {
        context.ticks |= single(pause) && pause.duration() >= low && pause.duration() <= high;
    }
}

/// Marks the pauses that ACKs ended in step with bursts that no ACK released: where the beat of an application divides
/// the round trip, the ACKs of earlier writes come at the times of later ones.
pub(super) fn find_steps(pauses: &[Facts], contexts: &mut [Context]) {
    // The held end of an earlier write may have left before, at an ACK.
    let step = |pause: &Facts| pause.end - pause.before.clump.start;
    let counted = |pause: &Facts| pause.ended && !pause.first && !pause.is_turn() && !is_repairing(pause);
    let free = |pause: &&Facts| counted(pause) && pause.left_in_flight > 0 && !pause.released_by_ack();
    let mut steps: Vec<Nanos> = pauses.iter().filter(free).map(step).collect();
    if steps.len() < STEPS {
        return;
    }
    steps.sort_unstable();
    for (pause, context) in pauses.iter().zip(contexts).filter(|(pause, _)| counted(pause)) {
        let (low, high) = (step(pause).scaled(1.0 - EVEN), step(pause).scaled(1.0 + EVEN));
        let alike = steps.partition_point(|step| *step <= high) - steps.partition_point(|step| *step < low);
        context.in_step = alike >= STEPS;
        context.on_beat = context.in_step && alike * STEPS_SHARE >= steps.len();
    }
}

/// A duplicate ACK may have ended the pause: it releases a segment too (RFC 3042, RFC 5681 §3.2, RFC 6675 §5).
pub(super) fn is_repairing(pause: &Facts) -> bool {
    pause.recovering || pause.retransmissions > 0 || pause.loss_hints > 0
}

/// One short write: less than a segment, marked as the end of the data.
fn is_short_write(burst: &Burst, mss: u32) -> bool {
    burst.frames == 1 && burst.pushed && burst.last_frame < mss
}

/// Most silences after bursts of the same size.
fn commonest(alike: &[(Nanos, u64, usize)]) -> usize {
    let mut sizes: Vec<u64> = alike.iter().map(|(_, bytes, _)| *bytes).collect();
    sizes.sort_unstable();
    sizes.chunk_by(|one, next| one == next).map(<[u64]>::len).max().unwrap_or(0)
}

/// Bursts of one size follow silences of two lengths: a segment is full after three writes or after four.
fn is_filled_up(spaced: &[(Nanos, u64, usize)]) -> bool {
    let one_size = spaced.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let usual = spaced.get(spaced.len() / 2).map_or(Nanos::ZERO, |(silence, _, _)| *silence);
    let apart = |silence: Nanos| (silence.0 as f64 / usual.0.max(1) as f64 - 1.0).abs() > PACE_SHARE;
    let uneven = spaced.iter().filter(|(silence, _, _)| apart(*silence)).count();
    one_size && uneven >= OTHERS && uneven * UNEVEN_SHARE >= spaced.len()
}
