//! A set of byte ranges: what SACK reported, or what the tap has not seen.

/// How many ranges one set holds; beyond it the lowest is given up, so that a hostile flow cannot grow it.
const LIMIT: usize = 256;

/// Disjoint half-open ranges in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    ranges: Vec<(i64, i64)>,
}

impl Ranges {
    /// True if it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds `[left, right)`, joining what it touches.
    pub fn insert(&mut self, left: i64, right: i64) {
        if left >= right {
            return;
        }
        let first = self.ranges.partition_point(|range| range.1 < left);
        let after = self.ranges.partition_point(|range| range.0 <= right);
        if first == after {
            self.ranges.insert(first, (left, right));
        } else {
            let joined = (left.min(self.ranges[first].0), right.max(self.ranges[after - 1].1));
            self.ranges.drain(first + 1..after);
            self.ranges[first] = joined;
        }
        if self.ranges.len() > LIMIT {
            self.ranges.remove(0);
        }
    }

    /// Takes `[left, right)` out and says how many bytes of it were in.
    pub fn remove(&mut self, left: i64, right: i64) -> i64 {
        let first = self.ranges.partition_point(|range| range.1 <= left);
        let after = self.ranges.partition_point(|range| range.0 < right);
        if first >= after {
            return 0;
        }
        let mut removed = 0;
        let (low, high) = (self.ranges[first], self.ranges[after - 1]);
        for range in &self.ranges[first..after] {
            removed += range.1.min(right) - range.0.max(left);
        }
        let rest = [(low.0, left), (right, high.1)];
        self.ranges.splice(first..after, rest.into_iter().filter(|range| range.0 < range.1));
        removed
    }

    /// What it holds below `edge`.
    pub fn below(&self, edge: i64) -> impl Iterator<Item = (i64, i64)> {
        self.ranges.iter().take_while(move |range| range.0 < edge).map(move |range| (range.0, range.1.min(edge)))
    }

    /// Forgets everything below `edge` and says how many bytes that was.
    pub fn forget_below(&mut self, edge: i64) -> i64 {
        match self.ranges.first() {
            Some(range) if range.0 < edge => self.remove(range.0, edge),
            _ => 0,
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> i64 {
        self.ranges.iter().map(|range| range.1 - range.0).sum()
    }

    /// True if any byte of `[left, right)` is in.
    pub fn touches(&self, left: i64, right: i64) -> bool {
        let first = self.ranges.partition_point(|range| range.1 <= left);
        self.ranges.get(first).is_some_and(|range| range.0 < right)
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

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
}
