//! Compares a pause with its neighbours: plateaus of flight, growth, and a steady pace.

pub mod beat;
mod burst_cap;
mod byte_growth;
mod first_avoidance;
mod lone;
mod messages;
mod mid_write;
pub mod pace;
mod per_ack;
mod plateaus;
mod release;
mod round_growth;
mod rounds;
mod same_level;
mod segment_growth;
mod shaper;

use super::bottleneck::BusyPeriod;
use super::burst::Burst;
use super::evidence::Facts;
use super::pauses::Context;
use super::reading::Reading;
use crate::time::Nanos;

/// Compares the settled pauses of one sender, given in order of time, and returns the context of each.
pub(super) fn compare(pauses: &[Facts], busy_periods: &[BusyPeriod], reading: &Reading) -> Vec<Context> {
    let mut of_each = vec![Context::default(); pauses.len()];
    if pauses.is_empty() {
        return of_each;
    }
    let contexts = of_each.as_mut_slice();
    look_ahead(pauses, contexts);
    lone::find_standing(pauses, contexts);
    segment_growth::find_doubling(pauses, contexts);
    plateaus::find(pauses, contexts);
    lone::find(pauses, contexts);
    same_level::find(pauses, contexts);
    messages::find(pauses, contexts);
    release::find_meetings(pauses, contexts);
    release::find_first(pauses, contexts);
    find_small_writes(pauses, contexts);
    segment_growth::find_creeping(pauses, contexts);
    first_avoidance::find(pauses, contexts);
    byte_growth::find(pauses, contexts);
    round_growth::find(pauses, contexts);
    pace::find(pauses, contexts);
    beat::find(pauses, contexts);
    beat::find_ticks(pauses, contexts);
    beat::find_steps(pauses, contexts);
    find_releases(pauses, contexts);
    burst_cap::find(pauses, contexts);
    find_bottleneck(pauses, contexts, busy_periods);
    shaper::find(pauses, contexts);
    find_lag(pauses, contexts, reading);
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
fn find_lag(pauses: &[Facts], contexts: &mut [Context], reading: &Reading) {
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
    let first = pauses.iter().find(|pause| !pause.first).filter(|pause| pause.from_start);
    let several = first.is_some_and(|pause| pause.before.bytes > u64::from(pause.mss));
    for (index, (pause, context)) in pauses.iter().zip(contexts).enumerate() {
        let next = pauses.get(index + 1);
        context.next_flight = next.map(|next| next.flight_at_start);
        context.goes_on_alone = next.is_some_and(Facts::was_alone);
        context.goes_on_beyond = context.goes_on_alone && next.is_some_and(|next| next.hole_before > 0);
        (context.window_filled_before, context.begins_with_several) = (filled, several);
        filled |= pause.flight_at_start > 0 && pause.room_at_start.is_some_and(|room| room < pause.next_segment());
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
