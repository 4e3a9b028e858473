//! Estimates when a segment left its sender, by the sender's own clock in the timestamps option.

use crate::time::{Nanos, common_divisor};

/// Ticks of real timestamp clocks, nanoseconds (RFC 7323 §5.4 allows 1 ms to 1 s).
const TICKS: [i64; 6] = [1_000_000, 2_000_000, 4_000_000, 10_000_000, 100_000_000, 500_000_000];
/// Shortest tick, nanoseconds: 1 µs (Linux `tcp_usec_ts`). Stamps that advance faster are no clock's.
const SHORTEST: i64 = 800;
/// Advance of the clock, in ticks, before its tick can be distinguished from twice or half of it.
const LOOK: u32 = 50;
/// Divisor of the shortest usual tick: no line lets what was sent over 50 ms and more pass within a sixty-fourth of that.
const SQUEEZED: i64 = 64;
/// A tick agrees with a span of the clock's advance to a quarter.
const AGREES: i64 = 5;
/// Divisor of the largest drift of two crystals: one part in 4096 (244 in a million).
const DRIFT: i64 = 4096;

/// Echoed stamps, while the tick is unknown.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Answers {
    /// Stamp of the first answer, and time when what it echoes passed the tap.
    first: (u32, Nanos),
    /// Time between what stamps echo, for each tick between them.
    least: Option<i64>,
}

/// Compares each segment's TSval with its time at the tap.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TsvalClock {
    first: Option<(u32, Nanos)>,
    tick: i64,
    /// Time that the stamps took for a tick in passing, while the tick is unknown: at most so long unless a queue drained.
    most: i64,
    answers: Option<Answers>,
    /// In passing the first stamps took half the time of a clock's tick at most: no clock's, unless it counts microseconds.
    compressed: bool,
    /// Later two stamps in a row, as far apart, passed the tap as close together.
    squeezed: bool,
    /// Ticks by which the clock advances at a time: all stamps are that far apart, or several times that far (some hosts
    /// update a clock of 1 ms every 50 ms).
    step: u32,
    /// Advances that agree on it.
    advances: u32,
    /// The newest stamp, the time that it means on the tap's clock, and the time of the newest segment that bears it.
    newest: u32,
    sent: Nanos,
    seen: Nanos,
    /// Stamp of the last segment with payload, and its ticks after that of the one before.
    data: Option<u32>,
    apart: Option<u32>,
    /// The smallest difference of the two clocks, with what they may have drifted apart until the newest segment.
    least: Nanos,
    /// The clock is known, and keeps its tick.
    known: bool,
    /// The stamps are no departure times.
    useless: bool,
    /// Start of the present second, smallest difference in it and in the one before, and consecutive seconds of growth.
    second: Nanos,
    least_now: Nanos,
    least_before: Nanos,
    growing: u32,
}

const SECOND: Nanos = Nanos::from_millis(1_000);

/// Growth in one second that contradicts the assumed clock: every segment was later than all of the second
/// before by this much. After three such seconds the tick is wrong (some clocks tick 1024 times a second), and
/// estimates end.
const GROWTH: Nanos = Nanos::from_millis(5);
/// Consecutive seconds of growth that show a wrong tick: a route change makes one.
const GROWING: u32 = 3;
/// Advances from which a clock is believed to advance several ticks at a time: fewer may be far apart by chance.
const AGREEING: u32 = 32;

impl TsvalClock {
    /// The clock of an end whose stamps are no departure times: it is never known.
    pub fn of_no_use() -> TsvalClock {
        TsvalClock { useless: true, ..TsvalClock::default() }
    }

    /// Excess of the last segment's time from its sender to the tap over the quickest segment's, within a tick; `None`
    /// where the clock is unknown.
    pub fn late(&self) -> Option<Nanos> {
        self.known.then(|| (self.seen - self.sent - self.least).or_zero())
    }

    /// Takes in the time of the newest segment.
    #[inline]
    fn drifts(&mut self, time: Nanos) {
        self.least = self.least.plus((time - self.seen).part(DRIFT));
        self.seen = time;
    }

    /// That excess where it is more than the clock's grain: something held the segment.
    pub fn held(&self) -> Option<Nanos> {
        self.late().filter(|late| *late > self.grain())
    }

    /// Something may have held the last segment for half of `span`, but the clock advances too rarely to show it.
    pub fn may_hide(&self, span: Nanos) -> bool {
        self.is_coarse() && self.late().is_some_and(|late| late <= self.grain() && late + late >= span)
    }

