//! Compares a gap with its neighbours: plateaus of flight, growth, and a steady pace.

use super::bottleneck::Stretch;
use super::evidence::{Burst, Context, Gap};
use super::reading::Reading;
use super::rounds;
use super::scale;
use super::turns;
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::time::Nanos;

/// Largest difference between rates of one pace.
pub const PACE_SHARE: f64 = 0.15;
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
/// Segments of growth without a step back from which a slower growth suffices: near its old maximum CUBIC takes longer.
const LEAST_CREEP: u32 = 3;
/// Flights equal to the byte from which that is no accident.
const ALIKE: usize = 3;

/// Divisor of the flight below which an ACK frees no third of a buffer.
const DRIP: i64 = 10;
/// Segments in flight needed for that test: of fewer, one ACK may well cover a third.
const LEAST_DRIPPING: u32 = 8;
/// Ratio from which a rate is a different one: a sender may make up for a timer that fired late (Linux
/// `tcp_update_skb_after_send` deducts at most half of a segment's time).
pub const HURRIED: f64 = 3.0;

impl Context {
    /// The gap has about this rate, bytes per second.
    pub fn keeps(&self, rate: f64) -> bool {
        self.pace.is_some_and(|pace| (rate / pace - 1.0).abs() <= PACE_SHARE)
    }
}

/// Fills in the context of every gap of one sender, given in order of time.
pub fn fill(gaps: &mut [Gap], stretches: &[Stretch]) {
    scale::infer(gaps);
    look_ahead(gaps);
    find_doubling(gaps);
    find_plateaus(gaps);
    find_small_writes(gaps);
    find_creeping(gaps);
    find_pace(gaps);
    find_releases(gaps);
    turns::find_cut(gaps);
    find_bottleneck(gaps, stretches);
    rounds::read(gaps);
}

/// Finds, for each gap that consecutive stretches cover, the stretch at its middle. Data that reaches a tap behind the
/// queue at the queue's rate came through it, although its sender had not yet received an ACK whose answer could be
/// late.
fn find_bottleneck(gaps: &mut [Gap], stretches: &[Stretch]) {
    for gap in gaps.iter_mut().filter(|gap| gap.ended && !gap.first) {
        let first = stretches.partition_point(|stretch| stretch.end <= gap.start());
        let during = || stretches[first..].iter().take_while(|stretch| stretch.start < gap.end);
        let covered = during()
            .fold(Nanos::ZERO, |sum, stretch| sum + (stretch.end.min(gap.end) - stretch.start.max(gap.start())));
        let slack = gap.tolerance() + gap.tolerance();
        let middle = gap.start() + gap.duration().scaled(0.5);
        let at_middle = during().find(|stretch| stretch.end >= middle);
        let inside = at_middle.filter(|_| covered + slack >= gap.duration());
        let behind = !gap.near_sender();
        let next = stretches.get(first).filter(|stretch| behind && gap.context.keeps(stretch.rate()));
        gap.context.bottleneck = inside.or(next).copied();
    }
}

/// Decides at the end of the flow whether the peer's application read too slowly. A lag that a later gap finds long
/// enough holds for every gap since the lag began.
pub(super) fn tell_reading(gaps: &mut [Gap], reading: &Reading) {
    let mut lagging = None;
    for gap in gaps.iter_mut().rev() {
        let since = gap.reading.behind_since();
        if gap.reading.lags(gap.rtt()) {
            lagging = since;
        }
        gap.context.reader_behind = reading.by_reader() && since.is_some() && since == lagging;
        gap.context.drain = reading.drain();
    }
}

fn find_releases(gaps: &mut [Gap]) {
    let could_be_paced = || gaps.iter().filter(|gap| gap.context.pace.is_some());
    let released = could_be_paced().filter(|gap| gap.released_by_ack()).count();
    let share = released as f64 / could_be_paced().count().max(1) as f64;
    gaps.iter_mut().for_each(|gap| gap.context.released_share = share);
}

fn look_ahead(gaps: &mut [Gap]) {
    let mut filled = false;
    for index in 0..gaps.len() {
        let next = gaps.get(index + 1).map(|gap| gap.flight_at_start);
        let gap = &mut gaps[index];
        gap.context.next_flight = next;
        gap.context.window_filled_before = filled;
        filled |= gap.flight_at_start > 0 && gap.room_at_start.is_some_and(|room| room < gap.next_segment());
    }
}

