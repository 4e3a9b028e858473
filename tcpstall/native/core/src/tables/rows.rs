//! The rows of a report: what a flow, a burst and a stall are to whoever reads the result.

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
use crate::flow::starts::Starts;
use crate::size::PacketNo;
use crate::time::Nanos;
use crate::wire::Endpoint;
use crate::wire::tunnel::Tunnel;

/// The end of a connection: the client sent the SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The end that opened the connection.
    Client,
    /// The end that accepted it.
    Server,
}

impl Side {
    /// Both, the client first.
    pub const BOTH: [Side; 2] = [Side::Client, Side::Server];

    /// The word in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Server => "server",
        }
    }
}

/// Where the capture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VantageRow {
    /// `client`, `server`, `between` or `unknown`.
    pub side: &'static str,
    /// 0 to 1.
    pub confidence: f32,
}

/// The three-way handshake.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HandshakeRow {
    /// SYN, SYN-ACK and the ACK that completes them were all captured.
    pub complete: bool,
    /// From the first SYN to the completing segment or the last attempt; `None` where no SYN was captured.
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
    /// First flight before any ACK of it, bytes.
    pub initial_window_bytes: Option<u64>,
    /// Most bytes in flight at any time.
    pub max_in_flight_bytes: u64,
    /// Payload bytes sent again.
    pub retransmitted_bytes: u64,
    /// How long this end had data to send or outstanding, as `busy` in `ss -ti`; `None` where packets are missing.
    pub busy_ns: Option<Nanos>,
    /// How much of that the peer's window was full or shut, waits too short for a stall included, as `rwnd_limited` in
    /// `ss -ti`; `None` where the window scale is not known.
    pub rwnd_limited_ns: Option<Nanos>,
    /// The path that it took.
    #[serde(flatten)]
    pub path: PathRow,
    /// How losses were repaired, and what was only out of order.
    #[serde(flatten)]
    pub repair: RepairRow,
    /// What its SYNs said.
    #[serde(skip)]
    pub syn: SynRow,
    /// The largest receive window that it announced while its peer was sending; `None` where none is known.
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

/// Segments that one sender sent without waiting between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BurstRow {
    /// Who sent it.
    pub sender: Side,
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

/// What a stall's label rests on: the values the rule read, unknown ones `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// Sent and not yet acknowledged when the wait began, bytes.
    pub in_flight_bytes: Option<u64>,
    /// The same in segments of one MSS.
    pub in_flight_segments: Option<u64>,
    /// The peer's window when the wait began, bytes.
    pub peer_window_bytes: Option<u64>,
    /// How much of that window was left, bytes.
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
    /// From the freeing packet to the next data, as the tap saw it.
    pub freed_to_data_ns: Option<Nanos>,
    /// Retransmissions inside the wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmissions: Option<u64>,
    /// Window probes inside the wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_probes: Option<u64>,
    /// The level at which bytes in flight stood for several rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau_bytes: Option<u64>,
    /// The congestion window before an idle period lowered it, segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_before_idle_segments: Option<u64>,
    /// What that period lowered it to, segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_after_idle_segments: Option<u64>,
    /// At the first wait of a climb back: the round trips that the whole climb cost, beyond those that the old window would
    /// have needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_round_trips: Option<u64>,
    /// The buffer that held the sender back.
    #[serde(flatten)]
    pub ceiling: Ceiling,
    /// What the peer's receiver did.
    #[serde(flatten)]
    pub receiver: Receiver,
    /// Segments that each ACK let go, exchange after exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_cap_segments: Option<u64>,
    /// Exchanges in a row whose first burst was cut at that count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges_cut_alike: Option<u64>,
    /// A queue on the path.
    #[serde(flatten)]
    pub path: PathEvidence,
    /// What was lost and how it was repaired.
    #[serde(flatten)]
    pub repair: RepairEvidence,
    /// The fastest second of the sender, bytes a second, where rates beyond ten times that were left out above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fastest_bytes_per_s: Option<u64>,
}

