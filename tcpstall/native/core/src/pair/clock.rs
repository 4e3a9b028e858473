//! How the second capture's clock stands against the first one's.
//!
//! A packet from the first tap to the second shows the second clock's lead plus the way there; one back shows the lead
//! less the way back. So the lead lies between the lowest of the ones and the highest of the others, at every moment: two
//! parallel lines with the widest strip between them give its drift. Where in the strip it lies no packet can tell; the
//! middle is taken, as if the least delays of both ways were equal.

use serde::Serialize;

use super::hull::{Point, least, lower};

/// Clocks are searched for drifts up to this: Linux slews by at most 500 ppm (adjtimex), and each may err its own way.
const MOST_DRIFT: f64 = 1e-3;
/// A strip narrower by no more than this explains the packets as well: what stamping them varies by, nanoseconds.
const STAMPING: f64 = 50_000.0;
/// The same, as a share of the strip: the least delays themselves come and go a little.
const UNSTEADY: f64 = 0.01;
/// Halvings of an interval of drifts: 2⁻⁶⁰ of it is below what a float holds.
const HALVINGS: u32 = 60;

/// What the clocks' alignment rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alignment {
    /// Packets both ways: the sum of both least delays is known, and is split in half.
    BothWays,
    /// Packets one way only: delays are those above the least.
    OneWay,
    /// The user says that both captures have one clock.
    SameClock,
    /// No straight line lies between the packets of both ways: a clock was set meanwhile. Delays are not known.
    Stepped,
    /// There are no packets that both captures hold.
    Unknown,
}

/// How the second clock stands against the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Clock {
    /// What this rests on.
    pub alignment: Alignment,
    /// The second clock less the first, at `reference_ns`.
    pub offset_ns: i64,
    /// The moment by the first clock at which the offset holds.
    pub reference_ns: i64,
    /// How much faster the second clock runs, parts per million; 0 where none is seen.
    pub drift_ppm: f64,
    /// Half of the drifts that explain the packets as well.
    pub drift_uncertainty_ppm: Option<f64>,
    /// The least delays there and back together, which the offset does not change.
    pub least_round_trip_ns: Option<i64>,
}

impl Clock {
    pub(super) const fn without(alignment: Alignment, reference_ns: i64) -> Clock {
        Clock {
            alignment,
            offset_ns: 0,
            reference_ns,
            drift_ppm: 0.0,
            drift_uncertainty_ppm: None,
            least_round_trip_ns: None,
        }
    }

    /// The second clock's lead at a moment of the first.
    pub(super) fn lead_at(&self, first: i64) -> i64 {
        self.offset_ns.saturating_add(((first.saturating_sub(self.reference_ns)) as f64 * self.drift_ppm * 1e-6) as i64)
    }

    /// A moment of the second clock by the first one's.
    pub(super) fn by_first(&self, second: i64) -> i64 {
        second.saturating_sub(self.lead_at(second.saturating_sub(self.offset_ns)))
    }

    /// True where delays mean something.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.alignment, Alignment::Stepped | Alignment::Unknown)
    }
}

/// A packet at both taps: when the first saw it, and how much later the second did, each by its own clock.
pub(super) type Sighting = (i64, i64);

/// The widest strip between packets one way, whose leads lie above it, and the other way, below it.
struct Strip {
    above: Vec<Point>,
    /// Mirrored, so that its lower hull is the cloud's upper one.
    below: Vec<Point>,
}

impl Strip {
    fn new(above: &[Sighting], below: &[Sighting], at: (i64, i64)) -> Strip {
        let point = |sign: f64| {
            move |(time, lead): &Sighting| (time.saturating_sub(at.0) as f64, sign * lead.saturating_sub(at.1) as f64)
        };
        Strip { above: lower(above.iter().map(point(1.0))), below: lower(below.iter().map(point(-1.0))) }
    }

    fn width(&self, slope: f64) -> f64 {
        least(&self.above, slope) + least(&self.below, -slope)
    }

    fn middle(&self, slope: f64) -> f64 {
        (least(&self.above, slope) - least(&self.below, -slope)) / 2.0
    }

    /// The slope of the widest strip: its width is concave in the slope.
    fn steepest(&self) -> f64 {
        let (mut low, mut high) = (-MOST_DRIFT, MOST_DRIFT);
        for _ in 0..2 * HALVINGS {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.width(a) < self.width(b) { low = a } else { high = b }
        }
        (low + high) / 2.0
    }

    /// The slopes around `best` whose strip is hardly narrower.
    fn as_good(&self, best: f64) -> (f64, f64) {
        let enough = self.width(best) - STAMPING.max(UNSTEADY * self.width(best));
        let edge = |mut outer: f64| {
            let mut inner = best;
            for _ in 0..HALVINGS {
                let middle = (inner + outer) / 2.0;
                if self.width(middle) >= enough { inner = middle } else { outer = middle }
            }
            inner
        };
        (edge(-MOST_DRIFT), edge(MOST_DRIFT))
    }
}

