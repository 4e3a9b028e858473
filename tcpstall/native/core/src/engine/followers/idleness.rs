//! Detects that a thread often waits for another one.

/// Batches between two looks, and those of them that a thread has to have waited for.
const BETWEEN_LOOKS: usize = 64;
const MOST: usize = 48;

/// Batches since the last look.
#[derive(Debug, Default)]
pub(in crate::engine) struct Idleness {
    batches: usize,
    waited: usize,
}

impl Idleness {
    /// Takes in whether the thread `waited` for the next batch; true if it has for most of the latest.
    pub(in crate::engine) fn lasts(&mut self, waited: bool) -> bool {
        (self.batches, self.waited) = (self.batches + 1, self.waited + usize::from(waited));
        if self.batches < BETWEEN_LOOKS {
            return false;
        }
        let Idleness { waited, .. } = std::mem::take(self);
        waited > MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of looks that find a thread idle that waits for `waits` of each `of` batches, of ten looks.
    fn found(waits: usize, of: usize) -> usize {
        let mut idleness = Idleness::default();
        (0..10 * BETWEEN_LOOKS).filter(|batch| idleness.lasts(batch % of < waits)).count()
    }

    #[test]
    fn a_thread_that_nearly_always_waits_is_idle() {
        assert_eq!([found(1, 1), found(7, 8), found(3, 4), found(1, 2), found(0, 1)], [10, 10, 0, 0, 0]);
    }
}