/// One wait of one sender with one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StallRow {
    /// Number of the stall in its flow in order of time, counting from 0, whichever are left out of the list.
    pub number: u64,
    /// Whose data waited.
    pub sender: Side,
    /// Last byte of new data before it.
    pub start_ns: Nanos,
    /// Next byte of new data, or where the reason changed.
    pub end_ns: Nanos,
    /// `end_ns - start_ns`.
    pub duration_ns: Nanos,
    /// False where no new data ever followed.
    pub ended: bool,
    /// Why.
    pub cause: Cause,
    /// A narrower word for the cause, empty where there is none.
    #[serde(serialize_with = "text_or_null")]
    pub detail: &'static str,
    /// 0 to 1.
    pub confidence: f32,
    /// Other causes that the evidence allows, likeliest first.
    pub also: Vec<Cause>,
    /// What evidence was missing.
    pub missing: Vec<&'static str>,
    /// What the label rests on.
    pub evidence: Evidence,
    /// The plain round trip in it, and what was beyond.
    #[serde(flatten)]
    pub round_trip: RoundTrip,
    /// The attempts to repair a loss inside it, in order of time; a chain of timeouts shows as doubling waits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<AttemptRow>,
    /// What to change.
    pub advice: &'static str,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowRow {
    /// Number of the flow in order of its first segment, counting from 0 over all captures of a run.
    pub id: u64,
    /// Number of the capture in which it began, in the order given, counting from 0.
    pub capture: u32,
    /// It was still followed when the last of its captures ended: the next file of the same tap would go on with it.
    #[serde(skip)]
    pub at_end: bool,
    /// The end that opened the connection.
    #[serde(serialize_with = "endpoint")]
    pub client: Endpoint,
    /// The end that accepted it.
    #[serde(serialize_with = "endpoint")]
    pub server: Endpoint,
    /// What its first captured packet came through, from the inside out: `VXLAN 42 10.0.0.1 > 10.0.0.2`; absent where it was
    /// in no tunnel.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub tunnel: Option<Tunnel>,
    /// What it carries, where its first payload says so: an HTTP request line with its host, a TLS server name.
    pub label: Option<String>,
    /// Where the label was read: `http`, `tls`.
    pub label_source: Option<String>,
    /// The names in that, each for itself.
    #[serde(skip)]
    pub names: Option<Box<Names>>,
    /// What its ends said first, for whoever can read a label in it.
    #[serde(skip)]
    pub starts: Option<Box<Starts>>,
    /// First segment.
    pub start_ns: Nanos,
    /// Last segment.
    pub end_ns: Nanos,
    /// Segments of both directions.
    pub segments: u64,
    /// `opening`, `open`, `half-closed`, `closed`, `reset`.
    pub state: &'static str,
    /// What became of a connection that nobody answered, or that fell silent; `null` of every other.
    #[serde(flatten)]
    pub outcome: OutcomeRow,
    /// What set the rate of a flow that was sending for more than a fifth of its time: `path`, `congestion-window`, `pacing`,
    /// `application`, or `sender` where it cannot be told which of them; absent of every other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_set_by: Option<&'static str>,
    /// Time that causes own: `time_ns` without sending, in-transit and closing.
    pub lost_ns: Nanos,
    /// Where the capture was taken.
    pub vantage: VantageRow,
    /// The smallest round trip of the path, both ends' parts together.
    pub base_rtt_ns: Option<Nanos>,
    /// The three-way handshake.
    pub handshake: HandshakeRow,
    /// Both directions of data.
    pub directions: DirectionsRow,
    /// How far the labels can be trusted, by what the capture lacks of the flow.
    pub trust: TrustRow,
    /// What else a reader must know: limits that were hit, roles that were guessed.
    pub notes: Vec<&'static str>,
    /// Round trips above five times the base one, an episode a row, in order of time.
    pub rtt_spikes: Vec<SpikeRow>,
    /// Episodes that a limit dropped from the list.
    #[serde(skip_serializing_if = "is_zero")]
    pub rtt_spikes_dropped: u64,
    /// Bursts of both senders in order of time; empty where they were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Vec<BurstRow>>,
    /// Stalls of both senders in order of time.
    pub stalls: Vec<StallRow>,
    /// Requests with their responses in order of time; `None` where they were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<Vec<Exchange>>,
    /// What the connection was used for and how it ended.
    pub connection: ConnectionRow,
    /// Who owns each nanosecond from `start_ns` to `end_ns`.
    pub time_ns: Ledger,
}

/// What a flow carries, by the first that its ends said; `None` where they did not say it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// The name in a TLS hello (RFC 6066 §3).
    pub server_name: Option<String>,
    /// The Host of the first HTTP request.
    pub http_host: Option<String>,
    /// Its method.
    pub http_method: Option<String>,
    /// The status of the first HTTP response.
    pub http_status: Option<u16>,
}

impl FlowRow {
    /// Time lost to stalls: everything but sending, plain travel and closing.
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
    row.serialize_field("address", &Shown(endpoint.address))?;
    row.serialize_field("port", &endpoint.port)?;
    row.end()
}

struct Shown(crate::wire::Address);

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.0.is_v4() {
            return serializer.collect_str(&self.0);
        }
        // Each row has two; by way of `Display` they would cost a tenth of what the row does.
        let mut text = String::with_capacity("255.255.255.255".len());
        for (place, byte) in (self.0.0 as u32).to_be_bytes().into_iter().enumerate() {
            text.push_str(if place > 0 { "." } else { "" });
            text.push_str(itoa::Buffer::new().format(byte));
        }
        serializer.serialize_str(&text)
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
