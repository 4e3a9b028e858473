//! Totals of a capture that goes on: what its flows come to so far, those that lost most, and the time of each service.
//!
//! They take the same memory for one flow as for a million, so that a capture may go on for days.

pub mod sums;
pub mod top_flows;

use std::cmp::Reverse;

use hashbrown::HashMap;

use self::sums::Sums;
use self::top_flows::TopFlows;
use super::capture_trust::CaptureTrust;
use super::columns::{Columns, integers, signed, texts};
use super::ledger::{OWNERS, Owner};
use super::room::Room;
use super::rows::FlowRow;
use super::sort::SortOrder;
use crate::time::Nanos;
use crate::wire::Endpoint;

/// Services that are told apart, some hundred bytes each; a stranger can name as many as there are addresses and ports.
const SERVICES_KEPT: usize = 1 << 14;

/// Stalls, and exchanges, that are kept of a held flow, a kilobyte each: the longest.
const LISTED: usize = 200;

/// Flows of one service.
#[derive(Clone)]
struct Service {
    flows: u64,
    open: u64,
    bytes: u64,
    first: Nanos,
    last: Nanos,
    time: [i128; OWNERS],
}

/// Sums over all flows so far.
#[derive(Clone)]
pub struct Totals {
    /// Sums of all flows.
    pub sums: Sums,
    /// Parts of the flows that the capture lacks.
    pub trust: CaptureTrust,
    shown: TopFlows,
    services: HashMap<Endpoint, Service>,
    open_flows: u64,
    further_flows: u64,
    parts: u64,
}

impl Totals {
    /// Nothing yet; `top` flows will be held.
    pub fn new(top: usize) -> Totals {
        Totals {
            sums: Sums::within(Room::LASTING),
            trust: CaptureTrust::default(),
            shown: TopFlows::new(top, &[SortOrder::Lost]),
            services: HashMap::new(),
            open_flows: 0,
            further_flows: 0,
            parts: 0,
        }
    }

    /// Takes in a flow, or a further part of one.
    pub fn add(&mut self, row: &FlowRow) {
        let mut row = FlowRow { capture: 0, ..row.clone() };
        self.sums.add(&row);
        self.trust.add(&row);
        self.open_flows += u64::from(row.at_end);
        self.parts += u64::from(row.continues);
        if self.services.len() < SERVICES_KEPT || self.services.contains_key(&row.server) {
            self.services.entry(row.server).or_insert_with(|| Service::new(&row)).add(&row);
        } else {
            self.further_flows += u64::from(!row.continues);
        }
        if row.segments > 0 {
            keep_longest(&mut row.stalls, |stall| (stall.duration_ns, stall.number));
            if let Some(exchanges) = &mut row.exchanges {
                keep_longest(exchanges, |exchange| (exchange.latency_ns, exchange.start_ns));
            }
            self.shown.add(row);
        }
    }

    /// Flows that are still followed count as over: what they do from now on is told by further parts.
    pub fn end_flows(&mut self) {
        self.open_flows = 0;
        self.services.values_mut().for_each(|service| service.open = 0);
    }

    /// Services without a flow since then leave; the sums keep their flows.
    pub fn forget_services(&mut self, before: Nanos) {
        self.services.retain(|_, service| service.last >= before);
    }

    /// Flows that are still followed.
    pub fn open_flows(&self) -> u64 {
        self.open_flows
    }

    /// Flows of services that were too many to be told apart.
    pub fn further_flows(&self) -> u64 {
        self.further_flows
    }

    /// Parts of connections whose earlier parts have rows of their own.
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// The flows that lost most, in the order of their ids.
    pub fn flows(&self) -> Vec<FlowRow> {
        self.shown.clone().into_rows()
    }

    /// A service a row.
    pub fn services(&self) -> Columns {
        let rows: Vec<_> = self.services.iter().collect();
        let mut columns = vec![
            texts("address", &rows, |row| Some(row.0.address.to_string())),
            integers("port", &rows, |row| Some(i64::from(row.0.port))),
            integers("flows", &rows, |row| signed(row.1.flows)),
            integers("open_flows", &rows, |row| signed(row.1.open)),
            integers("bytes", &rows, |row| signed(row.1.bytes)),
            integers("first_ns", &rows, |row| Some(row.1.first.0)),
            integers("last_ns", &rows, |row| Some(row.1.last.0)),
        ];
        columns.extend(Owner::all().map(|owner| {
            let name = format!("time_{}_ns", owner.name().replace('-', "_"));
            // 292 years of one owner, all flows together, are as good as more.
            integers(name, &rows, |row| Some(row.1.time[owner.index()].try_into().unwrap_or(i64::MAX)))
        }));
        columns
    }
}

