//! The ids of a stream's flows, in the order of their first segments.

use hashbrown::HashMap;

/// Gives flows their ids. Until it is over, a flow is known by the number of its first segment, because the flows of
/// other shards are not known where it opens.
#[derive(Debug, Default)]
pub(in super::super) struct Numbers {
    next: u64,
    ids: HashMap<u64, u64>,
}

impl Numbers {
    /// The first flow will have this id.
    pub(in super::super) fn new(next: u64) -> Numbers {
        Numbers { next, ids: HashMap::new() }
    }

    /// The id of the next flow.
    pub(in super::super) fn next(&self) -> u64 {
        self.next
    }

    /// Gives out this many ids.
    pub(in super::super) fn skip(&mut self, count: u64) {
        self.next += count;
    }

    /// Takes in the numbers of segments that opened flows, of all shards since those taken in before.
    pub(in super::super) fn opened(&mut self, mut opened: Vec<u64>) {
        opened.sort_unstable();
        self.ids.extend(opened.into_iter().zip(self.next..).inspect(|_| self.next += 1));
    }

    /// The id of the flow, which is over. A flow from before the stream was restored has its id already.
    pub(in super::super) fn ended(&mut self, opened: u64) -> u64 {
        self.ids.remove(&opened).unwrap_or(opened)
    }

    /// The id of a flow.
    pub(in super::super) fn of(&self, opened: u64) -> u64 {
        self.ids.get(&opened).copied().unwrap_or(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_the_order_of_the_first_segments_whatever_the_shard() {
        let mut numbers = Numbers::new(7);
        numbers.opened(vec![12, 30, 11]);
        numbers.opened(vec![40, 38]);
        assert_eq!([11, 12, 30, 38, 40].map(|opened| numbers.of(opened)), [7, 8, 9, 10, 11]);
        assert_eq!((numbers.ended(30), numbers.next()), (9, 12));
    }

    #[test]
    fn a_flow_that_had_an_id_before_keeps_it() {
        assert_eq!(Numbers::new(7).ended(3), 3);
    }
}
