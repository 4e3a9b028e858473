//! Tells which transfer filled the queue that the round trips of another flow went through.
//!
//! A connection that begins while a queue stands never sees how near its peer is: its shortest round trip holds the queue.
//! The transfer that filled it had begun before, and shows both. Both flows are between the same two hosts, so what one sees
//! of the path the other would see, too; flows to other hosts may share the queue, but nothing shows it.

use super::kind::FindingKind;
use super::row::{Behind, FindingRow};
use crate::causes::Cause;
use crate::flow::End;
use crate::results::rows::FlowRow;
use crate::time::Nanos;
use crate::wire::{Address, Endpoint};

/// Transfers that are remembered: those with the longest queues, for a capture can hold many.
const KEPT: usize = 64;
/// Round trips of the path in the shortest of a flow that never saw the path without the queue: fewer may be another
/// route, or the scheduling of a host.
const TIMES: i64 = 3;
/// Shortest queue that is told.
const LEAST: Nanos = Nanos::from_millis(20);
/// Ratio of a queue's largest delay to its mean: queues swing between empty and full.
const MOST: i64 = 2;

/// Transfers that filled queues, for as many as fit.
#[derive(Clone, Default)]
pub(super) struct Queues {
    filled: Vec<Filled>,
}

#[derive(Clone, Copy)]
struct Filled {
    flow: u64,
    client: Address,
    server: Endpoint,
    start: Nanos,
    end: Nanos,
    base: Nanos,
    queue: Nanos,
}

impl Queues {
    /// Kinds of findings whose time is round trips.
    pub(super) const fn lengthen(kind: FindingKind) -> bool {
        use FindingKind as Kind;
        let by_window = matches!(kind, Kind::Limit(Cause::CwndLimited | Cause::RwndLimited | Cause::SndbufLimited));
        by_window || Queues::delays(kind) || matches!(kind, Kind::RoundTrips)
    }

    /// Kinds of single answers that came late.
    const fn delays(kind: FindingKind) -> bool {
        matches!(kind, FindingKind::ServerSlow | FindingKind::HandshakeSlow)
    }

    /// Takes in a flow.
    pub(super) fn add(&mut self, row: &FlowRow) {
        let queue = End::BOTH.iter().filter_map(|end| row.directions.of(*end).path.queue_delay_ns).max();
        let (Some(queue), Some(base)) = (queue.filter(|queue| *queue >= LEAST), row.base_rtt_ns) else { return };
        let (client, server) = (row.client.address, row.server);
        self.filled.push(Filled { flow: row.id, client, server, start: row.start_ns, end: row.end_ns, base, queue });
        if self.filled.len() > KEPT {
            self.filled.sort_by_key(|filled| std::cmp::Reverse(filled.queue));
            self.filled.truncate(KEPT);
        }
    }

    /// The transfer with the longest queue that explains the round trips of the flow which shows a finding best.
    pub(super) fn behind(&self, finding: &FindingRow) -> Option<Behind> {
        let flow = finding.example.as_deref()?;
        let rtt = flow.base_rtt_ns?;
        let slow = Queues::delays(finding.kind);
        if slow && flow.at_server {
            return None;
        }
        let explains = |filled: &&Filled| {
            let same_hosts = (filled.client, filled.server.address) == (flow.client.address, flow.server.address);
            let meanwhile = filled.end.min(flow.end_ns) - filled.start.max(flow.start_ns);
            let met = if slow { finding.median_ns } else { rtt } - filled.base;
            same_hosts
                && filled.flow != flow.flow
                && meanwhile.times(2) >= flow.end_ns - flow.start_ns
                && (slow || rtt >= filled.base.times(TIMES))
                && (LEAST..=filled.queue.times(MOST)).contains(&met)
        };
        let filled = self.filled.iter().filter(explains).max_by_key(|filled| (filled.queue, filled.server))?;
        let Endpoint { address, port } = filled.server;
        Some(Behind { address, port, queue_ns: filled.queue, base_rtt_ns: filled.base })
    }
}
