//! Compares a pause with its neighbours: plateaus of flight, growth, and a steady pace.

use super::beat::{self, PACE_SHARE, is_same_pace, rate};
use super::bottleneck::BusyPeriod;
use super::burst::Burst;
use super::burst_cap;
use super::byte_growth;
use super::evidence::Facts;
use super::first_avoidance;
use super::lone;
use super::messages;
use super::mid_write;
use super::pauses::Context;
use super::reading::Reading;
use super::release;
use super::round_growth;
use super::same_level;
use super::shaper;
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::time::Nanos;

/// Largest difference between flights of one plateau (1.5 segments in any case).
const PLATEAU_SHARE: f64 = 0.05;
/// Ratio of a flight to the one before in slow start, which doubles a flight, or adds a segment per ACK where the peer
/// delays its ACKs; nothing else grows every round.
const GROWTH: std::ops::RangeInclusive<f64> = 1.08..=2.2;
/// Waits on one plateau that end at an ACK of almost nothing, and their share, from which that is no accident. The
/// share is one in eight, because GRO at the receiver merges the other ACKs.
const DRIPS: usize = 2;
const DRIPS_SHARE: usize = 8;
/// Rounds of growth from which the growth is no accident.
const CREEPING_ROUNDS: u32 = 4;
/// Steps of such a growth: a single one is none.
const RISES: usize = 2;
/// Segments of growth without a step back from which a slower growth suffices: near its old maximum CUBIC takes longer.
const LEAST_CREEP: u32 = 3;
/// Segments of a frame that a sender keeps back.
const DEFERRED: u32 = 2;
/// Divisor of the first of the flights that hold short segments: from so many segments on it is growth.
const MUCH: u32 = 8;
/// Flights equal to the byte from which that is no accident, as a length.
const ALIKE: usize = super::pauses::ALIKE as usize;

/// Divisor of the flight below which an ACK frees no third of a buffer.
const DRIP: i64 = 10;
/// Segments in flight needed for that test: of fewer, one ACK may well cover a third.
const LEAST_DRIPPING: u32 = 8;
/// Ratio from which a rate is a different one: a sender may make up for a timer that fired late (Linux
/// `tcp_update_skb_after_send` deducts at most half of a segment's time).
pub const HURRIED: f64 = 3.0;

impl Context {
    /// The pause has about this rate, bytes per second.
    pub fn keeps(&self, rate: f64) -> bool {
        self.pace.is_some_and(|pace| is_same_pace(rate, pace))
    }
}

/// Compares the settled pauses of one sender, given in order of time, and returns the context of each.
pub(super) fn compare(pauses: &[Facts], busy_periods: &[BusyPeriod], reading: &Reading) -> Vec<Context> {
    let mut of_each = vec![Context::default(); pauses.len()];
    if pauses.is_empty() {
        return of_each;
    }
    let contexts = of_each.as_mut_slice();
    look_ahead(pauses, contexts);
    lone::find_standing(pauses, contexts);
    find_doubling(pauses, contexts);
    find_plateaus(pauses, contexts);
    lone::find(pauses, contexts);
    same_level::find(pauses, contexts);
    messages::find(pauses, contexts);
    release::find_meetings(pauses, contexts);
    release::find_first(pauses, contexts);
    find_small_writes(pauses, contexts);
    find_creeping(pauses, contexts);
    first_avoidance::find(pauses, contexts);
    byte_growth::find(pauses, contexts);
    round_growth::find(pauses, contexts);
    find_pace(pauses, contexts);
    beat::find(pauses, contexts);
    beat::find_ticks(pauses, contexts);
    beat::find_steps(pauses, contexts);
    find_releases(pauses, contexts);
    burst_cap::find(pauses, contexts);
    find_bottleneck(pauses, contexts, busy_periods);
    shaper::find(pauses, contexts);
    tell_reading(pauses, contexts, reading);
    of_each
}

/// Finds, for each pause that consecutive busy periods cover, the period at its middle. Data that reaches a tap behind
/// the queue at the queue's rate came through it, although its sender had not yet received an ACK whose answer could be
/// late.
fn find_bottleneck(pauses: &[Facts], contexts: &mut [Context], busy_periods: &[BusyPeriod]) {
    if busy_periods.is_empty() {
        return;
    }
    for (pause, context) in pauses.iter().zip(contexts).filter(|(pause, _)| pause.ended && !pause.first) {
        let first = busy_periods.partition_point(|period| period.end <= pause.start());
        let during = || busy_periods[first..].iter().take_while(|period| period.start < pause.end);
        let covered = during()
            .fold(Nanos::ZERO, |sum, period| sum + (period.end.min(pause.end) - period.start.max(pause.start())));
        let slack = pause.tolerance() + pause.tolerance();
        let middle = pause.start() + pause.duration().scaled(0.5);
        let at_middle = during().find(|period| period.end >= middle);
        let inside = at_middle.filter(|_| covered + slack >= pause.duration());
        let behind = !pause.near_sender();
        let next = busy_periods.get(first).filter(|period| behind && context.keeps(period.rate()));
        context.bottleneck = inside.or(next).copied();
    }
}

