//! A set of byte ranges: reported by SACK, or not seen by the tap.

/// Ranges of one set. Beyond it every change forgets the lowest ones, so a hostile flow can neither grow the set nor
/// make a change cost more than moving this many ranges.
pub const LIMIT: usize = 256;

/// Disjoint half-open ranges in ascending order, at most [`LIMIT`].
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Ranges {
    ranges: Vec<(i64, i64)>,
    /// Bytes in all of them.
    held: i64,
}

impl Ranges {
    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds `[left, right)`, joined with the ranges that it touches.
    pub fn insert(&mut self, left: i64, right: i64) {
        if left >= right {
            return;
        }
        let first = self.ranges.partition_point(|range| range.1 < left);
        let after = self.ranges.partition_point(|range| range.0 <= right);
        if first == after {
            self.ranges.insert(first, (left, right));
            self.held += right - left;
        } else {
            let joined = (left.min(self.ranges[first].0), right.max(self.ranges[after - 1].1));
            self.held += joined.1 - joined.0 - bytes_of(&self.ranges[first..after]);
            self.ranges.drain(first + 1..after);
            self.ranges[first] = joined;
        }
        self.keep_to_limit();
    }

    /// Removes `[left, right)`; returns the number of bytes that were in the set.
    pub fn remove(&mut self, left: i64, right: i64) -> i64 {
        let first = self.ranges.partition_point(|range| range.1 <= left);
        let after = self.ranges.partition_point(|range| range.0 < right);
        if first >= after || left >= right {
            return 0;
        }
        let mut removed = 0;
        let (low, high) = (self.ranges[first], self.ranges[after - 1]);
        for range in &self.ranges[first..after] {
            removed += range.1.min(right) - range.0.max(left);
        }
        let rest = [(low.0, left), (right, high.1)];
        self.ranges.splice(first..after, rest.into_iter().filter(|range| range.0 < range.1));
        self.held -= removed;
        self.keep_to_limit();
        removed
    }

    fn keep_to_limit(&mut self) {
        self.keep_highest(LIMIT);
    }

    /// Forgets all but the highest `ranges`.
    pub fn keep_highest(&mut self, ranges: usize) {
        let beyond = self.ranges.len().saturating_sub(ranges);
        if beyond > 0 {
            self.held -= bytes_of(&self.ranges[..beyond]);
            self.ranges.drain(..beyond);
        }
    }

    /// Ranges below `edge`.
    pub fn below(&self, edge: i64) -> impl Iterator<Item = (i64, i64)> {
        self.ranges.iter().take_while(move |range| range.0 < edge).map(move |range| (range.0, range.1.min(edge)))
    }

    /// Forgets everything below `edge`; returns the number of bytes forgotten.
    pub fn forget_below(&mut self, edge: i64) -> i64 {
        match self.ranges.first() {
            Some(range) if range.0 < edge => self.remove(range.0, edge),
            _ => 0,
        }
    }

    /// Number of bytes in the set.
    #[inline]
    pub fn bytes(&self) -> i64 {
        self.held
    }

    /// Returns unused memory.
    pub fn shrink(&mut self) {
        self.ranges.shrink_to_fit();
    }

    /// Memory, bytes.
    pub fn memory(&self) -> usize {
        self.ranges.capacity() * size_of::<(i64, i64)>()
    }

    /// True if any byte of `[left, right)` is in the set.
    pub fn touches(&self, left: i64, right: i64) -> bool {
        let first = self.ranges.partition_point(|range| range.1 <= left);
        self.ranges.get(first).is_some_and(|range| range.0 < right)
    }
}

fn bytes_of(ranges: &[(i64, i64)]) -> i64 {
    ranges.iter().map(|range| range.1 - range.0).sum()
}

#[cfg(test)]
mod tests {
    use super::{LIMIT, Ranges, bytes_of};

    #[test]
    fn touching_ranges_join() {
        let mut set = Ranges::default();
        set.insert(10, 20);
        set.insert(30, 40);
        set.insert(20, 30);
        assert_eq!(set.ranges, [(10, 40)]);
    }

    #[test]
    fn removing_the_middle_leaves_both_ends() {
        let mut set = Ranges::default();
        set.insert(10, 40);
        assert_eq!(set.remove(20, 30), 10);
        assert_eq!(set.ranges, [(10, 20), (30, 40)]);
        assert_eq!(set.remove(0, 100), 20);
        assert!(set.is_empty());
    }

    #[test]
    fn forgetting_counts_only_what_was_held() {
        let mut set = Ranges::default();
        set.insert(10, 20);
        set.insert(30, 40);
        assert_eq!(set.forget_below(35), 15);
        assert_eq!(set.bytes(), 5);
        assert!(set.touches(39, 50) && !set.touches(40, 50));
    }

    #[test]
    fn no_change_grows_the_set_past_its_limit_and_the_lowest_ranges_go_first() {
        let (mut inserted, mut split) = (Ranges::default(), Ranges::default());
        split.insert(0, 1 << 28);
        for step in 0..4 * LIMIT as i64 {
            inserted.insert(10 * step, 10 * step + 5);
            // From the top down, like data that fills one hole backwards.
            let at = (1 << 28) - 10 * step;
            assert_eq!(split.remove(at - 5, at), if step <= LIMIT as i64 { 5 } else { 0 }, "step {step}");
            for set in [&inserted, &split] {
                assert!(set.ranges.len() <= LIMIT && set.ranges.is_sorted());
                assert_eq!(set.bytes(), bytes_of(&set.ranges));
            }
        }
        assert_eq!(inserted.ranges.last(), Some(&(40 * LIMIT as i64 - 10, 40 * LIMIT as i64 - 5)));
        assert_eq!(split.ranges.len(), LIMIT);
    }

    #[test]
    fn a_set_counts_its_bytes_through_every_kind_of_change() {
        let (mut set, mut seed) = (Ranges::default(), 1_u64);
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (left, length) = ((seed >> 40) as i64 % 5_000, (seed >> 20) as i64 % 30);
            match seed >> 61 {
                0 => _ = set.forget_below(left / 8),
                1..4 => _ = set.remove(left, left + length),
                _ => set.insert(left, left + length),
            }
            assert_eq!(set.bytes(), bytes_of(&set.ranges));
            assert!(set.ranges.len() <= LIMIT && set.ranges.is_sorted_by(|low, high| low.1 < high.0));
        }
    }
}
