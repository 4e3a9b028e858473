//! Keeps the distribution of a sender's round trips, a count for each class of lengths.

use crate::time::Nanos;
use crate::vec_growth;

/// Classes in each doubling, as a power of two: the middle of a class is within 1.6 % of all of its round trips.
const BITS: u32 = 5;

/// Round trips by class of length, shortest first. Most flows have few classes.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct RoundTrips {
    classes: Vec<(u16, u32)>,
    /// Place of the class that was counted last: often the next one too.
    #[serde(skip)]
    last: usize,
}

impl RoundTrips {
    /// Empty round trips in the memory of these, if they have room for `most` classes at most.
    pub(in crate::flow) fn renewed(&mut self, most: usize) -> RoundTrips {
        RoundTrips { classes: vec_growth::emptied(&mut self.classes, most), last: 0 }
    }

    /// Counts a round trip.
    #[inline]
    pub fn add(&mut self, rtt: Nanos) {
        let class = class_of(rtt);
        match self.classes.get_mut(self.last) {
            Some((last, count)) if *last == class => *count = count.saturating_add(1),
            _ => self.add_to(class),
        }
    }

    #[inline(never)]
    fn add_to(&mut self, class: u16) {
        self.last = match self.classes.binary_search_by_key(&class, |(class, _)| *class) {
            Ok(at) => {
                self.classes[at].1 = self.classes[at].1.saturating_add(1);
                at
            }
            Err(at) => {
                self.classes.insert(at, (class, 1));
                at
            }
        };
    }

    /// Memory beyond the size of the struct itself, bytes.
    pub fn memory(&self) -> usize {
        self.classes.capacity() * size_of::<(u16, u32)>()
    }

    /// For each of `percents` the least round trip that so many of all do not exceed, to the middle of its class; `None`
    /// without any.
    pub fn quantiles<const N: usize>(&self, percents: [u64; N]) -> [Option<Nanos>; N] {
        if let [(class, _)] = self.classes[..] {
            return [Some(middle(class)); N];
        }
        let all: u64 = self.classes.iter().map(|(_, count)| u64::from(*count)).sum();
        percents.map(|percent| {
            let mut upto = 0;
            self.classes.iter().find_map(|(class, count)| {
                upto += u64::from(*count);
                (upto * 100 >= all * percent).then(|| middle(*class))
            })
        })
    }
}

/// Number of a length's class: lengths below 2^BITS have one each, then each doubling has 2^BITS.
fn class_of(rtt: Nanos) -> u16 {
    let span = rtt.0.max(0) as u64;
    let doublings = (u64::BITS - span.leading_zeros()).saturating_sub(BITS + 1);
    ((doublings << BITS) + (span >> doublings) as u32) as u16
}

fn middle(class: u16) -> Nanos {
    let doublings = u32::from(class >> BITS).saturating_sub(1);
    let least = u64::from(class) - (u64::from(doublings) << BITS);
    Nanos(((least << doublings) + ((1 << doublings) - 1) / 2) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_class_is_within_1_6_percent_and_classes_are_in_order() {
        let mut before = 0;
        for span in (0..2_000).chain((1..60).map(|power| (1_i64 << power) * 9 / 7)) {
            let class = class_of(Nanos(span));
            assert!((middle(class).0 - span).abs() as f64 <= span as f64 * 0.016, "{span}: {:?}", middle(class));
            assert!(class >= before || span < 2_000, "{span}");
            before = class;
        }
        assert_eq!(class_of(Nanos(-5)), 0);
    }

    #[test]
    fn quantiles_are_those_of_the_round_trips() {
        let mut trips = RoundTrips::default();
        assert_eq!(trips.quantiles([50]), [None]);
        for millis in (1..=100).rev() {
            trips.add(Nanos::from_millis(millis));
        }
        for percent in [50, 95, 100] {
            let exact = Nanos::from_millis(percent as i64).0 as f64;
            let told = trips.quantiles([percent])[0].map(|span| span.0 as f64);
            assert!(told.is_some_and(|told| (told - exact).abs() <= exact * 0.016), "{percent}: {told:?}");
        }
    }
}
