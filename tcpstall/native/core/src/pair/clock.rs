//! Aligns the second capture's clock with the first one's.
//!
//! A packet from the first tap to the second shows the second clock's lead plus the delay on the way there; a packet
//! back shows the lead less the delay on the way back. So at every moment the lead is between the lowest values of the
//! former and the highest of the latter: the two parallel lines with the widest strip between them give its drift. No
//! packet shows where in the strip the lead is; the middle is used, as if the smallest delays of both directions were
//! equal.

use serde::Serialize;

use super::hull::{Point, least, lower};

/// Largest drift that is considered: Linux slews by at most 500 ppm (adjtimex), and the two clocks may err in opposite
/// directions.
const MOST_DRIFT: f64 = 1e-3;
/// Difference in width up to which a strip is as good as the widest: the variation of time stamping, nanoseconds.
const STAMPING: f64 = 50_000.0;
/// The same difference as a share of the strip: the smallest delays vary a little themselves.
const UNSTEADY: f64 = 0.01;
/// Halvings of an interval of drifts: 2⁻⁶⁰ of it is below a float's precision.
const HALVINGS: u32 = 60;

/// Evidence for the clocks' alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alignment {
    /// Packets in both directions: the sum of both smallest delays is known, and is split in half.
    BothWays,
    /// Packets in one direction only: delays are given above the smallest.
    OneWay,
    /// The user stated that both captures have one clock.
    SameClock,
    /// No straight line separates the packets of both directions: a clock was set meanwhile. Delays are unknown.
    Stepped,
    /// Both captures share no packets.
    Unknown,
}

/// The second clock relative to the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RelativeClock {
    /// Evidence for the alignment.
    pub alignment: Alignment,
    /// The second clock less the first, at `reference_ns`.
    pub offset_ns: i64,
    /// Time of the first clock at which the offset holds.
    pub reference_ns: i64,
    /// Excess rate of the second clock, parts per million; 0 where none is seen.
    pub drift_ppm: f64,
    /// Half the range of drifts that fit the packets equally well.
    pub drift_uncertainty_ppm: Option<f64>,
    /// Sum of the smallest delays in both directions, which does not depend on the offset.
    pub least_round_trip_ns: Option<i64>,
}

impl RelativeClock {
    pub(super) const fn without(alignment: Alignment, reference_ns: i64) -> RelativeClock {
        RelativeClock {
            alignment,
            offset_ns: 0,
            reference_ns,
            drift_ppm: 0.0,
            drift_uncertainty_ppm: None,
            least_round_trip_ns: None,
        }
    }

    /// The second clock's lead at a time of the first.
    pub(super) fn lead_at(&self, first: i64) -> i64 {
        self.offset_ns.saturating_add(((first.saturating_sub(self.reference_ns)) as f64 * self.drift_ppm * 1e-6) as i64)
    }

    /// Converts a time of the second clock to the first one's.
    pub(super) fn by_first(&self, second: i64) -> i64 {
        second.saturating_sub(self.lead_at(second.saturating_sub(self.offset_ns)))
    }

    /// True if delays are meaningful.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.alignment, Alignment::Stepped | Alignment::Unknown)
    }
}

/// A packet at both taps: time at the first, and difference to the time at the second, each by its own clock.
pub(super) type Sighting = (i64, i64);

/// The widest strip between packets of one direction, whose leads are above it, and of the other direction, below it.
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

    /// The slope of the widest strip: the width is concave in the slope.
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

/// Width of the widest strip with `above` above it, nanoseconds; negative where the two cross. `None` if one is
/// missing.
pub(super) fn widest(above: &[Sighting], below: &[Sighting]) -> Option<i64> {
    let (&at, _) = (above.first()?, below.first()?);
    let strip = Strip::new(above, below, at);
    Some(strip.width(strip.steepest()) as i64)
}

/// Aligns the clocks by packets from the first tap to the second and back, each in the order of the first clock.
pub(super) fn align(there: &[Sighting], back: &[Sighting], same_clock: bool) -> RelativeClock {
    let Some(at) = there.first().or(back.first()).copied() else {
        return RelativeClock::without(Alignment::Unknown, 0);
    };
    let least_of = |ways: &[Sighting], sign: i64| ways.iter().map(|(_, lead)| lead.saturating_mul(sign)).min();
    if same_clock {
        let round_trip =
            least_of(there, 1).zip(least_of(back, -1)).map(|(there, back): (i64, i64)| there.saturating_add(back));
        return RelativeClock { least_round_trip_ns: round_trip, ..RelativeClock::without(Alignment::SameClock, at.0) };
    }
    if there.is_empty() || back.is_empty() {
        let offset = least_of(there, 1).or(least_of(back, -1).map(i64::saturating_neg)).unwrap_or_default();
        return RelativeClock { offset_ns: offset, ..RelativeClock::without(Alignment::OneWay, at.0) };
    }
    let strip = Strip::new(there, back, at);
    let best = strip.steepest();
    if strip.width(best) < -STAMPING {
        return RelativeClock::without(Alignment::Stepped, at.0);
    }
    let (low, high) = strip.as_good(best);
    let slope = if low <= 0.0 && 0.0 <= high { 0.0 } else { (low + high) / 2.0 };
    RelativeClock {
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

    /// Plays a packet per millisecond in each direction for ten seconds; the second clock leads by `lead` and runs
    /// `ppm` fast.
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