/// Keeps the longest of a list, in their order; `place` is a length and a place in that order.
fn keep_longest<T, P: Ord>(list: &mut Vec<T>, place: impl Fn(&T) -> (Nanos, P)) {
    if list.len() > LISTED {
        list.sort_by_key(|one| Reverse(place(one).0));
        list.truncate(LISTED);
        list.shrink_to_fit();
        list.sort_by_key(|one| place(one).1);
    }
}

impl Service {
    fn new(row: &FlowRow) -> Service {
        Service { flows: 0, open: 0, bytes: 0, first: row.start_ns, last: row.end_ns, time: [0; OWNERS] }
    }

    fn add(&mut self, row: &FlowRow) {
        self.flows += u64::from(!row.continues);
        self.open += u64::from(row.at_end);
        self.bytes = self.bytes.saturating_add(row.directions.client.bytes + row.directions.server.bytes);
        self.first = self.first.min(row.start_ns);
        self.last = self.last.max(row.end_ns);
        for owner in Owner::all() {
            self.time[owner.index()] += i128::from(row.time_ns.of(owner).0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LISTED, SERVICES_KEPT, Totals, keep_longest};
    use crate::causes::Limits;
    use crate::pause::Watch;
    use crate::results::columns::values::Values;
    use crate::results::{FlowRow, Wanted, flow_row};
    use crate::time::Nanos;
    use crate::wire::{Address, Flags, Segment};

    /// A flow of that id to that server, which ended then.
    fn flow(id: u64, server: usize, end: i64) -> FlowRow {
        let segment = Segment { flags: Flags::SYN, ..Segment::default() };
        let mut watch = Watch::new(&segment);
        watch.sees(&segment);
        let wanted = Wanted { bursts: false, exchanges: false, least_stall: Nanos::ZERO };
        let mut row = flow_row(&Box::new(watch).finish(), id, 7, &Limits::default(), wanted);
        row.server.address = Address(server as u128);
        row.end_ns = Nanos(end);
        row
    }

    fn services(totals: &Totals) -> usize {
        totals.services().first().map_or(0, |column| column.values.len())
    }

    fn integers(value: i64) -> Values {
        Values::Integers([Some(value)].into_iter().collect())
    }

    #[test]
    fn flows_are_those_of_one_capture_and_further_parts_of_them_are_no_flows() {
        let mut totals = Totals::new(1);
        totals.add(&flow(2, 1, 9));
        totals.add(&flow(1, 1, 9));
        totals.add(&FlowRow { continues: true, ..flow(3, 1, 9) });
        assert_eq!((totals.sums.flows, totals.trust.flows, services(&totals)), (2, 2, 1));
        assert_eq!((totals.parts(), &totals.services()[2].values), (1, &integers(2)));
        let [row] = &totals.flows()[..] else { panic!("one flow is held") };
        assert_eq!((row.id, row.capture), (1, 0));
    }

    #[test]
    fn open_flows_count_until_they_are_ended() {
        let mut totals = Totals::new(1);
        totals.add(&FlowRow { at_end: true, ..flow(0, 1, 10) });
        totals.add(&flow(1, 1, 10));
        assert_eq!((totals.open_flows(), totals.sums.flows), (1, 2));
        totals.end_flows();
        assert_eq!((totals.open_flows(), totals.sums.flows), (0, 2));
        assert_eq!(totals.services()[3].values, integers(0));
    }

    #[test]
    fn services_leave_and_their_flows_stay_in_the_sums() {
        let mut totals = Totals::new(1);
        totals.add(&flow(0, 1, 10));
        totals.add(&flow(1, 2, 20));
        totals.forget_services(Nanos(11));
        assert_eq!((services(&totals), totals.sums.flows), (1, 2));
        assert_eq!(totals.services()[6].values, integers(20));
    }

    #[test]
    fn the_longest_of_a_list_stay_in_their_order() {
        let mut list: Vec<i64> = (0..3 * LISTED as i64).map(|number| number % 7).collect();
        list[5] = 100;
        keep_longest(&mut list, |length| (Nanos(*length), 0));
        assert_eq!((list.len(), list[0], list.iter().min()), (LISTED, 100, Some(&4)));
        let mut few = vec![(3, 1), (9, 2), (3, 3)];
        keep_longest(&mut few, |(length, number)| (Nanos(*length), *number));
        assert_eq!(few, [(3, 1), (9, 2), (3, 3)]);
    }

    #[test]
    fn services_beyond_the_limit_only_count() {
        let mut totals = Totals::new(1);
        let row = flow(0, 0, 1);
        for server in 0..SERVICES_KEPT + 3 {
            let mut other = row.clone();
            other.server.address = Address(server as u128);
            totals.add(&other);
        }
        assert_eq!((services(&totals), totals.further_flows()), (SERVICES_KEPT, 3));
    }
}
