//! Turns rows into columns, for callers that want tables instead of objects.

pub mod known;
pub mod numbers;
pub mod texts;
pub mod values;

use std::borrow::Cow;

use self::numbers::Numbers;
use self::texts::Texts;
use self::values::Values;
use super::ledger::Owner;
use super::rows::evidence::RareEvidence;
use super::rows::trust::ScaleKnown;
use super::rows::{BurstRow, FlowNames, FlowRow, StallRow};
use crate::exchange::{Exchange, Phase};
use crate::flow::End;
use crate::packet_no::PacketNo;
use crate::wire::{Address, Segment};

/// A name and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name, with its unit as a suffix.
    pub name: Cow<'static, str>,
    /// One value per row.
    pub values: Values,
}

/// Columns of equal length.
pub type Columns = Vec<Column>;

pub(super) fn integers<R>(name: impl Into<Cow<'static, str>>, rows: &[R], value: impl Fn(&R) -> Option<i64>) -> Column {
    Column { name: name.into(), values: Values::Integers(Numbers::of(rows, value)) }
}

pub(super) fn reals<R>(name: impl Into<Cow<'static, str>>, rows: &[R], value: impl Fn(&R) -> Option<f64>) -> Column {
    Column { name: name.into(), values: Values::Reals(Numbers::of(rows, value)) }
}

pub(super) fn flags<R>(name: impl Into<Cow<'static, str>>, rows: &[R], value: impl Fn(&R) -> bool) -> Column {
    known_flags(name, rows, |row| Some(value(row)))
}

pub(super) fn known_flags<R>(
    name: impl Into<Cow<'static, str>>,
    rows: &[R],
    value: impl Fn(&R) -> Option<bool>,
) -> Column {
    Column { name: name.into(), values: Values::Flags(rows.iter().map(value).collect()) }
}

pub(super) fn texts<'r, R, T: AsRef<str>>(
    name: impl Into<Cow<'static, str>>,
    rows: &'r [R],
    value: impl Fn(&'r R) -> Option<T>,
) -> Column {
    Column { name: name.into(), values: Values::Texts(rows.iter().map(value).collect()) }
}

/// Words of this program.
pub(super) fn words<R>(
    name: impl Into<Cow<'static, str>>,
    rows: &[R],
    word: impl Fn(&R) -> Option<&'static str>,
) -> Column {
    Column { name: name.into(), values: Values::Texts(Texts::of_words(rows, word)) }
}

/// Words of each row, with a separator between them.
fn joined<'r, R, T: AsRef<str>, I: IntoIterator<Item = T>>(
    name: impl Into<Cow<'static, str>>,
    rows: &'r [R],
    separator: &str,
    words: impl Fn(&'r R) -> I,
) -> Column {
    let mut all = Texts::with_room(rows.len());
    rows.iter().for_each(|row| all.push_joined(words(row), separator));
    Column { name: name.into(), values: Values::Texts(all) }
}

/// Addresses as text. Neighbouring rows are often of one address: it is written once.
pub(super) fn addresses<R>(name: impl Into<Cow<'static, str>>, rows: &[R], address: impl Fn(&R) -> Address) -> Column {
    let all = Texts::written(rows, address, |address, text| address.write_to(text));
    Column { name: name.into(), values: Values::Texts(all) }
}

pub(super) fn signed(value: u64) -> Option<i64> {
    Some(value as i64)
}

fn number(packet: Option<PacketNo>) -> Option<i64> {
    packet.map(|packet| packet.0 as i64)
}

