//! Tracks the smallest round trip of a leg over time, because a route may change during a flow.

use crate::time::Nanos;

/// Divisor of a round trip: a difference above a quarter is another route, less is jitter.
const STEP: i64 = 4;
/// Smallest difference that is another route: hosts delay an answer by less.
const LEAST_STEP: Nanos = Nanos::from_millis(2);
/// Answers that must agree before a longer round trip is believed, and round trips that they must span. BBR waits 10 s
/// (draft-cardwell BBRMinRTTFilterLen), Linux 300 s (tcp_min_rtt_wlen), because they cannot tell a queue from a route.
/// Here only answers that no queue of the flow explains are counted.
const AGREEING: u32 = 3;
/// Answers that must agree, one in each of as many round trips, before a round trip that is longer by less than another
/// route's is believed: a queue of other flows does not stay the same for so long.
const STANDING: u32 = 8;
/// Difference between answers that agree: what a host's timers and interrupts add.
const ALIKE: Nanos = Nanos::from_millis(1);
/// Answers of an end after which a much shorter one is a route change and not the first accurate measurement.
pub(in crate::flow) const ESTABLISHED: u32 = 8;
/// Changes remembered; a route that changes more often has no level.
const LIMIT: usize = 64;

/// Value of an answer as evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The end itself may have delayed the answer: only a short time is evidence.
    Unsure,
    /// The path took this long, perhaps with the flow's own queue in it.
    Queued,
    /// The path took this long, and no data of the flow was in flight that could have queued before it.
    Bare,
}

/// The smallest round trip of a leg over time.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct MinRtt {
    value: Option<Nanos>,
    /// No answer since has been as short as the level: it is the least of answers that differed, on a route that may have
    /// become longer still.
    unmet: bool,
    rising: Option<Rising>,
    /// Earlier levels, and the end of each.
    past: Vec<(Nanos, Nanos)>,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Rising {
    since: Nanos,
    least: Nanos,
    /// Excess of the time from the sender to the tap in the answer that is the least, by the sender's clock.
    late: Nanos,
    bare: u32,
}