/// How wide the widest strip is with `above` above it, nanoseconds; negative where they cross. `None` without both.
pub(super) fn widest(above: &[Sighting], below: &[Sighting]) -> Option<i64> {
    let (&at, _) = (above.first()?, below.first()?);
    let strip = Strip::new(above, below, at);
    Some(strip.width(strip.steepest()) as i64)
}

/// Aligns the clocks by packets from the first tap to the second and back, each in the order of the first clock.
pub(super) fn align(there: &[Sighting], back: &[Sighting], same_clock: bool) -> Clock {
    let Some(at) = there.first().or(back.first()).copied() else {
        return Clock::without(Alignment::Unknown, 0);
    };
    let least_of = |ways: &[Sighting], sign: i64| ways.iter().map(|(_, lead)| lead.saturating_mul(sign)).min();
    if same_clock {
        let round_trip =
            least_of(there, 1).zip(least_of(back, -1)).map(|(there, back): (i64, i64)| there.saturating_add(back));
        return Clock { least_round_trip_ns: round_trip, ..Clock::without(Alignment::SameClock, at.0) };
    }
    if there.is_empty() || back.is_empty() {
        let offset = least_of(there, 1).or(least_of(back, -1).map(i64::saturating_neg)).unwrap_or_default();
        return Clock { offset_ns: offset, ..Clock::without(Alignment::OneWay, at.0) };
    }
    let strip = Strip::new(there, back, at);
    let best = strip.steepest();
    if strip.width(best) < -STAMPING {
        return Clock::without(Alignment::Stepped, at.0);
    }
    let (low, high) = strip.as_good(best);
    let slope = if low <= 0.0 && 0.0 <= high { 0.0 } else { (low + high) / 2.0 };
    Clock {
        alignment: Alignment::BothWays,
        offset_ns: at.1.saturating_add(strip.middle(slope) as i64),
        reference_ns: at.0,
        drift_ppm: slope * 1e6,
        drift_uncertainty_ppm: Some((high - low) / 2.0 * 1e6),
        least_round_trip_ns: Some(strip.width(slope) as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::{Alignment, align};

    /// A packet a millisecond each way for ten seconds; the second clock leads by `lead` and runs `ppm` fast.
    fn clouds(lead: i64, ppm: f64, there: i64, back: i64) -> [Vec<(i64, i64)>; 2] {
        let at = |time: i64| lead + (time as f64 * ppm * 1e-6) as i64;
        let queue = |number: i64| (number * 7_919) % 400_000;
        let one = (0..10_000).map(|n| (n * 1_000_000, at(n * 1_000_000) + there + queue(n))).collect();
        let other = (0..10_000).map(|n| (n * 1_000_000, at(n * 1_000_000) - back - queue(n + 3))).collect();
        [one, other]
    }

    #[test]
    fn a_lead_of_hours_and_a_drift_are_found() {
        let [there, back] = clouds(7_200_000_000_000, 50.0, 10_000_000, 10_000_000);
        let clock = align(&there, &back, false);
        assert_eq!(clock.alignment, Alignment::BothWays);
        assert!((clock.offset_ns - 7_200_000_000_000).abs() < 50_000, "{clock:?}");
        assert!((clock.drift_ppm - 50.0).abs() < 5.0, "{clock:?}");
        assert!((clock.least_round_trip_ns.unwrap() - 20_000_000).abs() < 50_000, "{clock:?}");
    }

    #[test]
    fn no_drift_is_seen_where_there_is_none() {
        let [there, back] = clouds(-5, 0.0, 10_000_000, 10_000_000);
        assert_eq!(align(&there, &back, false).drift_ppm, 0.0);
    }

    #[test]
    fn unequal_ways_shift_the_offset_by_half_their_difference_unless_the_clock_is_one() {
        let [there, back] = clouds(0, 0.0, 30_000_000, 10_000_000);
        assert!((align(&there, &back, false).offset_ns - 10_000_000).abs() < 50_000);
        assert_eq!(align(&there, &back, true).offset_ns, 0);
    }

    #[test]
    fn a_clock_that_was_set_meanwhile_is_told() {
        let [mut there, mut back] = clouds(0, 0.0, 10_000_000, 10_000_000);
        there
            .iter_mut()
            .chain(&mut back)
            .filter(|point| point.0 > 5_000_000_000)
            .for_each(|point| point.1 += 1_000_000_000);
        assert_eq!(align(&there, &back, false).alignment, Alignment::Stepped);
    }

    #[test]
    fn one_way_alone_gives_delays_above_the_least() {
        let [there, _] = clouds(1_000, 0.0, 10_000_000, 0);
        let clock = align(&there, &[], false);
        assert_eq!((clock.alignment, clock.offset_ns), (Alignment::OneWay, 10_001_000));
    }
}
