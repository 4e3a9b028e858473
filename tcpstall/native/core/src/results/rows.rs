//! Rows of a report: a flow, a burst and a stall as the reader of the result sees them.

pub(super) mod ceiling;
pub(super) mod evidence;
pub mod losses;
pub(super) mod outcome;
pub mod path;
pub(super) mod receiver;
pub mod repair;
pub mod round_trip;
pub mod syn;
pub mod trust;

use std::mem;

use self::evidence::Evidence;
use self::losses::LossesRow;
use self::outcome::OutcomeRow;
use self::path::PathRow;
use self::repair::{AttemptRow, RepairRow};
use self::round_trip::{RoundTrip, SpikeRow};
use self::syn::SynRow;
use self::trust::TrustRow;
use super::ledger::Ledger;
use crate::causes::Cause;
use crate::exchange::{ConnectionRow, Exchange};
use crate::few::Few;
use crate::flow::End;
use crate::flow::first_payload::FirstPayloads;
use crate::json::{self, row};
use crate::time::Nanos;
use crate::wire::Endpoint;
use crate::wire::tunnel::Tunnel;

row! {
    /// Place where the capture was taken.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct VantageRow {
        /// `client`, `server`, `between` or `unknown`.
        pub side: &'static str,
        /// Confidence, 0 to 1.
        pub confidence: f32,
    }
}

impl VantageRow {
    /// Least confidence that the capture was taken at an end: no path lies behind the tap then.
    const SURE: f32 = 0.8;

    /// The capture was taken at that end, surely.
    pub fn is_at(&self, end: End) -> bool {
        self.confidence >= VantageRow::SURE && self.side == end.name()
    }
}

row! {
    /// The three-way handshake.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct HandshakeRow {
        /// SYN, SYN-ACK and the ACK that completes them were all captured.
        pub complete: bool,
        /// Time from the first SYN to the completing segment or the last attempt; `None` where no SYN was captured.
        pub duration_ns: Option<Nanos>,
        /// Time from the first SYN to the first SYN-ACK, at the tap.
        #[json(hidden)]
        pub answered_ns: Option<Nanos>,
    }
}

row! {
    /// One direction of data, named after the end that sends it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DirectionRow {
        /// Payload bytes, each sequence number counted once.
        pub bytes: u64,
        /// Frames with payload.
        pub segments: u64,
        /// Largest segment the sender may send, bytes of payload.
        pub mss_bytes: Option<u32>,
        /// This end's window scale shift; 0 where it sent none, `None` where its SYN was not captured.
        pub window_scale: Option<u8>,
        /// First flight, before any ACK of it, bytes.
        pub initial_window_bytes: Option<u64>,
        /// Most bytes in flight at any time.
        pub max_in_flight_bytes: u64,
        /// Retransmitted payload bytes.
        pub retransmitted_bytes: u64,
        /// Time in which this end had data to send or outstanding, as `busy` in `ss -ti`; `None` where packets are missing.
        pub busy_ns: Option<Nanos>,
        /// Part of that time in which the peer's window was full or shut, waits too short for a stall included, as
        /// `rwnd_limited` in
        /// `ss -ti`; `None` where the window scale is unknown.
        pub rwnd_limited_ns: Option<Nanos>,
        /// Path of its data.
        #[json(flat)]
        pub path: PathRow,
        /// Repairs of its losses, and its reordered segments.
        #[json(flat)]
        pub repair: RepairRow,
        /// The path at its losses; absent where it repaired none that the tap could tell.
        #[json(if_any)]
        pub losses: Option<LossesRow>,
        /// Full segments were lost whenever they were sent, and shorter ones were acknowledged.
        #[json(hidden)]
        pub loses_full_segments: bool,
        /// Its SYNs.
        #[json(hidden)]
        pub syn: SynRow,
        /// The largest receive window that it announced while its peer was sending; `None` where it is unknown.
        #[json(hidden)]
        pub announced_window_bytes: Option<u64>,
        /// Median round trip of its data, as its ACKs measured it at this end; `None` without any.
        #[json(hidden)]
        pub rtt_p50_ns: Option<Nanos>,
        /// The 95th percentile of these round trips.
        #[json(hidden)]
        pub rtt_p95_ns: Option<Nanos>,
    }
}

row! {
    /// Both directions.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DirectionsRow {
        /// Data that the client sends.
        pub client: DirectionRow,
        /// Data that the server sends.
        pub server: DirectionRow,
    }
}

