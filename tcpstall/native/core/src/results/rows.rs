//! Rows of a report: a flow, a burst and a stall as the reader of the result sees them.

use serde::{Serialize, Serializer};

use super::ceiling::Ceiling;
use super::ledger::Ledger;
use super::outcome::OutcomeRow;
use super::path::{PathEvidence, PathRow};
use super::receiver::Receiver;
use super::repair::{AttemptRow, RepairEvidence, RepairRow};
use super::round_trip::{RoundTrip, SpikeRow};
use super::syn::SynRow;
use super::trust::TrustRow;
use crate::causes::Cause;
use crate::exchange::{ConnectionRow, Exchange};
use crate::flow::End;
use crate::flow::first_payload::FirstPayloads;
use crate::packet_no::PacketNo;
use crate::time::Nanos;
use crate::wire::Endpoint;
use crate::wire::tunnel::Tunnel;

/// Place where the capture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VantageRow {
    /// `client`, `server`, `between` or `unknown`.
    pub side: &'static str,
    /// Confidence, 0 to 1.
    pub confidence: f32,
}

/// The three-way handshake.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HandshakeRow {
    /// SYN, SYN-ACK and the ACK that completes them were all captured.
    pub complete: bool,
    /// Time from the first SYN to the completing segment or the last attempt; `None` where no SYN was captured.
    pub duration_ns: Option<Nanos>,
}

/// One direction of data, named after the end that sends it.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(flatten)]
    pub path: PathRow,
    /// Repairs of its losses, and its reordered segments.
    #[serde(flatten)]
    pub repair: RepairRow,
    /// Its SYNs.
    #[serde(skip)]
    pub syn: SynRow,
    /// The largest receive window that it announced while its peer was sending; `None` where it is unknown.
    #[serde(skip)]
    pub announced_window_bytes: Option<u64>,
}

/// Both directions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DirectionsRow {
    /// Data that the client sends.
    pub client: DirectionRow,
    /// Data that the server sends.
    pub server: DirectionRow,
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

/// Segments that one sender sent without waiting between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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

/// Evidence of a stall's label: the values that the rule read, unknown values `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// Bytes sent and not yet acknowledged when the wait began.
    pub in_flight_bytes: Option<u64>,
    /// Segments of one MSS sent and not yet acknowledged when the wait began.
    pub in_flight_segments: Option<u64>,
    /// The peer's window when the wait began, bytes.
    pub peer_window_bytes: Option<u64>,
    /// Unused part of that window, bytes.
    pub window_unused_bytes: Option<i64>,
    /// The congestion window by our model of the sender, segments.
    pub cwnd_estimate_segments: Option<u64>,
    /// New payload bytes of the burst before the wait.
    pub burst_bytes: Option<u64>,
    /// Last packet of new data before the wait.
    pub last_packet: Option<PacketNo>,
    /// The packet that ended the wait's reason: the ACK (or request) that let data flow again.
    pub freed_by_packet: Option<PacketNo>,
    /// First packet of new data after the wait.
    pub next_packet: Option<PacketNo>,
    /// Time from the freeing packet to the next data, at the tap.
    pub freed_to_data_ns: Option<Nanos>,
    /// Retransmissions inside the wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmissions: Option<u64>,
    /// Window probes inside the wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_probes: Option<u64>,
    /// Plateau of the bytes in flight over several rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau_bytes: Option<u64>,
    /// The congestion window before an idle period lowered it, segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_before_idle_segments: Option<u64>,
    /// The congestion window to which that period lowered it, segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_after_idle_segments: Option<u64>,
    /// Cost of the whole climb back in round trips, beyond those that the old window would have needed; at the first
    /// wait of the climb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_round_trips: Option<u64>,
    /// The buffer that held the sender back.
    #[serde(flatten)]
    pub ceiling: Ceiling,
    /// The peer's receiver.
    #[serde(flatten)]
    pub receiver: Receiver,
    /// Segments that each ACK released, exchange after exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_cap_segments: Option<u64>,
    /// Consecutive exchanges whose first burst was cut at that count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges_cut_alike: Option<u64>,
    /// A queue on the path.
    #[serde(flatten)]
    pub path: PathEvidence,
    /// Losses and their repairs.
    #[serde(flatten)]
    pub repair: RepairEvidence,
    /// The fastest second of the sender, bytes per second, where rates above ten times that were left out above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fastest_bytes_per_s: Option<u64>,
}

