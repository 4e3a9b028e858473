//! Makes room for further findings: those with the least time are added up by host, and then in one group.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::{Clients, Finding, Findings, Key};

impl Findings {
    /// Leaves room for another finding of a single service.
    pub(super) fn makes_room(&mut self) {
        if self.services < self.room.findings {
            return;
        }
        self.services -= self.gather(|key| key.3.is_some(), |(kind, side, address, _)| (kind, side, address, None));
        let is_host = |key: &Key| key.2.is_some() && key.3.is_none();
        if self.found.keys().filter(|key| is_host(key)).count() >= self.room.findings {
            self.gather(is_host, |(kind, side, _, _)| (kind, side, None, None));
        }
    }

    /// Adds the half with the least time to the findings of larger groups; returns their number.
    fn gather(&mut self, of: impl Fn(&Key) -> bool, larger: impl Fn(Key) -> Key) -> usize {
        let mut places: Vec<_> =
            self.found.iter().filter(|(key, _)| of(key)).map(|(key, one)| (one.time, *key)).collect();
        places.sort_unstable();
        places.truncate(places.len().div_ceil(2));
        for &(_, key) in &places {
            if let Some(finding) = self.found.remove(&key) {
                join(&mut self.found, larger(key), finding);
            }
        }
        places.len()
    }
}

fn join(found: &mut HashMap<Key, Finding>, key: Key, finding: Finding) {
    match found.entry(key) {
        Entry::Occupied(mut known) => known.get_mut().join(finding),
        Entry::Vacant(vacant) => _ = vacant.insert(finding),
    }
}

impl Finding {
    /// Takes in another finding of the same kind.
    fn join(&mut self, other: Finding) {
        self.flows += other.flows;
        self.waits += other.waits;
        self.time += other.time;
        self.recoverable += other.recoverable;
        self.spread.join(&other.spread);
        self.sure += other.sure;
        self.weight += other.weight;
        for (detail, length) in &other.details {
            super::tally(&mut self.details, detail, *length);
        }
        self.clients = if self.clients == other.clients { self.clients } else { Clients::Several };
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.attempts += other.attempts;
        self.most_attempts = self.most_attempts.max(other.most_attempts);
        self.exchanges += other.exchanges;
        self.bytes += other.bytes;
        self.retransmitted += other.retransmitted;
        self.segments += other.segments;
        self.reordered += other.reordered;
        self.needless += other.needless;
        self.lasted += other.lasted;
        let place = |one: &Finding| one.example.as_ref().map(|example| example.place());
        if place(self) < place(&other) {
            self.example = other.example;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, FindingKind, Findings};
    use crate::flow::End;
    use crate::results::room::Room;
    use crate::wire::Address;

    /// Findings of ports of hosts, each with its number as time.
    fn found(hosts: u16, ports: u16) -> Findings {
        let mut findings = Findings::within(Room { findings: 8, ..Room::default() });
        for host in 0..hosts {
            for port in 0..ports {
                findings.makes_room();
                findings.services += 1;
                let finding = Finding { flows: 1, time: i128::from(host * ports + port), ..Finding::default() };
                let key = (FindingKind::Idle, End::Client, Some(Address(host.into())), Some(port));
                findings.found.insert(key, finding);
            }
        }
        findings
    }

    #[test]
    fn findings_stay_few_and_lose_no_time() {
        for (hosts, ports) in [(1, 9), (1, 1_000), (1_000, 1), (40, 40)] {
            let rows = found(hosts, ports).rows();
            let all = i128::from(hosts) * i128::from(ports);
            assert!(rows.len() <= 2 * 8 + 1, "{} findings", rows.len());
            assert_eq!(rows.iter().map(|row| row.time_ns).sum::<i128>(), all * (all - 1) / 2);
            assert_eq!(rows.iter().map(|row| i128::from(row.flows)).sum::<i128>(), all);
            assert!(rows.iter().any(|row| row.time_ns == all - 1 && row.port.is_some()), "the largest stays");
        }
    }

    #[test]
    fn ports_without_room_are_one_finding_of_their_host() {
        let rows = found(1, 9).rows();
        assert_eq!(rows.iter().filter(|row| row.port.is_some()).count(), 5);
        assert!(rows.iter().any(|row| row.port.is_none() && row.address.is_some() && row.time_ns == 1 + 2 + 3));
    }
}