/// Detects slow start from an initial window that the model does not know (RFC 2581: one to four segments): only a
/// congestion window grows round after round, twofold or by a segment per ACK. A window counted in bytes (RFC 3465)
/// doubles to the byte and cuts the last segment of a flight.
fn find_doubling(gaps: &mut [Gap]) {
    let first = gaps.iter().find(|gap| !gap.first);
    let mut doubling = first.is_some_and(|gap| gap.segments_at_start < INITIAL_WINDOW);
    let mut before: Option<i64> = None;
    for gap in gaps.iter_mut().skip_while(|gap| gap.first) {
        let (flight, mss) = (gap.flight_at_start, i64::from(gap.mss.max(1)));
        let doubled = before.is_some_and(|before| (flight - 2 * before).abs() < mss);
        let full = flight > 0 && (flight % mss == 0 || doubled);
        before = Some(flight);
        let growth = gap.context.next_flight.map(|next| next as f64 / flight.max(1) as f64);
        doubling &= full && gap.released_by_ack() && growth.is_none_or(|growth| GROWTH.contains(&growth));
        gap.context.doubling = doubling;
    }
}

/// Detects congestion avoidance: it raises the window a little every round trip, about a segment by Reno and at least
/// 5 % by CUBIC before the first loss. A buffer is constant or swings.
fn find_creeping(gaps: &mut [Gap]) {
    let whole = |gap: &Gap| gap.released_by_ack() && !gap.short_segment_out && gap.flight_at_start > 0 && !gap.first;
    let full: Vec<usize> = (0..gaps.len()).filter(|&index| whole(&gaps[index])).collect();
    let segments = |index: usize| gaps[index].segments_at_start;
    let grows = |pair: &[usize]| {
        let (now, next) = (segments(pair[0]), segments(pair[1]));
        (now..=now + (now / 5).max(1)).contains(&next)
    };
    let mut runs: Vec<&[usize]> = Vec::new();
    let mut start = 0;
    for end in 1..=full.len() {
        if end == full.len() || !grows(&full[end - 1..=end]) {
            runs.push(&full[start..end]);
            start = end;
        }
    }
    let creeps = |run: &&[usize]| {
        let growth = segments(run[run.len() - 1]) - segments(run[0]);
        // From the floor of ssthresh (RFC 5681 §3.1) the first steps take longest: half a segment of growth on two is
        // not sent yet.
        let short = u32::from(segments(run[0]) <= 2 && growth >= 2);
        let rounds = rounds(run.iter().map(|&index| &gaps[index]));
        let steady = growth >= LEAST_CREEP && 3 * growth >= rounds - 1;
        rounds >= CREEPING_ROUNDS && (2 * (growth + short) >= rounds - 1 || steady)
    };
    let creeping: Vec<usize> = runs.into_iter().filter(creeps).flatten().copied().collect();
    creeping.into_iter().for_each(|index| gaps[index].context.creeping = true);
}

/// Round trips in gaps given in order of time: a round may be sent in several bursts.
fn rounds<'a>(gaps: impl Iterator<Item = &'a Gap>) -> u32 {
    let mut began: Option<Nanos> = None;
    let mut count = 0;
    for gap in gaps {
        if began.is_none_or(|began| gap.start() - began >= gap.rtt().scaled(0.5)) {
            began = Some(gap.start());
            count += 1;
        }
    }
    count
}

fn find_small_writes(gaps: &mut [Gap]) {
    let small = |gap: &Gap, burst: &Burst| (1..u64::from(gap.mss)).contains(&burst.clump.first_bytes);
    // Data released by the last ACK had been written before: it is the held tail of a write.
    let wrote = |gap: &Gap| gap.first || gap.left_in_flight == 0 && !gap.released_at_once();
    let at_first = gaps.first().is_some_and(|gap| !gap.first && small(gap, &gap.before));
    let small = at_first || gaps.iter().any(|gap| wrote(gap) && small(gap, &gap.after));
    gaps.iter_mut().for_each(|gap| gap.context.small_writes = small);
}

fn find_plateaus(gaps: &mut [Gap]) {
    let mut start = 0;
    while start < gaps.len() {
        let level = gaps[start].flight_at_start;
        let slack = (1.5 * f64::from(gaps[start].mss)).max(PLATEAU_SHARE * level as f64) as i64;
        let length = gaps[start..].iter().take_while(|gap| (gap.flight_at_start - level).abs() <= slack).count().max(1);
        let plateau = middle(&gaps[start..start + length], level);
        // A turn of the peer, or a pause of the application, fills no buffer.
        let waits = |at: &usize| !gaps[*at].is_turn() && !gaps[*at].fell_silent();
        let goes_on = |at: &usize| *at > 0 && !gaps[at - 1].first && !gaps[at - 1].is_turn();
        let counted = rounds((start..start + length).filter(waits).map(|at| &gaps[at]));
        let refills = rounds((start..start + length).filter(waits).filter(goes_on).map(|at| &gaps[at]));
        let run = &mut gaps[start..start + length];
        let brims = brims(run, plateau);
        let drips = run.iter().filter(|gap| drips(gap)).count();
        // In a capture out of order some waits seem to end at the first ACK of several.
        let share = if run.iter().any(|gap| gap.disorder > Nanos::ZERO) { 2 } else { DRIPS_SHARE };
        for gap in run {
            gap.context.dripping = length > DRIPS && drips >= DRIPS && share * drips >= length;
            gap.context.plateau = plateau;
            (gap.context.plateau_rounds, gap.context.plateau_refills) = (counted, refills);
            gap.context.brimful = brims && gap.flight_at_start == plateau && gap.released_at_once();
        }
        start += length;
    }
}