/// Decides at the end of the flow whether the peer's application read too slowly. A lag that a later pause finds long
/// enough holds for every pause since the lag began.
fn tell_reading(pauses: &[Facts], contexts: &mut [Context], reading: &Reading) {
    let mut lagging = None;
    for (pause, context) in pauses.iter().zip(contexts).rev() {
        let since = pause.reading.behind_since();
        if pause.reading.lags(pause.rtt()) {
            lagging = since;
        }
        context.reader_behind = reading.by_reader() && since.is_some() && since == lagging;
        context.drain = reading.drain();
    }
}

fn find_releases(pauses: &[Facts], contexts: &mut [Context]) {
    // In step with bursts that no ACK released, an ACK just before the burst is a coincidence; but writes of less than a
    // segment come on a beat of their own.
    let by_chance = |context: &Context| context.on_beat && !context.small_writes;
    let (mut paced, mut released) = (0, 0);
    for (pause, context) in pauses.iter().zip(&*contexts).filter(|(_, context)| context.pace.is_some()) {
        paced += 1;
        released += u32::from(!by_chance(context) && pause.released_by_ack());
    }
    if released == 0 {
        return;
    }
    let share = f64::from(released) / f64::from(paced);
    contexts.iter_mut().for_each(|context| context.released_share = share);
}

fn look_ahead(pauses: &[Facts], contexts: &mut [Context]) {
    let mut filled = false;
    for (index, (pause, context)) in pauses.iter().zip(contexts).enumerate() {
        context.next_flight = pauses.get(index + 1).map(|pause| pause.flight_at_start);
        context.window_filled_before = filled;
        filled |= pause.flight_at_start > 0 && pause.room_at_start.is_some_and(|room| room < pause.next_segment());
    }
}

/// Detects slow start from an initial window that the model does not know (RFC 2581: one to four segments): only a
/// congestion window grows round after round, twofold or by a segment per ACK. A window counted in bytes (RFC 3465)
/// doubles to the byte and cuts the last segment of a flight.
fn find_doubling(pauses: &[Facts], contexts: &mut [Context]) {
    let first = pauses.iter().find(|pause| !pause.first);
    if first.is_none_or(|pause| pause.segments_at_start >= INITIAL_WINDOW) {
        return;
    }
    let mut before: Option<i64> = None;
    for (pause, context) in pauses.iter().zip(contexts).skip_while(|(pause, _)| pause.first) {
        let (flight, mss) = (pause.flight_at_start, i64::from(pause.mss.max(1)));
        let doubled = before.is_some_and(|before| (flight - 2 * before).abs() < mss);
        let full = flight > 0 && (flight % mss == 0 || doubled || pause.is_even());
        before = Some(flight);
        // A window that has room for less than a segment is full (RFC 9293 §3.8.6.2.1): it may be larger by that than its flight.
        let grows = |next: i64| {
            next as f64 >= GROWTH.start() * flight as f64 && next as f64 <= GROWTH.end() * (flight + mss) as f64
        };
        context.doubling = full && pause.released_soon() && context.next_flight.is_none_or(grows);
        if !context.doubling {
            return;
        }
    }
}