impl DirectionsRow {
    /// Data of `sender`.
    pub fn of(&self, sender: End) -> &DirectionRow {
        match sender {
            End::Client => &self.client,
            End::Server => &self.server,
        }
    }
}

row! {
    /// Segments that one sender sent without waiting between them.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct BurstRow {
        /// Sender of the burst.
        pub sender: End,
        /// First segment.
        pub start_ns: Nanos,
        /// Last segment.
        pub end_ns: Nanos,
        /// New payload bytes.
        pub bytes: u64,
        /// Frames with new payload.
        pub segments: u64,
        /// Bytes in flight after the last segment.
        pub in_flight_bytes: u64,
    }
}

row! {
    /// One wait of one sender with one cause.
    #[derive(Clone, Debug, PartialEq)]
    pub struct StallRow {
        /// Number of the stall in its flow in order of time, counting from 0; stalls left out of the list count too.
        pub number: u64,
        /// Sender of the data that waited.
        pub sender: End,
        /// Time of the last byte of new data before it.
        pub start_ns: Nanos,
        /// Time of the next byte of new data, or of the change of the reason.
        pub end_ns: Nanos,
        /// `end_ns - start_ns`.
        pub duration_ns: Nanos,
        /// False where no new data ever followed.
        pub ended: bool,
        /// New data of its sender from then to its next pause, bytes.
        #[json(hidden)]
        pub then_bytes: u64,
        /// Cause of the wait.
        pub cause: Cause,
        /// Detail that narrows the cause, empty where there is none.
        #[json(or_null)]
        pub detail: &'static str,
        /// Confidence, 0 to 1.
        pub confidence: f32,
        /// Other causes that the evidence allows, likeliest first.
        pub also: Few<Cause, 16>,
        /// Missing evidence.
        pub missing: Vec<&'static str>,
        /// Evidence of the label.
        pub evidence: Evidence,
        /// The normal round trip in it, and the excess.
        #[json(flat)]
        pub round_trip: RoundTrip,
        /// The attempts to repair a loss inside it, in order of time; a chain of timeouts shows as doubling waits.
        #[json(if_any)]
        pub attempts: Vec<AttemptRow>,
        /// Advice: the change that helps.
        pub advice: &'static str,
    }
}

row! {
    /// One connection.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FlowRow {
        /// Number of the flow in order of its first segment, counting from 0 over all captures of a run.
        pub id: u64,
        /// Number of the capture in which the flow began, in the given order, counting from 0.
        pub capture: u32,
        /// The flow was still open when the last of its captures ended: the next file of the same tap would continue it.
        #[json(hidden)]
        pub at_end: bool,
        /// The stream was serialised with the flow: its next run returns the flow again, with what came since.
        #[json(hidden)]
        pub goes_on: bool,
        /// The row is a later part of a connection whose earlier parts have rows of their own.
        #[json(hidden)]
        pub continues: bool,
        /// The end that opened the connection.
        pub client: Endpoint,
        /// The end that accepted it.
        pub server: Endpoint,
        /// Outer tunnel path of its first captured packet, from the inside out: `VXLAN 42 10.0.0.1 > 10.0.0.2`; absent
        /// where there was no tunnel.
        #[json(if_any)]
        pub tunnel: Option<Tunnel>,
        /// VLAN of its first captured packet: identifier of the outermost tag; absent where there was no tag.
        #[json(if_any)]
        pub vlan: Option<u16>,
        /// Interface of its first captured packet: its name in pcapng, `ifindex 3` in Linux cooked captures v2;
        /// absent where the capture does not say.
        #[json(if_any)]
        pub interface: Option<String>,
        /// Number of the interface in the run, 0 for none; the name is filled in where the row is handed on.
        #[json(hidden)]
        pub interface_number: u16,
        /// Label from the first payload, where that is recognised: an HTTP request line with its host, a TLS server name.
        pub label: Option<String>,
        /// Source of the label: `http`, `tls`.
        pub label_source: Option<String>,
        /// The names in that payload, one by one.
        #[json(hidden)]
        pub names: Option<Box<FlowNames>>,
        /// First bytes of its ends, from which labels are read.
        #[json(hidden)]
        pub first_payloads: Option<Box<FirstPayloads>>,
        /// First segment.
        pub start_ns: Nanos,
        /// Last segment.
        pub end_ns: Nanos,
        /// Segments of both directions.
        pub segments: u64,
        /// `opening`, `open`, `half-closed`, `closed`, `reset`.
        pub state: &'static str,
        /// Outcome of a connection that nobody answered, or that fell silent; `null` for every other.
        #[json(flat)]
        pub outcome: OutcomeRow,
        /// Limit that set the rate of a flow that was sending for more than a fifth of its time: `path`,
        /// `congestion-window`,
        /// `receive-window`, `send-buffer`, `pacing`, `application`, or `sender` where the last two cannot be distinguished;
        /// absent for every other flow.
        #[json(if_any)]
        pub rate_set_by: Option<&'static str>,
        /// Time that causes own: `time_ns` without sending, in-transit and closing.
        pub lost_ns: Nanos,
        /// Place where the capture was taken.
        pub vantage: VantageRow,
        /// The smallest round trip of the whole path.
        pub base_rtt_ns: Option<Nanos>,
        /// The three-way handshake.
        pub handshake: HandshakeRow,
        /// Both directions of data.
        pub directions: DirectionsRow,
        /// Trust in the labels, by the packets that the capture lacks of the flow.
        pub trust: TrustRow,
        /// Further warnings: limits that were hit, roles that were guessed.
        pub notes: Vec<&'static str>,
        /// Round trips above five times the base round trip, one episode per row, in order of time.
        pub rtt_spikes: Vec<SpikeRow>,
        /// Episodes that a limit dropped from the list.
        #[json(if_any)]
        pub rtt_spikes_dropped: u64,
        /// Bursts of both senders in order of time; absent where they were not requested.
        #[json(if_any)]
        pub bursts: Option<Vec<BurstRow>>,
        /// Stalls of both senders in order of time.
        pub stalls: Vec<StallRow>,
        /// Requests with their responses in order of time; `None` where they were not requested.
        #[json(if_any)]
        pub exchanges: Option<Vec<Exchange>>,
        /// Use of the connection, and its end.
        pub connection: ConnectionRow,
        /// Owner of each nanosecond from `start_ns` to `end_ns`.
        pub time_ns: Ledger,
    }
}