/// Table with one flow per row.
pub fn flows(rows: &[FlowRow]) -> Columns {
    let mut columns = vec![
        integers("flow", rows, |row| signed(row.id)),
        integers("capture", rows, |row| Some(i64::from(row.capture))),
        addresses("client_address", rows, |row| row.client.address),
        integers("client_port", rows, |row| Some(i64::from(row.client.port))),
        addresses("server_address", rows, |row| row.server.address),
        integers("server_port", rows, |row| Some(i64::from(row.server.port))),
        texts("tunnel", rows, |row| row.tunnel.as_ref().map(ToString::to_string)),
        texts("interface", rows, |row| row.interface.clone()),
        integers("vlan", rows, |row| row.vlan.map(i64::from)),
        texts("label", rows, |row| row.label.as_deref()),
        texts("server_name", rows, |row| named(row, |names| &names.server_name)),
        texts("http_host", rows, |row| named(row, |names| &names.http_host)),
        texts("http_method", rows, |row| named(row, |names| &names.http_method)),
        integers("http_status", rows, |row| row.names.as_ref()?.http_status.map(i64::from)),
        integers("start_ns", rows, |row| Some(row.start_ns.0)),
        integers("end_ns", rows, |row| Some(row.end_ns.0)),
        integers("duration_ns", rows, |row| Some((row.end_ns - row.start_ns).0)),
        integers("segments", rows, |row| signed(row.segments)),
        words("state", rows, |row| Some(row.state)),
        words("vantage_side", rows, |row| Some(row.vantage.side)),
        reals("vantage_confidence", rows, |row| Some(f64::from(row.vantage.confidence))),
        integers("base_rtt_ns", rows, |row| row.base_rtt_ns.map(|span| span.0)),
        flags("handshake_complete", rows, |row| row.handshake.complete),
        integers("handshake_ns", rows, |row| row.handshake.duration_ns.map(|span| span.0)),
        words("outcome", rows, |row| row.outcome.outcome.map(|outcome| outcome.name())),
        integers("stalls", rows, |row| Some(row.stalls.len() as i64)),
        integers("lost_ns", rows, |row| Some(row.lost().0)),
        integers("exchanges", rows, |row| signed(row.connection.exchanges)),
        words("closed_by", rows, |row| row.connection.closed_by.map(|end| end.name())),
        integers("idle_before_close_ns", rows, |row| row.connection.idle_before_close_ns.map(|span| span.0)),
        integers("rtt_spikes", rows, |row| signed(row.rtt_spikes.len() as u64 + row.rtt_spikes_dropped)),
        flags("at_end", rows, |row| row.at_end),
    ];
    columns.extend(trust(rows));
    let of = |sender: End| direction(sender, rows).into_iter().chain(losses(sender, rows));
    columns.extend(End::BOTH.into_iter().flat_map(of));
    columns.extend(End::BOTH.into_iter().flat_map(|sender| syn_columns(sender, rows)));
    columns.extend(Owner::all().map(|owner| {
        let name = format!("time_{}_ns", owner.name().replace('-', "_"));
        integers(name, rows, |row| Some(row.time_ns.of(owner).0))
    }));
    columns
}

/// One of the names that a flow carries.
pub(super) fn named<'r>(row: &'r FlowRow, of: impl Fn(&'r FlowNames) -> &'r Option<String>) -> Option<&'r str> {
    row.names.as_ref().and_then(|names| of(names).as_deref())
}

fn trust(rows: &[FlowRow]) -> [Column; 12] {
    let known = |scale: ScaleKnown| Some(scale.name());
    [
        words("trust_level", rows, |row| Some(row.trust.level.name())),
        joined("trust_reasons", rows, " ", |row| &row.trust.reasons),
        words("trust_handshake", rows, |row| Some(row.trust.handshake)),
        words("trust_client_window_scale", rows, |row| known(row.trust.window_scale.client)),
        words("trust_server_window_scale", rows, |row| known(row.trust.window_scale.server)),
        integers("trust_client_offloaded_frames", rows, |row| signed(row.trust.offloaded_frames.client)),
        integers("trust_server_offloaded_frames", rows, |row| signed(row.trust.offloaded_frames.server)),
        integers("trust_duplicates_removed", rows, |row| signed(row.trust.duplicates_removed)),
        integers("trust_unseen_bytes", rows, |row| signed(row.trust.unseen_bytes)),
        reals("trust_unseen_share", rows, |row| row.trust.unseen_share),
        integers("trust_clock_steps", rows, |row| signed(row.trust.clock_steps)),
        integers("trust_options_cut", rows, |row| signed(row.trust.options_cut)),
    ]
}

