//! Sums over all flows of a run, whether or not a report lists them.

use super::super::findings::Findings;
use super::super::ledger::{OWNERS, Owner};
use super::super::room::Room;
use super::super::rows::FlowRow;
use super::super::services::Services;

/// Sums of the flows.
#[derive(Clone, Default)]
pub struct Sums {
    /// Number of flows.
    pub flows: u64,
    /// Services of the flows.
    pub services: Services,
    /// Findings of the flows.
    pub findings: Findings,
    /// Payload bytes of both directions.
    pub bytes: u64,
    /// Time of each owner; wider than a flow's, because a million flows may last a century each.
    time: [i128; OWNERS],
}

impl Sums {
    /// Sums that are kept within that room.
    pub fn within(room: Room) -> Sums {
        Sums { services: Services::within(room), findings: Findings::within(room), ..Sums::default() }
    }

    /// Takes in a flow.
    pub fn add(&mut self, row: &FlowRow) {
        self.flows += u64::from(!row.continues);
        self.services.add(row);
        self.findings.add(row);
        self.bytes += row.directions.client.bytes + row.directions.server.bytes;
        for owner in Owner::all() {
            self.time[owner.index()] += i128::from(row.time_ns.of(owner).0);
        }
    }

    /// Time of each owner over all flows, nanoseconds.
    pub fn time_ns(&self) -> impl Iterator<Item = (&'static str, i128)> {
        Owner::all().map(|owner| (owner.name(), self.time[owner.index()]))
    }
}