/// One wait of one sender with one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Cause of the wait.
    pub cause: Cause,
    /// Detail that narrows the cause, empty where there is none.
    #[serde(serialize_with = "text_or_null")]
    pub detail: &'static str,
    /// Confidence, 0 to 1.
    pub confidence: f32,
    /// Other causes that the evidence allows, likeliest first.
    pub also: Vec<Cause>,
    /// Missing evidence.
    pub missing: Vec<&'static str>,
    /// Evidence of the label.
    pub evidence: Evidence,
    /// The normal round trip in it, and the excess.
    #[serde(flatten)]
    pub round_trip: RoundTrip,
    /// The attempts to repair a loss inside it, in order of time; a chain of timeouts shows as doubling waits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<AttemptRow>,
    /// Advice: the change that helps.
    pub advice: &'static str,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowRow {
    /// Number of the flow in order of its first segment, counting from 0 over all captures of a run.
    pub id: u64,
    /// Number of the capture in which the flow began, in the given order, counting from 0.
    pub capture: u32,
    /// The flow was still open when the last of its captures ended: the next file of the same tap would continue it.
    #[serde(skip)]
    pub at_end: bool,
    /// The stream was serialised with the flow: its next run returns the flow again, with what came since.
    #[serde(skip)]
    pub goes_on: bool,
    /// The row is a later part of a connection whose earlier parts have rows of their own.
    #[serde(skip)]
    pub continues: bool,
    /// The end that opened the connection.
    #[serde(serialize_with = "endpoint")]
    pub client: Endpoint,
    /// The end that accepted it.
    #[serde(serialize_with = "endpoint")]
    pub server: Endpoint,
    /// Outer tunnel path of its first captured packet, from the inside out: `VXLAN 42 10.0.0.1 > 10.0.0.2`; absent
    /// where there was no tunnel.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub tunnel: Option<Tunnel>,
    /// Label from the first payload, where that is recognised: an HTTP request line with its host, a TLS server name.
    pub label: Option<String>,
    /// Source of the label: `http`, `tls`.
    pub label_source: Option<String>,
    /// The names in that payload, one by one.
    #[serde(skip)]
    pub names: Option<Box<FlowNames>>,
    /// First bytes of its ends, from which labels are read.
    #[serde(skip)]
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
    #[serde(flatten)]
    pub outcome: OutcomeRow,
    /// Limit that set the rate of a flow that was sending for more than a fifth of its time: `path`,
    /// `congestion-window`,
    /// `pacing`, `application`, or `sender` where the last two cannot be distinguished; absent for every other flow.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(skip_serializing_if = "is_zero")]
    pub rtt_spikes_dropped: u64,
    /// Bursts of both senders in order of time; absent where they were not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Vec<BurstRow>>,
    /// Stalls of both senders in order of time.
    pub stalls: Vec<StallRow>,
    /// Requests with their responses in order of time; `None` where they were not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<Vec<Exchange>>,
    /// Use of the connection, and its end.
    pub connection: ConnectionRow,
    /// Owner of each nanosecond from `start_ns` to `end_ns`.
    pub time_ns: Ledger,
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
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over the field")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(super) fn endpoint<S: Serializer>(endpoint: &Endpoint, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeStruct;
    let mut row = serializer.serialize_struct("Endpoint", 2)?;
    row.serialize_field("address", &AddressText(endpoint.address))?;
    row.serialize_field("port", &endpoint.port)?;
    row.end()
}

struct AddressText(crate::wire::Address);

impl Serialize for AddressText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.0.is_v4() {
            return serializer.collect_str(&self.0);
        }
        // Each row has two addresses; through `Display` they would cost a tenth of the row's time.
        let (mut text, mut length) = ([b'.'; "255.255.255.255.".len()], 0);
        for byte in (self.0.0 as u32).to_be_bytes() {
            let mut digits = itoa::Buffer::new();
            let digits = digits.format(byte).as_bytes();
            text[length..length + digits.len()].copy_from_slice(digits);
            length += digits.len() + 1;
        }
        serializer.serialize_str(str::from_utf8(&text[..length - 1]).unwrap_or_default())
    }
}

fn as_text<S: Serializer>(tunnel: &Option<Tunnel>, serializer: S) -> Result<S::Ok, S::Error> {
    match tunnel {
        Some(tunnel) => serializer.collect_str(tunnel),
        None => serializer.serialize_none(),
    }
}

fn text_or_null<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if text.is_empty() { serializer.serialize_none() } else { serializer.serialize_str(text) }
}