fn direction(sender: End, rows: &[FlowRow]) -> [Column; 23] {
    let name = |field: &str| format!("{}_{field}", sender.name());
    [
        integers(name("bytes"), rows, |row| signed(row.directions.of(sender).bytes)),
        integers(name("segments"), rows, |row| signed(row.directions.of(sender).segments)),
        integers(name("mss_bytes"), rows, |row| row.directions.of(sender).mss_bytes.map(i64::from)),
        integers(name("window_scale"), rows, |row| row.directions.of(sender).window_scale.map(i64::from)),
        integers(name("initial_window_bytes"), rows, |row| {
            row.directions.of(sender).initial_window_bytes.and_then(signed)
        }),
        integers(name("announced_window_bytes"), rows, |row| {
            row.directions.of(sender).announced_window_bytes.and_then(signed)
        }),
        integers(name("rtt_p50_ns"), rows, |row| row.directions.of(sender).rtt_p50_ns.map(|span| span.0)),
        integers(name("rtt_p95_ns"), rows, |row| row.directions.of(sender).rtt_p95_ns.map(|span| span.0)),
        integers(name("max_in_flight_bytes"), rows, |row| signed(row.directions.of(sender).max_in_flight_bytes)),
        integers(name("retransmitted_bytes"), rows, |row| signed(row.directions.of(sender).retransmitted_bytes)),
        integers(name("busy_ns"), rows, |row| row.directions.of(sender).busy_ns.map(|span| span.0)),
        integers(name("rwnd_limited_ns"), rows, |row| row.directions.of(sender).rwnd_limited_ns.map(|span| span.0)),
        integers(name("bottleneck_bytes_per_s"), rows, |row| {
            row.directions.of(sender).path.bottleneck_bytes_per_s.and_then(signed)
        }),
        integers(name("bdp_bytes"), rows, |row| row.directions.of(sender).path.bdp_bytes.and_then(signed)),
        integers(name("queue_delay_ns"), rows, |row| row.directions.of(sender).path.queue_delay_ns.map(|span| span.0)),
        integers(name("bandwidth_limited_ns"), rows, |row| Some(row.directions.of(sender).path.bandwidth_limited_ns.0)),
        integers(name("timeouts"), rows, |row| Some(i64::from(row.directions.of(sender).repair.timeouts))),
        integers(name("fast_retransmits"), rows, |row| {
            Some(i64::from(row.directions.of(sender).repair.fast_retransmits))
        }),
        integers(name("tail_probes"), rows, |row| Some(i64::from(row.directions.of(sender).repair.tail_probes))),
        integers(name("needless_retransmissions"), rows, |row| {
            Some(i64::from(row.directions.of(sender).repair.needless_retransmissions))
        }),
        integers(name("reordered_segments"), rows, |row| {
            Some(i64::from(row.directions.of(sender).repair.reordered_segments))
        }),
        integers(name("reordering_bytes"), rows, |row| signed(row.directions.of(sender).repair.reordering_bytes)),
        integers(name("reordering_ns"), rows, |row| Some(row.directions.of(sender).repair.reordering_ns.0)),
    ]
}

fn losses(sender: End, rows: &[FlowRow]) -> [Column; 6] {
    let name = |field: &str| format!("{}_{field}", sender.name());
    let of = |row: &FlowRow| row.directions.of(sender).losses;
    [
        integers(name("losses"), rows, |row| of(row).map(|losses| losses.counted.into())),
        integers(name("losses_queued"), rows, |row| of(row).map(|losses| losses.queued.into())),
        integers(name("losses_unqueued"), rows, |row| of(row).map(|losses| losses.unqueued.into())),
        integers(name("loss_queue_ns"), rows, |row| of(row)?.queue_ns.map(|queue| queue.0)),
        integers(name("loss_limit_bytes"), rows, |row| of(row)?.limit_bytes.and_then(signed)),
        integers(name("loss_rate_bytes_per_s"), rows, |row| of(row)?.rate_bytes_per_s.and_then(signed)),
    ]
}

/// Table with one burst per row.
pub fn bursts(rows: &[FlowRow]) -> Columns {
    let all: Vec<(u64, &BurstRow)> =
        rows.iter().flat_map(|flow| flow.bursts.iter().flatten().map(move |burst| (flow.id, burst))).collect();
    vec![
        integers("flow", &all, |row| signed(row.0)),
        words("sender", &all, |row| Some(row.1.sender.name())),
        integers("start_ns", &all, |row| Some(row.1.start_ns.0)),
        integers("end_ns", &all, |row| Some(row.1.end_ns.0)),
        integers("bytes", &all, |row| signed(row.1.bytes)),
        integers("segments", &all, |row| signed(row.1.segments)),
        integers("in_flight_bytes", &all, |row| signed(row.1.in_flight_bytes)),
    ]
}

/// Numbers that few stalls have.
fn rare(name: &'static str, all: &[(u64, &StallRow)], number: impl Fn(&RareEvidence) -> Option<u64>) -> Column {
    integers(name, all, |row| row.1.evidence.rare.get(&number).and_then(signed))
}

