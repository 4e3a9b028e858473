//! Selects the packets and flows of a run.

use crate::time::Nanos;
use crate::wire::{Address, Endpoint, Segment};

/// Selection of packets and flows; empty lists and `None` select everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Ids of flows.
    pub flows: Vec<u64>,
    /// Ranges of addresses of either end: first and last.
    pub hosts: Vec<(Address, Address)>,
    /// Ports of either end.
    pub ports: Vec<u16>,
    /// Time of the first packet to use.
    pub since: Option<Nanos>,
    /// Time of the first packet not to use.
    pub until: Option<Nanos>,
}

impl Filter {
    #[inline]
    pub(super) fn takes(&self, segment: &Segment) -> bool {
        self.since.is_none_or(|since| segment.time >= since) && self.until.is_none_or(|until| segment.time < until)
    }

    /// True if no packet is filtered out.
    pub(super) fn takes_all(&self) -> bool {
        self.since.is_none() && self.until.is_none()
    }

    fn has_host(&self, address: Address) -> bool {
        self.hosts.iter().any(|(first, last)| (*first..=*last).contains(&address))
    }

    /// True if flows between these ends are selected.
    pub(super) fn wants_ends(&self, ends: [Endpoint; 2]) -> bool {
        let host = self.hosts.is_empty() || ends.iter().any(|end| self.has_host(end.address));
        let port = self.ports.is_empty() || ends.iter().any(|end| self.ports.contains(&end.port));
        host && port
    }

    /// True if the flow with that id is selected.
    pub(super) fn wants_id(&self, id: u64) -> bool {
        self.flows.is_empty() || self.flows.contains(&id)
    }
}
