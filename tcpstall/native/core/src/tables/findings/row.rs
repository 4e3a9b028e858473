//! A finding as the report shows it.

use std::cmp::Reverse;

use serde::{Serialize, Serializer};

use super::share::{Share, direction};
use super::{Clients, Finding, Key, Kind};
use crate::tables::rows::{FlowRow, Side, StallRow, endpoint};
use crate::time::Nanos;
use crate::wire::{Address, Endpoint};

/// The same cause at the same service: how often, for how long, and the flow that shows it best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingRow {
    /// What it is.
    pub kind: Kind,
    /// The end whose data waited; of `reset` the end that sent it.
    pub side: Side,
    /// Address of the server; `null` of the rest of all servers beyond a limit.
    #[serde(serialize_with = "shown")]
    pub address: Option<Address>,
    /// Its port; `null` of all ports of a host beyond a limit.
    pub port: Option<u16>,
    /// Address of the client, where there is only one.
    #[serde(serialize_with = "shown")]
    pub client: Option<Address>,
    /// Flows with a share in it.
    pub flows: u64,
    /// Their waits.
    pub waits: u64,
    /// What it owns of the flows' ledgers, added up.
    pub time_ns: i128,
    /// How much of that a change could give back at most; `null` where only a change would show.
    pub recoverable_ns: Option<i128>,
    /// Times of the distribution: of flows, or of a slow server's answers.
    pub counted: u64,
    /// The middle of it.
    pub median_ns: Nanos,
    /// What 19 of 20 stay within.
    pub p95_ns: Nanos,
    /// The longest.
    pub worst_ns: Nanos,
    /// What a tenth, a second tenth and so on stay within: ten times, the longest last.
    pub tenths_ns: Vec<Nanos>,
    /// Mean confidence of the labels, weighted with their waits' lengths; `null` without waits.
    pub confidence: Option<f64>,
    /// Details of the cause with the length of their waits, most first.
    pub details: Vec<(&'static str, i128)>,
    /// Its first and last moment.
    pub first_ns: Nanos,
    /// See there.
    pub last_ns: Nanos,
    /// Attempts that nobody answered, of all flows.
    pub attempts: u64,
    /// Most of them in one flow.
    pub most_attempts: u32,
    /// Exchanges of all its flows.
    pub exchanges: u64,
    /// What `side` sent in these flows, payload.
    pub bytes: u64,
    /// The same in segments.
    pub segments: u64,
    /// How much of it was sent again.
    pub retransmitted_bytes: u64,
    /// Retransmissions that were shown needless.
    pub needless_retransmissions: u64,
    /// Segments that came late and had not been sent again.
    pub reordered_segments: u64,
    /// The flows' time from end to end, added up.
    pub lasted_ns: i128,
    /// The flow that shows it best.
    pub example: Option<Box<Example>>,
}

/// The flow that shows a finding best, and its longest wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Example {
    flow: u64,
    #[serde(serialize_with = "endpoint")]
    client: Endpoint,
    #[serde(serialize_with = "endpoint")]
    server: Endpoint,
    start_ns: Nanos,
    end_ns: Nanos,
    time_ns: Nanos,
    base_rtt_ns: Option<Nanos>,
    bytes: u64,
    segments: u64,
    mss_bytes: Option<u32>,
    initial_window_bytes: Option<u64>,
    max_in_flight_bytes: u64,
    retransmitted_bytes: u64,
    bottleneck_bytes_per_s: Option<u64>,
    queue_delay_ns: Option<Nanos>,
    trust: &'static str,
    stall: Option<StallRow>,
    #[serde(skip)]
    pub(super) shows: Nanos,
}

impl Example {
    pub(super) fn new(row: &FlowRow, share: &Share<'_>, shows: Nanos) -> Example {
        let end = direction(row, share.side);
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
            max_in_flight_bytes: end.max_in_flight_bytes,
            retransmitted_bytes: end.retransmitted_bytes,
            bottleneck_bytes_per_s: end.path.bottleneck_bytes_per_s,
            queue_delay_ns: end.path.queue_delay_ns,
            trust: row.trust.level.name(),
            stall: share.longest().cloned(),
            shows,
        }
    }

    /// How well it shows the finding; of those that show it as well, the first.
    pub(super) fn place(&self) -> (Nanos, Reverse<u64>) {
        (self.shows, Reverse(self.flow))
    }
}

/// What findings are ordered by.
type Place = (Reverse<i128>, Reverse<i128>, Reverse<u64>, Kind, Side, Option<Address>, Option<u16>);

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
            lasted_ns: self.lasted,
            example: self.example,
        }
    }
}

fn shown<S: Serializer>(address: &Option<Address>, serializer: S) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => serializer.collect_str(address),
        None => serializer.serialize_none(),
    }
}
