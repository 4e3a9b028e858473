//! Results as rows.

use serde::Serialize;

use super::clock::Clock;
use super::syn::Change;
use crate::tables::Side;
use crate::wire::Endpoint;

/// All that two captures have in common.
#[derive(Clone, Debug, Serialize)]
pub struct Pairing {
    /// The captures were given in the other order: the second was taken nearer to the clients.
    pub swapped: bool,
    /// The server side's clock against the client side's.
    pub clock: Clock,
    /// Flows of the client side's capture, and of the server side's, that the other does not hold.
    pub unmatched: [u64; 2],
    /// Some of the former look like some of the latter: their sequence numbers were rewritten in between.
    pub rewritten: u64,
    /// Packets beyond what is held of a capture.
    pub left_out: [u64; 2],
    /// Losses and the like beyond those that are listed.
    pub events_dropped: u64,
    /// A flow each.
    pub flows: Vec<PairRow>,
    /// What befell single packets, of all flows.
    #[serde(skip)]
    pub events: Vec<Event>,
    /// The delay of each packet that both taps saw.
    #[serde(skip)]
    pub delays: Vec<Delay>,
    /// When something that was lost was still missing.
    #[serde(skip)]
    pub recoveries: Vec<Recovery>,
}

/// One flow as both taps saw it. Pairs are of the client side's capture and of the server side's.
#[derive(Clone, Debug, Serialize)]
pub struct PairRow {
    /// Its number, counting from 0 in the order of the client side's capture.
    pub id: u64,
    /// Who opened it, by both captures.
    pub client: [Place; 2],
    /// Who accepted it, by both captures.
    pub server: [Place; 2],
    /// By what it was recognised: `initial-numbers` or `packets`.
    pub matched_by: &'static str,
    /// The end that opened it is beyond the server side's tap.
    pub opened_from_server_side: bool,
    /// First and last packet by each capture's own clock.
    pub start_ns: [i64; 2],
    /// First and last packet by each capture's own clock.
    pub end_ns: [i64; 2],
    /// Packets in each capture.
    pub packets: [u64; 2],
    /// What the client sent.
    pub client_sent: WayRow,
    /// What the server sent.
    pub server_sent: WayRow,
}

/// An address and a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// IP address.
    pub address: String,
    /// TCP port.
    pub port: u16,
}

impl From<Endpoint> for Place {
    fn from(end: Endpoint) -> Place {
        Place { address: end.address.to_string(), port: end.port }
    }
}

/// One direction of a flow between the taps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WayRow {
    /// Packets at the sending tap.
    pub sent_packets: u64,
    /// Packets at the other.
    pub seen_packets: u64,
    /// Packets whose sending is known.
    pub matched_packets: u64,
    /// Delays of these.
    pub delay: Option<Passed>,
    /// Packets at the sending tap of which something was lost, and how many on the wire that makes.
    pub lost_packets: u64,
    /// The same in packets of the wire's size.
    pub lost_segments: u64,
    /// Bytes lost.
    pub lost_bytes: u64,
    /// Packets of the sending tap that the other capture missed: their bytes were acknowledged there.
    pub missed_by_receiving_tap: u64,
    /// Packets that the sending tap's capture missed.
    pub missed_by_sending_tap: u64,
    /// Packets that passed before the other capture began or after it ended.
    pub outside_packets: u64,
    /// Copies that the sending tap made.
    pub copied_by_capture: u64,
    /// Packets that came twice.
    pub duplicated_packets: u64,
    /// Packets that others overtook.
    pub reordered_packets: u64,
    /// Routers between the taps, by what was taken off the TTL.
    pub hops: Option<i64>,
    /// Options changed in the SYN.
    pub syn_changes: Vec<Change>,
    /// Packets that came with another IP identification.
    pub ip_ids_rewritten: u64,
    /// ACKs that came with another window.
    pub windows_rewritten: u64,
    /// Timestamps were taken out on the way.
    pub timestamps_stripped: bool,
    /// The delay as time went on.
    pub over_time: Vec<Period>,
}

/// Delays of some packets, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// The shortest.
    pub least_ns: i64,
    /// Half took no longer.
    pub median_ns: i64,
    /// 99 in a hundred took no longer.
    pub p99_ns: i64,
    /// The longest.
    pub most_ns: i64,
}

impl Passed {
    /// Of delays in any order, by nearest rank.
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
    /// When it begins by the client side's clock.
    pub start_ns: i64,
    /// Packets sent in it and seen.
    pub packets: u64,
    /// Their delays.
    #[serde(flatten)]
    pub delay: Passed,
}

/// What befell one packet between the taps.
#[derive(Clone, Debug)]
pub struct Event {
    /// The flow's number.
    pub flow: u64,
    /// Who sent it.
    pub sender: Side,
    /// `lost`, `missed`, `unsent`, `duplicated`, `reordered`.
    pub kind: &'static str,
    /// When it was sent, or was seen where nobody saw it sent, by the client side's clock.
    pub time_ns: i64,
    /// Its number in the sending tap's capture.
    pub sent_packet: Option<u64>,
    /// Its number in the other.
    pub seen_packet: Option<u64>,
    /// Where it begins, relative to the ISN.
    pub seq: i64,
    /// How many bytes of it; 0 for an ACK.
    pub bytes: i64,
    /// How long after what overtook it.
    pub late_ns: Option<i64>,
    /// The sending that repaired the loss, at both taps.
    pub repair: Option<(u64, Option<u64>)>,
}

/// How long one packet took.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    /// The flow's number.
    pub flow: u64,
    /// Who sent it.
    pub sender: Side,
    /// When it was sent, by the client side's clock.
    pub time_ns: i64,
    /// How long it took.
    pub delay_ns: i64,
    /// Its number in the sending tap's capture.
    pub sent_packet: u64,
    /// Its number in the other.
    pub seen_packet: u64,
    /// Payload, SYN and FIN of the packet that was seen.
    pub bytes: u32,
}

/// From the sending of what was lost between the taps until it had arrived: on its way again or not yet sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The flow's number.
    pub flow: u64,
    /// The server sent what was lost.
    pub from_server: bool,
    /// Bytes were lost, or SYN or FIN; else what an ACK said.
    pub data: bool,
    /// When it was sent first and lost, by the client side's clock.
    pub start_ns: i64,
    /// When all of it had arrived; the greatest number where it never did.
    pub end_ns: i64,
}
