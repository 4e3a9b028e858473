//! Row of a finding in the report.

use std::cmp::Reverse;

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::share::Share;
use super::{Clients, Finding, FindingKind, Key};
use crate::flow::End;
use crate::json::{self, Print};
use crate::results::rows::losses::LossesRow;
use crate::results::rows::{FlowRow, StallRow};
use crate::time::Nanos;
use crate::wire::{Address, Endpoint};

/// The service that a slow one waited for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitedFor {
    /// Address of the service.
    #[serde(serialize_with = "told")]
    pub address: Address,
    /// Port of the service.
    pub port: u16,
    /// Share of the slow answers' time in which it had a request, 0 to 1.
    pub share: f64,
}

/// The transfer that filled a queue on the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Behind {
    /// Address of its server.
    #[serde(serialize_with = "told")]
    pub address: Address,
    /// Port of its server.
    pub port: u16,
    /// Mean queueing delay that it met.
    pub queue_ns: Nanos,
    /// The path's own round trip, as it knew it.
    pub base_rtt_ns: Nanos,
}

/// The same cause at the same service: its flows, its time, and the flow that shows it best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingRow {
    /// Kind of the finding.
    pub kind: FindingKind,
    /// The end whose data waited; for `reset` the end that sent it.
    pub side: End,
    /// Address of the server; `null` for all servers beyond a limit.
    #[serde(serialize_with = "shown")]
    pub address: Option<Address>,
    /// Port of the server; `null` for all ports of a host beyond a limit.
    pub port: Option<u16>,
    /// Address of the client, where there is only one client.
    #[serde(serialize_with = "shown")]
    pub client: Option<Address>,
    /// Flows that contribute to the finding.
    pub flows: u64,
    /// Waits of these flows.
    pub waits: u64,
    /// Time of the flows that the finding owns, by their ledgers.
    pub time_ns: i128,
    /// Part of that time that a change could give back at most; `null` where only the change itself would show it.
    pub recoverable_ns: Option<i128>,
    /// Number of times in the distribution: of flows, or of a slow server's answers.
    pub counted: u64,
    /// Median of the distribution.
    pub median_ns: Nanos,
    /// 95th percentile of the distribution.
    pub p95_ns: Nanos,
    /// Longest time of the distribution.
    pub worst_ns: Nanos,
    /// Number of the longest times of the distribution that make nine tenths of its sum.
    pub makes_most: u64,
    /// The 10th, 20th and further percentiles: ten times, the longest last.
    pub tenths_ns: Vec<Nanos>,
    /// Mean confidence of the labels, weighted by the lengths of their waits; `null` without waits.
    pub confidence: Option<f64>,
    /// Details of the cause with their parts of the time, longest first.
    pub details: Vec<(&'static str, i128)>,
    /// Start of the first wait.
    pub first_ns: Nanos,
    /// End of the last wait.
    pub last_ns: Nanos,
    /// Attempts without an answer, of all flows.
    pub attempts: u64,
    /// Most unanswered attempts in one flow.
    pub most_attempts: u32,
    /// Exchanges of all these flows.
    pub exchanges: u64,
    /// Payload that `side` sent in these flows, bytes.
    pub bytes: u64,
    /// Segments of that payload.
    pub segments: u64,
    /// Retransmitted bytes of that payload.
    pub retransmitted_bytes: u64,
    /// Retransmissions shown needless.
    pub needless_retransmissions: u64,
    /// Segments that came late and were not retransmitted.
    pub reordered_segments: u64,
    /// The path at the losses of that payload: counts of all flows, sizes of the flow that shows it best.
    pub losses: Option<LossesRow>,
    /// Sum of the flows' durations.
    pub lasted_ns: i128,
    /// Part of the waits in which TLS's handshake was not yet complete.
    pub tls_handshake_ns: i128,
    /// Flows of a reset that came in TLS's handshake.
    pub reset_in_tls: u64,
    /// Flows of a later reset, before anything of the answer that was due.
    pub reset_unanswered: u64,
    /// The service that this one waited for, of a slow one.
    pub waited_for: Option<WaitedFor>,
    /// The transfer that filled the queue which the round trips of that flow went through.
    pub behind: Option<Behind>,
    /// The flow that shows it best.
    pub example: Option<Box<Example>>,
}

/// The flow that shows a finding best, and the longest wait in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Example {
    pub(super) flow: u64,
    #[serde(serialize_with = "printed")]
    pub(super) client: Endpoint,
    #[serde(serialize_with = "printed")]
    pub(super) server: Endpoint,
    pub(super) start_ns: Nanos,
    pub(super) end_ns: Nanos,
    time_ns: Nanos,
    pub(super) base_rtt_ns: Option<Nanos>,
    bytes: u64,
    segments: u64,
    mss_bytes: Option<u32>,
    initial_window_bytes: Option<u64>,
    peer_window_scale: Option<u8>,
    max_in_flight_bytes: u64,
    retransmitted_bytes: u64,
    bottleneck_bytes_per_s: Option<u64>,
    queue_delay_ns: Option<Nanos>,
    /// Bytes of an answer's content that came, and its length, where the server closed in between.
    cut_at_bytes: Option<u64>,
    cut_of_bytes: Option<u64>,
    trust: &'static str,
    #[serde(serialize_with = "printed")]
    stall: Option<StallRow>,
    #[serde(skip)]
    losses: Option<LossesRow>,
    #[serde(skip)]
    pub(super) shows: Nanos,
    /// The capture was taken at the server: the server's own time shows there.
    #[serde(skip)]
    pub(super) at_server: bool,
}

