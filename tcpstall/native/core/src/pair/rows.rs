//! Rows of the results.

use serde::Serialize;

use super::clock::RelativeClock;
use super::syn::SynChange;
use crate::results::End;
use crate::wire::Endpoint;

/// Result for two captures.
#[derive(Clone, Debug, Serialize)]
pub struct Pairing {
    /// The captures were given in the other order: the second one was taken nearer to the clients.
    pub swapped: bool,
    /// The server side's clock relative to the client side's.
    pub clock: RelativeClock,
    /// Flows of the client side's capture, and of the server side's, that the other does not hold.
    pub unmatched: [u64; 2],
    /// Flows of the client side's that resemble some of the server side's: their sequence numbers were rewritten
    /// between the taps.
    pub rewritten: u64,
    /// Packets beyond the limit of each capture.
    pub left_out: [u64; 2],
    /// Events beyond those that are listed.
    pub events_dropped: u64,
    /// One row per flow.
    pub flows: Vec<PairRow>,
    /// Events of single packets, of all flows.
    #[serde(skip)]
    pub events: Vec<PacketEvent>,
    /// The delay of each packet that both taps saw.
    #[serde(skip)]
    pub delays: Vec<Delay>,
    /// Times in which lost data or a lost ACK was still missing.
    #[serde(skip)]
    pub recoveries: Vec<Recovery>,
}

/// One flow at both taps. Pairs are of the client side's capture and of the server side's.
#[derive(Clone, Debug, Serialize)]
pub struct PairRow {
    /// Its number, counting from 0 in the order of the client side's capture.
    pub id: u64,
    /// The end that opened the connection, in both captures.
    pub client: [EndpointRow; 2],
    /// The end that accepted it, in both captures.
    pub server: [EndpointRow; 2],
    /// Evidence for the match: `initial-numbers` or `packets`.
    pub matched_by: &'static str,
    /// The end that opened the connection is beyond the server side's tap.
    pub opened_from_server_side: bool,
    /// First packet by each capture's own clock.
    pub start_ns: [i64; 2],
    /// Last packet by each capture's own clock.
    pub end_ns: [i64; 2],
    /// Packets in each capture.
    pub packets: [u64; 2],
    /// Data that the client sent.
    pub client_sent: WayRow,
    /// Data that the server sent.
    pub server_sent: WayRow,
}

/// An address and a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointRow {
    /// IP address.
    pub address: String,
    /// TCP port.
    pub port: u16,
}

impl From<Endpoint> for EndpointRow {
    fn from(end: Endpoint) -> EndpointRow {
        EndpointRow { address: end.address.to_string(), port: end.port }
    }
}

/// One direction of a flow between the taps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WayRow {
    /// Packets at the sending tap.
    pub sent_packets: u64,
    /// Packets at the other tap.
    pub seen_packets: u64,
    /// Packets whose transmission is known.
    pub matched_packets: u64,
    /// Delays of these packets.
    pub delay: Option<Passed>,
    /// Packets at the sending tap with a lost part.
    pub lost_packets: u64,
    /// Packets on the wire that were lost.
    pub lost_segments: u64,
    /// Bytes lost.
    pub lost_bytes: u64,
    /// Packets that the receiving tap's capture missed: their bytes were acknowledged there.
    pub missed_by_receiving_tap: u64,
    /// Packets that the sending tap's capture missed.
    pub missed_by_sending_tap: u64,
    /// Packets that passed before the other capture began or after it ended.
    pub outside_packets: u64,
    /// Copies that the sending tap made.
    pub copied_by_capture: u64,
    /// Packets that arrived twice.
    pub duplicated_packets: u64,
    /// Packets that others overtook.
    pub reordered_packets: u64,
    /// Routers between the taps, by the decrease of the TTL.
    pub hops: Option<i64>,
    /// Options changed in the SYN.
    pub syn_changes: Vec<SynChange>,
    /// Packets that arrived with another IP identification.
    pub ip_ids_rewritten: u64,
    /// ACKs that arrived with another window.
    pub windows_rewritten: u64,
    /// Timestamps were stripped between the taps.
    pub timestamps_stripped: bool,
    /// The delay over time.
    pub over_time: Vec<Period>,
}

/// Delays of some packets, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// The shortest.
    pub least_ns: i64,
    /// Median.
    pub median_ns: i64,
    /// 99th percentile.
    pub p99_ns: i64,
    /// The longest.
    pub most_ns: i64,
}

impl Passed {
    /// Statistics of delays in any order, by nearest rank.
    pub(super) fn of(delays: &mut [i64]) -> Option<Passed> {
        delays.sort_unstable();
        let last = delays.len().checked_sub(1)?;
        let rank = |percent: usize| delays[((last + 1) * percent).div_ceil(100).max(1) - 1];
        Some(Passed { least_ns: delays[0], median_ns: rank(50), p99_ns: rank(99), most_ns: delays[last] })
    }
}

/// Delays in a stretch of time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Period {
    /// Start of the period by the client side's clock.
    pub start_ns: i64,
    /// Packets sent in the period and seen.
    pub packets: u64,
    /// Delays of these packets.
    #[serde(flatten)]
    pub delay: Passed,
}

/// An event of one packet between the taps.
#[derive(Clone, Debug)]
pub struct PacketEvent {
    /// The flow's number.
    pub flow: u64,
    /// Sender of the packet.
    pub sender: End,
    /// `lost`, `missed`, `unsent`, `duplicated`, `reordered`.
    pub kind: &'static str,
    /// Time when it was sent, or seen where its transmission was not seen, by the client side's clock.
    pub time_ns: i64,
    /// Packet number in the sending tap's capture.
    pub sent_packet: Option<u64>,
    /// Packet number in the other capture.
    pub seen_packet: Option<u64>,
    /// Sequence number, relative to the ISN.
    pub seq: i64,
    /// Number of bytes concerned; 0 for an ACK.
    pub bytes: i64,
    /// Delay behind the packet that overtook it.
    pub late_ns: Option<i64>,
    /// Packet numbers at both taps of the transmission that repaired the loss.
    pub repair: Option<(u64, Option<u64>)>,
}

/// The delay of one packet.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    /// The flow's number.
    pub flow: u64,
    /// Sender of the packet.
    pub sender: End,
    /// Time when it was sent, by the client side's clock.
    pub time_ns: i64,
    /// Delay of the packet.
    pub delay_ns: i64,
    /// Packet number in the sending tap's capture.
    pub sent_packet: u64,
    /// Packet number in the other capture.
    pub seen_packet: u64,
    /// Payload, SYN and FIN of the packet that was seen.
    pub bytes: u32,
}

/// A recovery: from the transmission of data lost between the taps until it had arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The flow's number.
    pub flow: u64,
    /// Sender of the lost packet.
    pub sender: End,
    /// Bytes, SYN or FIN were lost; otherwise an ACK.
    pub data: bool,
    /// Time of the first lost transmission, by the client side's clock.
    pub start_ns: i64,
    /// Time when everything had arrived; the largest number where it never did.
    pub end_ns: i64,
}
