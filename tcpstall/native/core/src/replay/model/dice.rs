//! Dice that fall the same way in each replay: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
//! generators", 2014).

/// Odd constant of the golden ratio that the state grows by.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// Bits of a fraction that a double holds exactly.
const BITS: u32 = 53;

/// Random numbers of one replay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// True in `share` of all throws.
    pub(super) fn falls_below(&mut self, share: f64) -> bool {
        self.throw() < share
    }

    /// A number from 0 to 1.
    pub(crate) fn throw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        (mixed >> (u64::BITS - BITS)) as f64 / (1_u64 << BITS) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_throws_falls_below_it() {
        for share in [0.001, 0.01, 0.3] {
            let mut dice = Dice::new(7);
            let fell = (0..100_000).filter(|_| dice.falls_below(share)).count();
            assert!((fell as f64 / 100_000.0 / share - 1.0).abs() < 0.2, "{share}: {fell}");
        }
    }

    #[test]
    fn another_seed_is_another_series() {
        let series = |seed| {
            let mut dice = Dice::new(seed);
            (0..64).map(|_| dice.falls_below(0.5)).collect::<Vec<_>>()
        };
        assert_eq!(series(1), series(1));
        assert_ne!(series(1), series(2));
    }
}
