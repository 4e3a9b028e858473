//! Keeps the flows that come first in one of several orders. All other flows are dropped as they end, so memory does
//! not grow with the flows of a capture.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::rows::FlowRow;
use super::super::sort::SortOrder;

/// The first flows of one order, by rank and id.
#[derive(Clone)]
struct First {
    order: SortOrder,
    flows: BTreeMap<((i64, i64), u64), Arc<FlowRow>>,
}

/// The first `most` flows of each order.
#[derive(Clone)]
pub struct TopFlows {
    most: usize,
    firsts: Vec<First>,
}

impl TopFlows {
    /// Keeps `most` flows of each of these orders.
    pub fn new(most: usize, orders: &[SortOrder]) -> TopFlows {
        let first = |order: &SortOrder| First { order: *order, flows: BTreeMap::new() };
        TopFlows { most, firsts: orders.iter().map(first).collect() }
    }

    /// Takes in a flow and drops those that it displaces.
    pub fn add(&mut self, row: FlowRow) {
        let row = Arc::new(row);
        for first in &mut self.firsts {
            first.take(&row, self.most);
        }
    }

    /// The kept flows, in the order of their ids.
    pub fn into_rows(self) -> Vec<FlowRow> {
        let mut kept: BTreeMap<u64, Arc<FlowRow>> = BTreeMap::new();
        for first in self.firsts {
            kept.extend(first.flows.into_values().map(|row| (row.id, row)));
        }
        kept.into_values().map(Arc::unwrap_or_clone).collect()
    }
}

impl First {
    fn take(&mut self, row: &Arc<FlowRow>, most: usize) {
        let last = self.flows.last_key_value().filter(|_| self.flows.len() >= most).map(|(last, _)| *last);
        let enters = |place| most > 0 && last.is_none_or(|last| (place, row.id) < last);
        if enters(self.order.at_best(row)) {
            let place = self.order.place(row);
            if enters(place) {
                self.flows.insert((place, row.id), Arc::clone(row));
            }
        }
        if self.flows.len() > most {
            self.flows.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::Limits;
    use crate::pause::Watch;
    use crate::results::{Wanted, flow_row};
    use crate::time::Nanos;
    use crate::wire::{Flags, Segment};

    /// A flow with that id, start and length.
    fn flow(id: u64, start: i64, length: i64) -> FlowRow {
        let segment = Segment { flags: Flags::SYN, ..Segment::default() };
        let mut watch = Watch::new(&segment);
        watch.sees(&segment);
        let wanted = Wanted { bursts: false, exchanges: false, least_stall: Nanos::ZERO };
        let mut row = flow_row(&Box::new(watch).finish(), id, 0, &Limits::default(), wanted);
        (row.start_ns, row.end_ns) = (Nanos(start), Nanos(start + length));
        row
    }

    fn kept(most: usize, orders: &[SortOrder], flows: &[(u64, i64, i64)]) -> Vec<u64> {
        let mut shown = TopFlows::new(most, orders);
        flows.iter().for_each(|(id, start, length)| shown.add(flow(*id, *start, *length)));
        shown.into_rows().iter().map(|row| row.id).collect()
    }

    const FLOWS: [(u64, i64, i64); 6] = [(5, 9, 30), (3, 7, 30), (0, 1, 10), (4, 8, 20), (1, 2, 10), (2, 3, 30)];

    #[test]
    fn the_first_of_each_order_stay_and_equal_ones_by_their_ids() {
        assert_eq!(kept(2, &[SortOrder::Duration], &FLOWS), [2, 3]);
        assert_eq!(kept(2, &[SortOrder::Start], &FLOWS), [0, 1]);
        assert_eq!(kept(2, &[SortOrder::Start, SortOrder::Duration], &FLOWS), [0, 1, 2, 3]);
        assert_eq!(kept(9, &[SortOrder::Start, SortOrder::Duration], &FLOWS), [0, 1, 2, 3, 4, 5]);
        assert!(kept(0, &[SortOrder::Start], &FLOWS).is_empty());
    }

    #[test]
    fn they_are_those_that_sorting_all_puts_first() {
        for order in [SortOrder::Lost, SortOrder::Duration, SortOrder::Bytes, SortOrder::Start, SortOrder::Stalls] {
            let mut rows: Vec<FlowRow> = FLOWS.iter().map(|(id, start, length)| flow(*id, *start, *length)).collect();
            rows.sort_by_key(|row| row.id);
            order.sort(&mut rows);
            let mut first: Vec<u64> = rows[..4].iter().map(|row| row.id).collect();
            first.sort_unstable();
            assert_eq!(kept(4, &[order], &FLOWS), first);
        }
    }
}