    /// Ticks between the stamps of the last two segments with payload.
    pub fn apart(&self) -> Option<u32> {
        self.apart
    }

    /// Longest time in which stamps come to lie so many `ticks` apart; `None` where nothing is known of the clock. All
    /// advances so far are multiples of its step: a few make it too long at most.
    pub fn span(&self, ticks: u32) -> Option<Nanos> {
        let tick = if self.tick > 0 { self.tick } else { self.most };
        let known = tick >= SHORTEST && self.step > 0;
        known.then(|| Nanos(tick.saturating_mul(i64::from(ticks) + 2 * i64::from(self.step))))
    }

    /// Smallest delay that the sender's clock shows: two advances.
    #[inline]
    pub fn grain(&self) -> Nanos {
        let step = if self.is_coarse() { i64::from(self.step) } else { 1 };
        Nanos(self.tick.saturating_mul(2 * step))
    }

    /// True if the stamp `value` is older than the first of this clock.
    pub fn began_after(&self, value: u32) -> bool {
        self.first.is_some_and(|(first, _)| (value.wrapping_sub(first) as i32) < 0)
    }

    /// True if segments with the first stamps, or with two later ones in a row, passed the tap much closer together than they left.
    pub fn is_compressed(&self) -> bool {
        self.compressed || self.squeezed && self.most >= 2 * SHORTEST
    }

    fn is_coarse(&self) -> bool {
        self.step > 1 && self.advances >= AGREEING
    }

    /// Takes a segment that was `late` as the quickest, because the route became longer.
    pub fn takes_as_usual(&mut self, late: Nanos) {
        self.least += late;
    }

    /// Takes in that nothing can have held the last segment for longer than `most`, because it echoes what its sender got
    /// only then. What exceeds that by more than an advance is time that the clock lost: Darwin's drops the rest of a
    /// millisecond whenever it is read (XNU `calculate_tcp_clock`). Twice as late is no queue's work: the tap's clock went
    /// forward, as that of a virtual machine after a sleep.
    #[inline]
    pub fn held_at_most(&mut self, most: Nanos) {
        if let Some(late) = self.late().filter(|late| *late > most) {
            let queue = if late > most.times(2) { Nanos::ZERO } else { most };
            self.least += (late - queue - self.grain().part(2)).or_zero();
        }
    }

    /// Takes in that the last segment is the first that echoes what passed the tap towards its sender at `seen`.
    #[inline]
    pub fn answers(&mut self, stamp: u32, seen: Nanos) {
        if self.tick > 0 || self.first.is_none() || self.useless {
            return;
        }
        let Answers { first, least } = self.answers.get_or_insert(Answers { first: (stamp, seen), least: None });
        let ticks = stamp.wrapping_sub(first.0) as i32;
        if ticks >= LOOK as i32 / 2 {
            *least = Some((seen - first.1).0 / i64::from(ticks));
        }
    }

    /// The one tick that agrees with what the tap saw: the time that the stamps took for a tick in passing, and the time
    /// that what they echo took. A queue that fills before the tap makes the one too long, and a sender that
    /// answers later and later makes the other too short.
    fn tick_of(&self) -> Option<i64> {
        let most = self.most;
        let least = self.answers.map_or(Some(most), |answers| answers.least)?.min(most);
        let agrees = |tick: &i64| *tick / (AGREES - 1) > least / AGREES && *tick / AGREES < most / (AGREES - 1);
        let mut ticks = TICKS.into_iter().filter(agrees);
        ticks.next().filter(|_| ticks.next().is_none())
    }

    fn is_steady(&mut self, now: Nanos, difference: Nanos) -> bool {
        if now - self.second < SECOND {
            self.least_now = self.least_now.min(difference);
            return self.growing < GROWING;
        }
        if self.growing < GROWING {
            let grew = self.second > Nanos::ZERO && self.least_now - self.least_before > GROWTH;
            self.growing = if grew { self.growing + 1 } else { 0 };
        }
        (self.second, self.least_before, self.least_now) = (now, self.least_now, difference);
        self.growing < GROWING
    }

    /// A segment of this sender that is no SYN passes the tap at `time` with a stamp of this `value`; a SYN's may be a
    /// cookie, or of another host that opens connections for this one.
    #[inline(always)]
    pub fn follow(&mut self, time: Nanos, value: u32, carries_data: bool) {
        if carries_data {
            self.apart = self.data.replace(value).map(|data| value.wrapping_sub(data));
        }
        self.reads(time, value);
    }