/// Table with one stall per row.
pub fn stalls(rows: &[FlowRow]) -> Columns {
    let all: Vec<(u64, &StallRow)> =
        rows.iter().flat_map(|flow| flow.stalls.iter().map(move |stall| (flow.id, stall))).collect();
    vec![
        integers("flow", &all, |row| signed(row.0)),
        integers("stall", &all, |row| signed(row.1.number)),
        words("sender", &all, |row| Some(row.1.sender.name())),
        integers("start_ns", &all, |row| Some(row.1.start_ns.0)),
        integers("end_ns", &all, |row| Some(row.1.end_ns.0)),
        integers("duration_ns", &all, |row| Some(row.1.duration_ns.0)),
        flags("ended", &all, |row| row.1.ended),
        words("cause", &all, |row| Some(row.1.cause.name())),
        words("detail", &all, |row| Some(row.1.detail).filter(|detail| !detail.is_empty())),
        reals("confidence", &all, |row| Some(f64::from(row.1.confidence))),
        joined("also", &all, " ", |row| row.1.also.iter().map(|cause| cause.name())),
        joined("missing", &all, "; ", |row| &row.1.missing),
        integers("in_flight_bytes", &all, |row| row.1.evidence.in_flight_bytes.and_then(signed)),
        integers("in_flight_segments", &all, |row| row.1.evidence.in_flight_segments.and_then(signed)),
        integers("peer_window_bytes", &all, |row| row.1.evidence.peer_window_bytes.and_then(signed)),
        integers("window_unused_bytes", &all, |row| row.1.evidence.window_unused_bytes),
        integers("cwnd_estimate_segments", &all, |row| row.1.evidence.cwnd_estimate_segments.and_then(signed)),
        integers("burst_bytes", &all, |row| row.1.evidence.burst_bytes.and_then(signed)),
        integers("last_packet", &all, |row| number(row.1.evidence.last_packet)),
        integers("freed_by_packet", &all, |row| number(row.1.evidence.freed_by_packet)),
        integers("next_packet", &all, |row| number(row.1.evidence.next_packet)),
        rare("ceiling_bytes_per_s", &all, |rare| rare.ceiling.ceiling_bytes_per_s),
        rare("buffer_low_bytes", &all, |rare| rare.ceiling.buffer_low_bytes),
        rare("buffer_high_bytes", &all, |rare| rare.ceiling.buffer_high_bytes),
        rare("buffer_needed_bytes", &all, |rare| rare.ceiling.buffer_needed_bytes),
        rare("drain_bytes_per_s", &all, |rare| rare.receiver.drain_bytes_per_s),
        rare("window_probes", &all, |rare| rare.window_probes),
        rare("probes_unanswered", &all, |rare| rare.receiver.probes_unanswered),
        rare("extra_round_trips", &all, |rare| rare.extra_round_trips),
        integers("base_rtt_ns", &all, |row| row.1.round_trip.base_rtt_ns.map(|span| span.0)),
        integers("excess_ns", &all, |row| row.1.round_trip.excess_ns.map(|span| span.0)),
        words("excess_owner", &all, |row| row.1.round_trip.excess_owner.map(|owner| owner.name())),
        rare("timeouts", &all, |rare| rare.repair.timeouts),
        rare("needless_retransmissions", &all, |rare| rare.repair.needless_retransmissions),
        rare("congestion_point_bytes", &all, |rare| rare.repair.congestion_point_bytes),
    ]
}

/// Table with one exchange per row; the parts of each phase are added up.
pub fn exchanges(rows: &[FlowRow]) -> Columns {
    let all: Vec<(u64, &Exchange)> =
        rows.iter().flat_map(|flow| flow.exchanges.iter().flatten().map(move |exchange| (flow.id, exchange))).collect();
    let mut columns = vec![
        integers("flow", &all, |row| signed(row.0)),
        words("requester", &all, |row| Some(row.1.requester.name())),
        integers("start_ns", &all, |row| Some(row.1.start_ns.0)),
        integers("end_ns", &all, |row| Some(row.1.end_ns.0)),
        integers("latency_ns", &all, |row| Some(row.1.latency_ns.0)),
        reals("round_trips", &all, |row| row.1.round_trips),
        integers("request_bytes", &all, |row| signed(row.1.request_bytes)),
        integers("response_bytes", &all, |row| signed(row.1.response_bytes)),
        flags("complete", &all, |row| row.1.complete),
        integers("overlaps", &all, |row| Some(i64::from(row.1.overlaps))),
    ];
    columns.extend(Phase::ALL.map(|phase| {
        let name = format!("{}_ns", phase.name());
        integers(name, &all, |row| Some(row.1.of(phase).0))
    }));
    columns
}