/// Detects congestion avoidance: it raises the window a little every round trip, about a segment by Reno and at least
/// 5 % by CUBIC before the first loss. A buffer is constant or swings.
fn find_creeping(pauses: &[Facts], contexts: &mut [Context]) {
    if pauses.len() < CREEPING_ROUNDS as usize {
        return;
    }
    let whole = |pause: &Facts| {
        let whole = !pause.short_segment_out || pause.before.ends_whole(pause.mss) || pause.is_even();
        let goes_on = pause.flight_at_start > 0 && !pause.first;
        whole && goes_on && (pause.released_by_ack() || pause.may_be_path())
    };
    let full: Vec<usize> = (0..pauses.len()).filter(|&index| whole(&pauses[index])).collect();
    let segments = |index: usize| pauses[index].segments_at_start;
    let grows = |pair: &[usize]| {
        let (now, next) = (segments(pair[0]), segments(pair[1]));
        (now..=now + (now / 5).max(1)).contains(&next)
    };
    let mut runs: Vec<&[usize]> = Vec::new();
    let mut start = 0;
    // Between two flights that grow, one is smaller by what Linux defers: a frame of two segments (`tcp_tso_should_defer`).
    let dips = |at: usize| {
        let (Some(&now), Some(&next)) = (full.get(at), full.get(at + 1)) else { return false };
        let before = full[at - 1];
        let whole = [before, now, next].iter().all(|&index| !pauses[index].short_segment_out);
        whole && (segments(now)..=segments(now) + DEFERRED).contains(&segments(before)) && grows(&[before, next])
    };
    for end in 1..=full.len() {
        if end == full.len() || !grows(&full[end - 1..=end]) && !dips(end) {
            runs.push(&full[start..end]);
            start = end;
        }
    }
    let creeps = |run: &&[usize]| {
        let growth = segments(run[run.len() - 1]).saturating_sub(segments(run[0]));
        // From the floor of ssthresh (RFC 5681 §3.1) the first steps take longest: half a segment of growth on two is
        // not sent yet.
        let short = u32::from(segments(run[0]) <= 2 && growth >= 2);
        let mut rounds = Rounds::default();
        run.iter().for_each(|&index| rounds.add(&pauses[index]));
        let rounds = rounds.count;
        let steady = growth >= LEAST_CREEP && 3 * growth >= rounds - 1;
        // Flights of whole segments that a buffer held may swing up once among flights that end with less than one.
        let rises = run.windows(2).filter(|pair| segments(pair[1]) > segments(pair[0])).count();
        // Short segments among whole ones count as whole: another number of them is no growth.
        let parted = run.iter().any(|&index| pauses[index].short_segment_out);
        let much = !parted || MUCH * growth >= segments(run[0]);
        // A limit counted in bytes was full in between: it did not grow.
        let stands = stand(run.iter().map(|&index| &pauses[index]));
        rises >= RISES && rounds >= CREEPING_ROUNDS && much && !stands && (2 * (growth + short) >= rounds - 1 || steady)
    };
    let creeping: Vec<usize> = runs.into_iter().filter(creeps).flatten().copied().collect();
    creeping.into_iter().for_each(|index| contexts[index].creeping = true);
}

/// Several of the flights are equal to the byte, and end within a segment.
fn stand<'a>(pauses: impl Iterator<Item = &'a Facts>) -> bool {
    let mut parted: Vec<i64> =
        pauses.filter(|pause| pause.short_segment_out).map(|pause| pause.flight_at_start).collect();
    parted.sort_unstable();
    parted.chunk_by(|a, b| a == b).any(|alike| alike.len() >= ALIKE)
}

/// Round trips in pauses given in order of time: a round may be sent in several bursts.
#[derive(Default)]
struct Rounds {
    count: u32,
    began: Option<Nanos>,
}

impl Rounds {
    fn add(&mut self, pause: &Facts) {
        if self.began.is_none_or(|began| pause.start() - began >= pause.rtt().part(2)) {
            self.began = Some(pause.start());
            self.count += 1;
        }
    }
}

fn find_small_writes(pauses: &[Facts], contexts: &mut [Context]) {
    let small = |pause: &Facts, burst: &Burst| (1..u64::from(pause.mss)).contains(&burst.clump.first_bytes);
    // Data released by the last ACK had been written before: it is the held tail of a write.
    let wrote = |pause: &Facts| pause.first || pause.left_in_flight == 0 && !pause.released_at_once();
    let at_first = pauses.first().is_some_and(|pause| !pause.first && small(pause, &pause.before));
    let small = at_first || pauses.iter().any(|pause| wrote(pause) && small(pause, &pause.after));
    contexts.iter_mut().for_each(|context| context.small_writes = small);
}