    /// The same for data with the stamp of its sender's data before.
    #[inline(always)]
    pub fn follow_again(&mut self, time: Nanos, value: u32) {
        self.apart = Some(0);
        self.reads(time, value);
    }

    #[inline(always)]
    fn reads(&mut self, time: Nanos, value: u32) {
        let again = value == self.newest && time >= self.seen && time - self.second < SECOND;
        if again && self.known {
            // A later segment with the same stamp is no closer to its departure.
            self.drifts(time);
        } else {
            self.takes(time, value);
        }
    }

    fn takes(&mut self, time: Nanos, value: u32) {
        if self.first.is_none() {
            // Until now no time has passed in which the clocks could drift apart.
            self.seen = time;
        }
        let (first, start) = *self.first.get_or_insert((value, time));
        let ticks = value.wrapping_sub(first) as i32;
        if self.step != 1 {
            self.step = common_divisor(self.step.into(), ticks.unsigned_abs().into()) as u32;
            self.advances = self.advances.saturating_add(u32::from(self.newest != value));
        }
        let jump = value.wrapping_sub(self.newest) as i32;
        if jump >= LOOK as i32 && self.newest != 0 {
            self.squeezed |= (time - self.seen).0 / i64::from(jump) < TICKS[0] / SQUEEZED;
        }
        self.newest = value;
        self.drifts(time);
        if self.tick == 0 {
            if ticks < LOOK as i32 || self.useless {
                return;
            }
            let first = self.most == 0;
            self.most = (time - start).0 / i64::from(ticks);
            if first {
                let microseconds = (SHORTEST..2 * SHORTEST).contains(&self.most);
                self.compressed = self.most < TICKS[0] / 2 && !microseconds;
            }
            let Some(tick) = self.tick_of() else { return };
            self.tick = tick;
        }
        self.sent = start.plus(Nanos(i64::from(ticks) * self.tick));
        let difference = time - self.sent;
        self.known = self.is_steady(time, difference);
        if self.known {
            self.least = self.least.min(difference);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(clock: &mut TsvalClock, time_ms: i64, value: u32) {
        clock.follow(Nanos::from_millis(time_ms), value, true);
    }

    #[test]
    fn a_segment_that_sat_in_a_queue_is_late_by_as_much() {
        let mut clock = TsvalClock::default();
        (0..200).for_each(|i| follow(&mut clock, i * 10, 500 + i as u32 * 10));
        assert_eq!(clock.late(), Some(Nanos::ZERO));
        follow(&mut clock, 2_100, 2_500);
        assert!(clock.late().is_some_and(|late| late > Nanos::from_millis(98)));
    }

    #[test]
    fn a_path_that_becomes_longer_before_the_tick_is_known_is_seen_to_be_longer() {
        let mut clock = TsvalClock::default();
        follow(&mut clock, 0, 500);
        (0..20).for_each(|i| follow(&mut clock, 40 + i * 10, 520 + i as u32 * 10));
        assert!(clock.late().is_some_and(|late| late > Nanos::from_millis(19) && late < Nanos::from_millis(21)));
    }

    #[test]
    fn a_clock_of_a_microsecond_measures_spans_and_stamps_at_random_do_not() {
        let mut clock = TsvalClock::default();
        (0..200).for_each(|i| follow(&mut clock, i * 10, i as u32 * 10_000 + 1 + i as u32 % 2));
        let close = |span: Nanos| span > Nanos(4_900_000) && span < Nanos(5_100_000);
        assert!(clock.late().is_none() && clock.span(5_000).is_some_and(close));
        let mut random = TsvalClock::default();
        (0..200).for_each(|i| follow(&mut random, i * 10, (i as u32 % 2) << 24));
        assert_eq!(random.span(5_000), None);
    }

    #[test]
    fn stamps_a_hundred_ticks_apart_that_pass_within_a_millisecond_were_stored_in_clumps() {
        let mut clock = TsvalClock::default();
        follow(&mut clock, 0, 500);
        follow(&mut clock, 1_000, 580);
        assert!(!clock.is_compressed());
        follow(&mut clock, 1_001, 680);
        assert!(clock.is_compressed());
        let mut microseconds = TsvalClock::default();
        (0..200).for_each(|i| follow(&mut microseconds, i, 1 + i as u32 * 1_000));
        assert!(!microseconds.is_compressed());
    }

    #[test]
    fn a_clock_that_loses_time_or_a_taps_that_goes_forward_makes_no_answer_late_and_a_queue_does() {
        let mut clock = TsvalClock::default();
        // Each segment leaves at an ACK; of 50 ms the clock counts 49.
        for i in 0..50_i64 {
            follow(&mut clock, i * 50, 500 + i as u32 * 49 + i as u32 % 2);
            clock.held_at_most(Nanos::ZERO);
        }
        assert_eq!(clock.held(), None);
        follow(&mut clock, 2_530, 500 + 50 * 49);
        clock.held_at_most(Nanos::from_millis(30));
        assert!(clock.held().is_some_and(|late| late > Nanos::from_millis(28)));
        follow(&mut clock, 5_550, 500 + 51 * 49);
        clock.held_at_most(Nanos::from_millis(30));
        assert_eq!(clock.held(), None);
    }

    #[test]
    fn a_queue_that_fills_does_not_make_a_clock_slower() {
        let mut clock = TsvalClock::default();
        // Each ACK releases two segments, and the line carries one between two ACKs.
        for i in 0..60_u32 {
            follow(&mut clock, i64::from(i) * 20, 500 + i * 10);
            clock.answers(500 + i * 10, Nanos::from_millis(i64::from(i) * 10));
        }
        assert_eq!(clock.late(), None);
        for i in 60..300_u32 {
            follow(&mut clock, 600 + i64::from(i) * 10, 500 + i * 10);
            clock.answers(500 + i * 10, Nanos::from_millis(i64::from(i) * 10));
        }
        assert!(clock.late().is_some_and(|late| late > Nanos::from_millis(590)));
    }

    #[test]
    fn a_route_that_became_longer_makes_its_own_segments_prompt_and_slower_ones_late() {
        let mut clock = TsvalClock::default();
        (0..200).for_each(|i| follow(&mut clock, i * 10, 500 + i as u32 * 10));
        follow(&mut clock, 2_040, 2_500);
        clock.takes_as_usual(clock.late().unwrap_or_default());
        follow(&mut clock, 2_060, 2_520);
        assert_eq!(clock.held(), None);
        follow(&mut clock, 2_100, 2_540);
        assert!(clock.late().is_some_and(|late| late > Nanos::from_millis(18) && late < Nanos::from_millis(22)));
    }

    #[test]
    fn a_clock_that_advances_fifty_ticks_at_a_time_shows_no_delay_below_a_hundred() {
        let every_50 = |i: i64| 500 + i as u32 / 5 * 50;
        let mut clock = TsvalClock::default();
        (0..200).for_each(|i| follow(&mut clock, i * 10, every_50(i)));
        assert_eq!((clock.grain(), clock.held()), (Nanos::from_millis(100), None));
        assert!(clock.may_hide(Nanos::from_millis(70)) && !clock.may_hide(Nanos::from_millis(90)));
        follow(&mut clock, 2_150, every_50(199));
        assert!(clock.held().is_some());
    }

    #[test]
    fn a_clock_of_another_tick_says_nothing_in_the_end() {
        let mut clock = TsvalClock::default();
        (0..800).for_each(|i| follow(&mut clock, i * 10 + i / 4, 500 + i as u32 * 10));
        assert_eq!(clock.late(), None);
    }

    #[test]
    fn no_clock_and_no_time_runs_over() {
        let values = [0, 1, 49, 50, i32::MAX as u32, 1 << 31, u32::MAX];
        let times = [i64::MIN, -1, 0, 1, Nanos::LATEST.0, i64::MAX - 5_000, i64::MAX];
        let any: Vec<(i64, u32)> = times.into_iter().flat_map(|time| values.map(|value| (time, value))).collect();
        let triples = any.iter().flat_map(|a| any.iter().flat_map(|b| any.iter().map(|c| [*a, *b, *c])));
        for (triple, usual) in triples.flat_map(|triple| [(triple, None), (triple, Some(Nanos::LATEST))]) {
            let mut clock = TsvalClock::default();
            clock.follow(Nanos(0), 0, true);
            for (time, value) in triple {
                clock.follow(Nanos(time), value, true);
                assert!(clock.late().is_none_or(|late| late >= Nanos::ZERO));
                if let Some(late) = usual {
                    clock.takes_as_usual(late);
                }
            }
        }
    }

    #[test]
    fn a_pause_of_the_sender_is_not() {
        let mut clock = TsvalClock::default();
        (0..200).for_each(|i| follow(&mut clock, i * 10, 500 + i as u32));
        follow(&mut clock, 4_000, 900);
        assert_eq!(clock.late(), Some(Nanos::ZERO), "a clock of 10 ms a tick");
    }
}