/// Table with one captured segment per row.
pub fn segments(rows: &[Segment]) -> Columns {
    let sacks = |row: &Segment| {
        let blocks = row.sack_blocks().iter().map(|block| format!("{}-{}", block.left.0, block.right.0));
        blocks.collect::<Vec<_>>().join(" ")
    };
    vec![
        integers("packet", rows, |row| signed(row.packet.0)),
        integers("time_ns", rows, |row| Some(row.time.0)),
        addresses("source", rows, |row| row.source.address),
        integers("source_port", rows, |row| Some(i64::from(row.source.port))),
        addresses("destination", rows, |row| row.destination.address),
        integers("destination_port", rows, |row| Some(i64::from(row.destination.port))),
        integers("seq", rows, |row| Some(i64::from(row.seq.0))),
        integers("ack", rows, |row| Some(i64::from(row.ack.0))),
        integers("flags", rows, |row| Some(i64::from(row.flags.0))),
        integers("window", rows, |row| Some(i64::from(row.window))),
        integers("bytes", rows, |row| Some(i64::from(row.payload))),
        integers("mss", rows, |row| row.mss.map(i64::from)),
        integers("window_scale", rows, |row| row.window_scale.map(i64::from)),
        flags("sack_permitted", rows, |row| row.sack_permitted),
        integers("ts_value", rows, |row| row.timestamps.map(|stamps| i64::from(stamps.value))),
        integers("ts_echo", rows, |row| row.timestamps.map(|stamps| i64::from(stamps.echo))),
        texts("sacks", rows, |row| Some(sacks(row))),
        integers("ip_id", rows, |row| row.ip_id.map(i64::from)),
        integers("ttl", rows, |row| row.ttl.map(i64::from)),
    ]
}

/// One segment of a flow with the sender's state after it, as input to plots.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Time of the segment, nanoseconds.
    pub time_ns: i64,
    /// Packet number.
    pub packet: u64,
    /// Sender of the segment.
    pub sender: End,
    /// `data`, `retransmission`, `ack`, `probe`.
    pub kind: &'static str,
    /// First byte, relative to the ISN.
    pub seq: i64,
    /// Payload bytes.
    pub bytes: i64,
    /// Acknowledged offset of the other direction.
    pub ack: Option<i64>,
    /// Right edge of the peer's window for this sender's data.
    pub edge: Option<i64>,
    /// Bytes in flight of this sender after the segment.
    pub in_flight: i64,
    /// The model's congestion window, bytes.
    pub cwnd: Option<i64>,
    /// First SACK block, relative to the data's sender.
    pub sack: Option<(i64, i64)>,
    /// The round trip that an ACK measured for the sender since the previous row.
    pub rtt: Option<i64>,
}

/// Table with one sample per row.
pub fn samples(rows: &[Sample]) -> Columns {
    vec![
        integers("time_ns", rows, |row| Some(row.time_ns)),
        integers("packet", rows, |row| signed(row.packet)),
        words("sender", rows, |row| Some(row.sender.name())),
        words("kind", rows, |row| Some(row.kind)),
        integers("seq", rows, |row| Some(row.seq)),
        integers("bytes", rows, |row| Some(row.bytes)),
        integers("ack", rows, |row| row.ack),
        integers("edge", rows, |row| row.edge),
        integers("in_flight_bytes", rows, |row| Some(row.in_flight)),
        integers("cwnd_bytes", rows, |row| row.cwnd),
        integers("sack_left", rows, |row| row.sack.map(|block| block.0)),
        integers("sack_right", rows, |row| row.sack.map(|block| block.1)),
        integers("rtt_ns", rows, |row| row.rtt),
    ]
}

fn syn_columns(sender: End, rows: &[FlowRow]) -> [Column; 7] {
    let of = |row: &FlowRow| row.directions.of(sender).syn;
    let name = |field: &str| format!("{}_{field}", sender.name());
    [
        integers(name("syns"), rows, |row| signed(of(row).count.into())),
        integers(name("syn_ttl"), rows, |row| of(row).ttl.map(i64::from)),
        integers(name("syn_window_bytes"), rows, |row| of(row).window_bytes.map(i64::from)),
        integers(name("syn_mss_bytes"), rows, |row| of(row).mss_bytes.map(i64::from)),
        known_flags(name("sack_permitted"), rows, |row| of(row).sack_permitted),
        known_flags(name("timestamps"), rows, |row| of(row).timestamps),
        known_flags(name("ecn"), rows, |row| of(row).ecn),
    ]
}