fn find_plateaus(pauses: &[Facts], contexts: &mut [Context]) {
    let pushes_each = mid_write::pushes_each(pauses);
    let mut start = 0;
    while start < pauses.len() {
        let level = pauses[start].flight_at_start;
        // To writes of a few bytes a segment more is another level.
        let small = level < i64::from(pauses[start].mss);
        let segment = if small { 0.5 * level as f64 } else { 1.5 * f64::from(pauses[start].mss) };
        let slack = segment.max(PLATEAU_SHARE * level as f64) as i64;
        let length =
            pauses[start..].iter().take_while(|pause| (pause.flight_at_start - level).abs() <= slack).count().max(1);
        let plateau = middle(&pauses[start..start + length], level);
        let (mut counted, mut refills) = (Rounds::default(), Rounds::default());
        let run = &pauses[start..start + length];
        let mut before = start.checked_sub(1).map(|before| &pauses[before]);
        for pause in run {
            // A turn of the peer, or a pause of the application, fills no buffer.
            if !pause.is_turn() && !pause.fell_silent() {
                counted.add(pause);
                if before.is_some_and(|before| !before.first && !before.is_turn()) {
                    refills.add(pause);
                }
            }
            before = Some(pause);
        }
        let brims = brims(run, plateau);
        let passed = run.iter().any(Facts::went_on_by_itself);
        let late = release::are_late(run);
        let dripping = !pushes_each && (length > DRIPS && often_drips(run) || leave_in_small_frames(run));
        let least = if dripping { held_with_a_short_end(run) } else { 0 };
        for (pause, context) in run.iter().zip(&mut contexts[start..]) {
            context.dripping = dripping && pause.segments_at_start >= least;
            (context.plateau, context.pushes_each) = (plateau, pushes_each);
            (context.plateau_rounds, context.plateau_refills) = (counted.count, refills.count);
            (context.plateau_passed, context.plateau_late) = (passed, late);
            context.brimful = brims && pause.flight_at_start == plateau && pause.released_at_once();
        }
        start += length;
    }
}

/// Enough pauses of a run ended at an ACK of almost nothing.
fn often_drips(run: &[Facts]) -> bool {
    let drips = run.iter().filter(|pause| drips(pause)).count();
    // In a capture out of order some waits seem to end at the first ACK of several.
    let share = if run.iter().any(|pause| pause.disorder > Nanos::ZERO) { 2 } else { DRIPS_SHARE };
    drips >= DRIPS && share * drips >= run.len() && !same_level::shrinks(run)
}

/// Median flight of a run that begins at `level`.
fn middle(run: &[Facts], level: i64) -> i64 {
    if run.len() == 1 {
        return level;
    }
    let mut flights: Vec<i64> = run.iter().map(|pause| pause.flight_at_start).collect();
    *flights.select_nth_unstable(run.len() / 2).1
}

/// Detects a full buffer counted in bytes. Several flights at the level are equal to the byte and are not whole
/// segments, and each was filled up while a part of the one before was still in flight (a repeated message has the same
/// length each time). A congestion window counts segments and grows; a buffer does neither.
fn brims(run: &[Facts], level: i64) -> bool {
    let alike = |pause: &&Facts| {
        let parted = pause.flight_at_start == level && pause.short_segment_out && !pause.is_whole();
        parted && pause.left_in_flight > 0 && !pause.is_turn() && pause.released_at_once()
    };
    run.len() >= ALIKE && run.iter().filter(alike).count() >= ALIKE
}

/// Most flights of a plateau whose frames show it left in small frames, one for each ACK.
fn leave_in_small_frames(run: &[Facts]) -> bool {
    if run.len() < ALIKE {
        return false;
    }
    let told: Vec<bool> = run.iter().filter_map(Facts::left_in_small_frames).collect();
    let small = told.iter().filter(|small| **small).count();
    small >= ALIKE && 2 * small > told.len()
}

/// Segments that several flights of a plateau held which ended with less than a whole one; 0 where there are none. A
/// congestion window would have held as many at any time: it counts segments, whatever their size.
fn held_with_a_short_end(run: &[Facts]) -> u32 {
    let mut held: Vec<u32> =
        run.iter().filter(|pause| pause.short_segment_out).map(|pause| pause.segments_at_start).collect();
    held.sort_unstable_by(|a, b| b.cmp(a));
    held.get(ALIKE - 1).copied().unwrap_or(0)
}

/// The first ACK released data at once although it covered almost nothing: each ACK makes room in a congestion window,
/// but wakes a blocked writer only once a third of the buffer is free (Linux sk_stream_write_space). Away from the
/// sender this is visible where the ACKs of a flight are further apart than the path jitters.
fn drips(pause: &Facts) -> bool {
    let acked = if pause.near_sender() { pause.acked } else { pause.acked_in_time };
    let little = acked * DRIP <= pause.flight_at_start || acked <= 2 * i64::from(pause.mss);
    let known = pause.near_sender() && pause.left_in_flight > 0 || acked > 0 && !pause.unseen.blind && !pause.held_up;
    pause.segments_at_start >= LEAST_DRIPPING && little && known && pause.released_by_ack()
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
fn find_pace(pauses: &[Facts], contexts: &mut [Context]) {
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