/// Median flight of a run that begins at `level`.
fn middle(run: &[Gap], level: i64) -> i64 {
    if run.len() == 1 {
        return level;
    }
    let mut flights: Vec<i64> = run.iter().map(|gap| gap.flight_at_start).collect();
    *flights.select_nth_unstable(run.len() / 2).1
}

/// Detects a full buffer counted in bytes. Several flights at the level are equal to the byte and are not whole
/// segments, and each was filled up while a part of the one before was still in flight (a repeated message has the same
/// length each time). A congestion window counts segments and grows; a buffer does neither.
fn brims(run: &[Gap], level: i64) -> bool {
    let alike = |gap: &&Gap| {
        let parted = gap.short_segment_out && level % i64::from(gap.mss.max(1)) != 0;
        let filled = gap.released_at_once() && gap.left_in_flight > 0 && !gap.is_turn();
        gap.flight_at_start == level && parted && filled
    };
    run.iter().filter(alike).count() >= ALIKE
}

/// The first ACK released data at once although it covered almost nothing: each ACK makes room in a congestion window,
/// but wakes a blocked writer only once a third of the buffer is free (Linux sk_stream_write_space). Away from the
/// sender this is visible where the ACKs of a flight are further apart than the path jitters.
fn drips(gap: &Gap) -> bool {
    let acked = if gap.near_sender() { gap.acked } else { gap.acked_in_time };
    let little = acked * DRIP <= gap.flight_at_start || acked <= 2 * i64::from(gap.mss);
    let known = gap.near_sender() && gap.left_in_flight > 0 || acked > 0 && !gap.unseen.blind && !gap.held_up;
    gap.released_by_ack() && gap.segments_at_start >= LEAST_DRIPPING && little && known
}

fn rate(bytes: u64, span: Nanos) -> Option<f64> {
    (span > Nanos::ZERO).then(|| bytes as f64 * 1e9 / span.0 as f64)
}

/// Number of spacings just too short for a gap in the burst before, if the gap has the same pace and is hardly longer.
fn kept_pace(gap: &Gap, pace: f64) -> u32 {
    let (burst, last) = (&gap.before, gap.before.clump);
    let before = rate(burst.bytes - last.bytes, last.start - burst.start);
    let same = before.is_some_and(|before| (before / pace - 1.0).abs() <= PACE_SHARE);
    let no_longer = gap.duration() <= last.longest_pause.scaled(1.0 + PACE_SHARE);
    if same && no_longer { last.count - 1 } else { 0 }
}

/// The burst before its last clump left faster than the pace: a paced sender delays each segment.
fn hurried(burst: &Burst, pace: f64) -> bool {
    let before = rate(burst.bytes - burst.clump.bytes, burst.clump.start - burst.start);
    before.is_some_and(|before| before > HURRIED * pace)
}

/// A paced sender's gap is proportional to the bytes sent before it (Linux sch_fq, tcp_internal_pacing).
fn find_pace(gaps: &mut [Gap]) {
    let (mut rates, mut unpaced) = (Vec::new(), 0);
    for gap in gaps.iter_mut() {
        let last = gap.before.clump;
        let could_be = gap.ended && !gap.first && gap.peer_bytes == 0 && gap.before.ends_whole(gap.mss);
        let pace = could_be.then(|| rate(last.bytes, gap.end - last.start)).flatten();
        gap.context.pace = pace.filter(|pace| gap.left_in_flight > 0 || !hurried(&gap.before, *pace));
        unpaced += u32::from(pace.is_some() && gap.context.pace.is_none());
        gap.context.kept_pace = gap.context.pace.map_or(0, |pace| kept_pace(gap, pace));
        rates.extend(gap.context.pace);
    }
    rates.sort_by(f64::total_cmp);
    for gap in gaps.iter_mut() {
        gap.context.pace_candidates = rates.len() as u32 + unpaced;
        if let Some(rate) = gap.context.pace {
            let low = rates.partition_point(|other| *other < rate * (1.0 - PACE_SHARE));
            let high = rates.partition_point(|other| *other <= rate * (1.0 + PACE_SHARE));
            gap.context.pace_agreement = (high - low - 1) as u32;
        }
    }
}
