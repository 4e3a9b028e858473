//! Sums over all flows of a run, whether a report holds them or not.

use super::findings::Findings;
use super::ledger::{OWNERS, Owner};
use super::rows::FlowRow;
use super::services::Services;

/// What flows come to together.
#[derive(Clone, Default)]
pub struct Sums {
    /// How many they are.
    pub flows: u64,
    /// Their services.
    pub services: Services,
    /// What they lost time to.
    pub findings: Findings,
    /// Payload of both directions.
    pub bytes: u64,
    /// Wider than a flow's: a million flows may last a century each.
    time: [i128; OWNERS],
}

impl Sums {
    /// Takes in a flow.
    pub fn add(&mut self, row: &FlowRow) {
        self.flows += 1;
        self.services.add(row);
        self.findings.add(row);
        self.bytes += row.directions.client.bytes + row.directions.server.bytes;
        for owner in Owner::all() {
            self.time[owner.index()] += i128::from(row.time_ns.of(owner).0);
        }
    }

    /// Nanoseconds of each owner, all flows together.
    pub fn time_ns(&self) -> impl Iterator<Item = (&'static str, i128)> {
        Owner::all().map(|owner| (owner.name(), self.time[owner.index()]))
    }
}
