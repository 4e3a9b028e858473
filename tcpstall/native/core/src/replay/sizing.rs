//! Computes sizes from observed values: bytes in flight for a rate, windows, initial windows.

use serde::Serialize;

use super::record::Record;
use crate::flow::End;
use crate::results::FlowRow;
use crate::results::rows::DirectionRow;
use crate::sender::sizes::{initial_window, so_sndbuf};

/// Payload of an Ethernet frame with timestamps, where no segment size is known, bytes.
const USUAL_SEGMENT: u64 = 1_448;

/// Sizes for one direction's data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// Sender of the data.
    pub sender: End,
    /// Largest rate that the path was seen to carry, payload bytes per second; `None` without evidence.
    pub rate_bytes_per_s: Option<u64>,
    /// That rate times the base round trip: the necessary flight, and the smallest window for it.
    pub bdp_bytes: Option<u64>,
    /// SO_SNDBUF for that flight, in case it has to be set: for no less than the largest flight, and for no more than all
    /// that was sent.
    pub sndbuf_bytes: Option<u64>,
    /// The largest window that the peer announced.
    pub peer_window_bytes: Option<u64>,
    /// The peer's window when the sender waited first, otherwise its first: an initial window beyond it changes nothing.
    pub first_window_bytes: Option<u64>,
    /// Size of the largest answer (or request, for the client), bytes.
    pub largest_message_bytes: Option<u64>,
    /// The initial window to set for that message, or for all that was sent where there is no exchange, segments.
    pub initcwnd_segments: u64,
    /// The peer's first window is reached before that.
    pub window_binds_first: bool,
}

/// Sizes of both directions that carried data, the client's first.
pub(super) fn sizing(record: &Record) -> Vec<Sizing> {
    let rows = End::BOTH.map(|sender| (sender, record.row.directions.of(sender)));
    rows.into_iter()
        .filter(|(_, row)| row.bytes > 0)
        .map(|(sender, row)| {
            let path = row.path;
            let windows = || {
                let peer = record.passings.iter().filter(move |passing| passing.sender == sender.peer());
                peer.filter_map(|passing| Some((passing.ack?, passing.edge?)))
                    .map(|(ack, edge)| (ack, (edge - ack).max(0) as u64))
            };
            let exchanges = record.row.exchanges.iter().flatten();
            let message = exchanges.map(|exchange| match sender {
                End::Client => exchange.request_bytes,
                End::Server => exchange.response_bytes,
            });
            let largest = message.max().filter(|bytes| *bytes > 0);
            let waited = record.row.stalls.iter().filter(|stall| stall.sender == sender);
            let announced = || windows().filter(|(ack, _)| *ack <= 1).map(|(_, window)| window).max();
            let first = waited.filter_map(|stall| stall.evidence.peer_window_bytes).next().or_else(announced);
            let mss = row.mss_bytes.map_or(USUAL_SEGMENT, u64::from);
            Sizing {
                sender,
                rate_bytes_per_s: path.bottleneck_bytes_per_s.map(|rate| rate.max(carried(&record.row))),
                bdp_bytes: path.bdp_bytes,
                sndbuf_bytes: path.bdp_bytes.map(|bytes| so_sndbuf(flight(bytes, row), mss)),
                peer_window_bytes: windows().map(|(_, window)| window).max(),
                first_window_bytes: first,
                largest_message_bytes: largest,
                initcwnd_segments: initial_window(largest.unwrap_or(row.bytes), mss, first, path.bdp_bytes).0,
                window_binds_first: first.zip(largest).is_some_and(|(window, bytes)| window < bytes),
            }
        })
        .collect()
}

/// Bytes in flight to make room for: the path's, no less than were in flight already, no more than all that was sent.
fn flight(bdp: u64, row: &DirectionRow) -> u64 {
    bdp.min(row.bytes).max(row.max_in_flight_bytes)
}

/// Mean rate of the busier direction, bytes per second: no link of the path was slower.
pub(super) fn carried(row: &FlowRow) -> u64 {
    let life = (row.end_ns - row.start_ns).0.max(1) as u128;
    let bytes = row.directions.client.bytes.max(row.directions.server.bytes);
    u64::try_from(u128::from(bytes) * 1_000_000_000 / life).unwrap_or(u64::MAX)
}