/// Names in the first bytes of a flow's ends; `None` where there is no such name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowNames {
    /// The server name in a TLS hello (RFC 6066 §3).
    pub server_name: Option<String>,
    /// The Host of the first HTTP request.
    pub http_host: Option<String>,
    /// The method of that request.
    pub http_method: Option<String>,
    /// The status of the first HTTP response.
    pub http_status: Option<u16>,
}

impl FlowRow {
    /// Time lost to stalls: everything but sending, in-transit and closing.
    pub fn lost(&self) -> Nanos {
        self.time_ns.lost()
    }

    /// Moves the row away, with its lists.
    #[must_use]
    pub fn take(&mut self) -> FlowRow {
        let FlowRow { label, label_source, names, first_payloads, rtt_spikes, bursts, stalls, exchanges, .. } = self;
        let (label, label_source) = (label.take(), label_source.take());
        let (names, first_payloads) = (names.take(), first_payloads.take());
        let (rtt_spikes, stalls) = (mem::take(rtt_spikes), mem::take(stalls));
        let (bursts, exchanges) = (bursts.take(), exchanges.take());
        FlowRow { label, label_source, names, first_payloads, rtt_spikes, bursts, stalls, exchanges, ..self.clone() }
    }

    /// The flow in the report's JSON.
    pub fn to_json(&self) -> String {
        json::text_of(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::causes::Limits;
    use crate::pause::Watch;
    use crate::results::{Wanted, flow_row};
    use crate::time::Nanos;
    use crate::wire::{Flags, Segment};

    #[test]
    fn a_row_that_is_taken_is_whole_and_leaves_no_lists() {
        let segment = Segment { flags: Flags::SYN, ..Segment::default() };
        let mut watch = Box::new(Watch::new(&segment));
        (0..3).for_each(|at| _ = watch.sees(&Segment { time: Nanos::from_millis(1_000 * at), ..segment }));
        let wanted = Wanted { bursts: true, exchanges: true, least_stall: Nanos::ZERO };
        let mut row = flow_row(&watch.finish(), 7, 0, &Limits::default(), wanted);
        row.label = Some("GET /".into());
        let whole = row.clone();
        assert!(!whole.stalls.is_empty());
        assert_eq!(row.take(), whole);
        assert!(row.stalls.is_empty() && row.bursts.is_none() && row.exchanges.is_none() && row.label.is_none());
    }
}