impl Example {
    pub(super) fn new(row: &FlowRow, share: &Share<'_>, shows: Nanos) -> Example {
        let end = row.directions.of(share.side);
        Example {
            flow: row.id,
            client: row.client,
            server: row.server,
            start_ns: row.start_ns,
            end_ns: row.end_ns,
            time_ns: share.time,
            base_rtt_ns: row.base_rtt_ns,
            bytes: end.bytes,
            segments: end.segments,
            mss_bytes: end.mss_bytes,
            initial_window_bytes: end.initial_window_bytes,
            peer_window_scale: row.directions.of(share.side.peer()).window_scale,
            max_in_flight_bytes: end.max_in_flight_bytes,
            retransmitted_bytes: end.retransmitted_bytes,
            bottleneck_bytes_per_s: end.path.bottleneck_bytes_per_s,
            queue_delay_ns: end.path.queue_delay_ns,
            cut_at_bytes: row.connection.cut_at_bytes,
            cut_of_bytes: row.connection.cut_of_bytes,
            trust: row.trust.level.name(),
            stall: share.longest().cloned(),
            losses: end.losses,
            shows,
            at_server: row.vantage.is_at(End::Server),
        }
    }

    /// The path at its losses, with the counts of all flows.
    fn losses(&self, all: LossesRow) -> Option<LossesRow> {
        let LossesRow { queue_ns, limit_bytes, rate_bytes_per_s, .. } = self.losses.unwrap_or_default();
        (all.counted > 0).then_some(LossesRow { queue_ns, limit_bytes, rate_bytes_per_s, ..all })
    }

    /// Rank of the flow as an example; of equal flows the first wins.
    pub(super) fn place(&self) -> (Nanos, Reverse<u64>) {
        (self.shows, Reverse(self.flow))
    }
}

/// Sort key of findings.
type Place = (Reverse<i128>, Reverse<i128>, Reverse<u64>, FindingKind, End, Option<Address>, Option<u16>);

pub(super) fn place(row: &FindingRow) -> Place {
    let recoverable = Reverse(row.recoverable_ns.unwrap_or(0));
    (recoverable, Reverse(row.time_ns), Reverse(row.flows), row.kind, row.side, row.address, row.port)
}

impl Finding {
    pub(super) fn into_row(mut self, key: Key) -> FindingRow {
        let (kind, side, address, port) = key;
        self.details.sort_by_key(|(detail, time)| (Reverse(*time), *detail));
        FindingRow {
            kind,
            side,
            address,
            port,
            client: match self.clients {
                Clients::One(address) => Some(address),
                Clients::None | Clients::Several => None,
            },
            flows: self.flows,
            waits: self.waits,
            time_ns: self.time,
            recoverable_ns: kind.is_recoverable().then_some(self.recoverable),
            counted: self.spread.count(),
            median_ns: self.spread.within(0.5).unwrap_or_default(),
            p95_ns: self.spread.within(0.95).unwrap_or_default(),
            worst_ns: self.spread.worst(),
            makes_most: self.spread.makes_most(),
            tenths_ns: (1..=10).filter_map(|tenth| self.spread.within(f64::from(tenth) / 10.0)).collect(),
            confidence: (self.weight > 0.0).then(|| self.sure / self.weight),
            details: self.details,
            first_ns: self.first,
            last_ns: self.last,
            attempts: self.attempts,
            most_attempts: self.most_attempts,
            exchanges: self.exchanges,
            bytes: self.bytes,
            segments: self.segments,
            retransmitted_bytes: self.retransmitted,
            needless_retransmissions: self.needless,
            reordered_segments: self.reordered,
            losses: self.example.as_ref().and_then(|example| example.losses(self.losses)),
            lasted_ns: self.lasted,
            tls_handshake_ns: self.tls_handshake,
            reset_in_tls: self.reset_in_tls,
            reset_unanswered: self.reset_unanswered,
            waited_for: None,
            behind: None,
            example: self.example,
        }
    }
}

/// Prints an address as a reader knows it.
pub(super) fn told<S: Serializer>(address: &Address, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(address)
}

fn shown<S: Serializer>(address: &Option<Address>, serializer: S) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => serializer.collect_str(address),
        None => serializer.serialize_none(),
    }
}

/// Hands JSON text on.
fn printed<S: Serializer>(value: &impl Print, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(json::text_of(value)).map_err(S::Error::custom)?.serialize(serializer)
}