impl MinRtt {
    /// The level now; `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.value
    }

    /// Longer answers are waiting to be believed: any short one counts.
    #[inline]
    pub fn is_rising(&self) -> bool {
        self.rising.is_some()
    }

    /// The level at `time`.
    pub fn at(&self, time: Nanos) -> Option<Nanos> {
        self.past.iter().find(|(until, _)| time < *until).map(|(_, value)| *value).or(self.value)
    }

    /// True if `span` is the round trip of a longer route than `value`, not jitter.
    #[inline]
    fn is_above(span: Nanos, value: Nanos) -> bool {
        (span - value).0 > (value.0 / STEP).max(LEAST_STEP.0)
    }

    /// True if an answer after `span` is no news compared with the smallest, `least`.
    #[inline]
    pub(in crate::flow) fn is_steady(span: Nanos, least: Nanos) -> bool {
        span >= least && !Self::is_above(span, least)
    }

    /// Takes in an answer at `now`, after `span`, whose packet was `late` by its sender's clock; `answers` came before it.
    /// Gives the lateness of the answer that has become the level, if the level changed.
    #[inline]
    pub fn offer(&mut self, now: Nanos, span: Nanos, answer: Answer, late: Nanos, answers: u32) -> Option<Nanos> {
        // Packets out of order in the capture may seem to be answered before they were sent.
        let span = span.or_zero();
        let Some(value) = self.value else {
            self.value = Some(span);
            return None;
        };
        if Self::is_above(span, value) {
            return self.rise(now, span, answer, late);
        }
        if span >= value {
            return self.stand(now, span, answer, late, value);
        }
        (self.rising, self.unmet) = (None, false);
        if Self::is_above(value, span) && answers >= ESTABLISHED {
            self.change(now, span);
            self.unmet = false;
            return Some(late);
        }
        self.value = Some(span);
        None
    }

    fn rise(&mut self, now: Nanos, span: Nanos, answer: Answer, late: Nanos) -> Option<Nanos> {
        let begun = Rising { since: now - span, least: span, late, bare: 0 };
        let rising = match answer {
            Answer::Unsure => return None,
            Answer::Queued => self.rising.as_mut()?,
            Answer::Bare => self.rising.get_or_insert(begun),
        };
        if answer == Answer::Bare && (Self::is_above(span, rising.least) || Self::is_above(rising.least, span)) {
            // The answers disagree. The first packet may have gone by one route and its answer come back by the other.
            let since = if rising.bare <= 1 { rising.since } else { begun.since };
            *rising = Rising { since, ..begun };
        }
        (rising.least, rising.late) = (rising.least, rising.late).min((span, late));
        rising.bare += u32::from(answer == Answer::Bare);
        let rising = *rising;
        self.believe(now, rising, AGREEING, 2)
    }

    /// Takes in an answer that is longer than the level, but not by as much as another route's. A route that becomes
    /// longer little by little ends on a level that no step shows.
    #[inline]
    fn stand(&mut self, now: Nanos, span: Nanos, answer: Answer, late: Nanos, value: Nanos) -> Option<Nanos> {
        if span - value <= LEAST_STEP {
            (self.rising, self.unmet) = (None, false);
            return None;
        }
        // Nothing speaks for a level that no answer has met.
        let answer = if self.unmet { Answer::Bare } else { answer };
        let rising = self.rising.take_if(|rising| span < rising.least - ALIKE || answer == Answer::Bare);
        if answer != Answer::Bare {
            return None;
        }
        let begun = Rising { since: now - span, least: span, late, bare: 0 };
        let mut standing = rising.filter(|rising| (span - rising.least).0.abs() <= ALIKE.0).unwrap_or(begun);
        (standing.least, standing.late) = (standing.least, standing.late).min((span, late));
        standing.bare += 1;
        self.rising = Some(standing);
        self.believe(now, standing, STANDING, i64::from(STANDING))
    }

    /// Takes the least of agreeing answers as the level, once there are so many over as many round trips; gives its
    /// lateness.
    #[inline]
    fn believe(&mut self, now: Nanos, agreeing: Rising, answers: u32, round_trips: i64) -> Option<Nanos> {
        let Rising { since, least, late, bare } = agreeing;
        (bare >= answers && now - since >= least.times(round_trips)).then(|| {
            self.change(since, least);
            late
        })
    }

    fn change(&mut self, since: Nanos, value: Nanos) {
        if let Some(old) = self.value.filter(|_| self.past.len() < LIMIT) {
            self.past.push((since, old));
        }
        self.value = Some(value);
        (self.rising, self.unmet) = (None, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> Nanos {
        Nanos::from_millis(ms)
    }

    /// Plays twenty answers of 20 ms, then answers of 60 ms from 1 s on.
    fn after_a_change(answer: Answer) -> MinRtt {
        let mut level = MinRtt::default();
        (0..20).for_each(|i| _ = level.offer(ms(i * 50), ms(20), Answer::Queued, ms(0), i as u32));
        (0..6).for_each(|i| _ = level.offer(ms(1_000 + i * 60), ms(60), answer, ms(40), 20));
        level
    }

    #[test]
    fn a_route_that_grew_longer_is_believed_after_three_bare_answers_and_dated_back() {
        let level = after_a_change(Answer::Bare);
        assert_eq!((level.get(), level.at(ms(500)), level.at(ms(1_030))), (Some(ms(60)), Some(ms(20)), Some(ms(60))));
    }

    #[test]
    fn a_new_level_says_how_late_the_answer_was_that_became_it() {
        let mut level = MinRtt::default();
        (0..20).for_each(|i| _ = level.offer(ms(i * 50), ms(20), Answer::Queued, ms(0), i as u32));
        let answers = [(1_060, 60, 22), (1_120, 58, 20), (1_180, 63, 23)];
        let late = answers.map(|(at, span, late)| level.offer(ms(at), ms(span), Answer::Bare, ms(late), 20));
        assert_eq!((late, level.get()), ([None, None, Some(ms(20))], Some(ms(58))));
    }

    #[test]
    fn a_queue_of_its_own_and_an_end_that_thinks_change_nothing() {
        assert_eq!(after_a_change(Answer::Queued).get(), Some(ms(20)));
        assert_eq!(after_a_change(Answer::Unsure).get(), Some(ms(20)));
    }

    /// Plays answers of 80 ms, then answers a round trip apart, each that much longer.
    fn a_little_longer(excess: impl Fn(i64) -> i64, answer: Answer) -> MinRtt {
        let mut level = MinRtt::default();
        (0..10).for_each(|i| _ = level.offer(ms(i * 90), ms(80), answer, ms(0), i as u32));
        (10..30).for_each(|i| _ = level.offer(ms(i * 90), ms(80 + excess(i)), answer, ms(4), 10));
        level
    }

    #[test]
    fn a_level_that_is_little_higher_is_believed_after_eight_round_trips_and_dated_back() {
        let level = a_little_longer(|i| 8 + i % 2, Answer::Bare);
        assert_eq!((level.get(), level.at(ms(800)), level.at(ms(830))), (Some(ms(88)), Some(ms(80)), Some(ms(88))));
    }

    /// Plays a route that becomes longer while answers of 100 to 120 ms make the level, one `between`, and then answers of
    /// 120 ms of an end that may have waited.
    fn after_a_ramp(between: Option<i64>) -> MinRtt {
        let mut level = MinRtt::default();
        (0..10).for_each(|i| _ = level.offer(ms(i * 90), ms(30), Answer::Bare, ms(0), i as u32));
        for (at, span) in [(1_000, 100), (1_110, 110), (1_230, 120)] {
            level.offer(ms(at), ms(span), Answer::Bare, ms(span / 2), 10);
        }
        if let Some(span) = between {
            level.offer(ms(1_350), ms(span), Answer::Unsure, ms(0), 10);
        }
        (0..12).for_each(|i| _ = level.offer(ms(1_480 + i * 130), ms(120), Answer::Unsure, ms(0), 10));
        level
    }

    #[test]
    fn a_level_that_no_answer_has_met_gives_way_to_answers_that_stand() {
        let (level, met) = (after_a_ramp(None), after_a_ramp(Some(101)));
        assert_eq!((level.get(), met.get()), (Some(ms(120)), Some(ms(100))));
    }

    #[test]
    fn answers_a_little_longer_that_disagree_or_are_no_evidence_change_nothing() {
        assert_eq!(a_little_longer(|i| 8 + 3 * (i % 2), Answer::Bare).get(), Some(ms(80)));
        assert_eq!(a_little_longer(|i| if i % 6 == 0 { 1 } else { 8 }, Answer::Bare).get(), Some(ms(80)));
        assert_eq!(a_little_longer(|_| 2, Answer::Bare).get(), Some(ms(80)));
        assert_eq!(a_little_longer(|_| 8, Answer::Queued).get(), Some(ms(80)));
    }

    #[test]
    fn one_short_answer_in_between_shows_that_the_route_is_the_same() {
        let mut level = MinRtt::default();
        level.offer(ms(0), ms(20), Answer::Bare, ms(0), 0);
        for i in 1..30 {
            level.offer(ms(i * 60), if i % 3 == 0 { ms(21) } else { ms(60) }, Answer::Bare, ms(0), i as u32);
        }
        assert_eq!(level.get(), Some(ms(20)));
    }

    #[test]
    fn a_route_that_grew_shorter_keeps_its_past() {
        let mut level = MinRtt::default();
        (0..20).for_each(|i| _ = level.offer(ms(i * 60), ms(60), Answer::Queued, ms(0), i as u32));
        level.offer(ms(1_300), ms(20), Answer::Queued, ms(0), 20);
        assert_eq!((level.at(ms(1_200)), level.get()), (Some(ms(60)), Some(ms(20))));
    }

    #[test]
    fn a_first_answer_that_was_late_is_corrected_for_all_time() {
        let mut level = MinRtt::default();
        level.offer(ms(0), ms(60), Answer::Queued, ms(0), 0);
        level.offer(ms(100), ms(20), Answer::Queued, ms(0), 1);
        assert_eq!(level.at(ms(0)), Some(ms(20)));
    }
}
