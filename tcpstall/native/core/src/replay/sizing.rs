//! Sizes that follow from what was observed: bytes in flight for a rate, windows, initial windows.

use serde::Serialize;

use super::record::Record;
use crate::tables::Side;

/// Truesize of a buffer with one segment over its payload: 2304 for 1448 (Linux SKB_TRUESIZE); SO_SNDBUF is doubled.
const OVERHEAD: f64 = 2304.0 / 1448.0 / 2.0;

/// What one direction's data would need.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// Whose data.
    pub sender: Side,
    /// The rate that the path was seen to carry at most, payload bytes per second; `None` where nothing shows it.
    pub rate_bytes_per_s: Option<u64>,
    /// That rate times the base round trip: what must be in flight, and the least window for it.
    pub bdp_bytes: Option<u64>,
    /// The SO_SNDBUF that holds as much, should it have to be set: with one segment a buffer; the kernel doubles it.
    pub sndbuf_bytes: Option<u64>,
    /// The largest window that the peer announced.
    pub peer_window_bytes: Option<u64>,
    /// The peer's first window: an initial window beyond it changes nothing.
    pub first_window_bytes: Option<u64>,
    /// Bytes of the largest answer (or request, for the client).
    pub largest_message_bytes: Option<u64>,
    /// The initial window that lets it go in one round trip, segments.
    pub initcwnd_segments: Option<u64>,
    /// The peer's first window stops it before that.
    pub window_binds_first: bool,
}

/// Of both directions that carried data, the client's first.
pub(super) fn sizing(record: &Record) -> Vec<Sizing> {
    let rows = [(Side::Client, &record.row.directions.client), (Side::Server, &record.row.directions.server)];
    rows.into_iter()
        .enumerate()
        .filter(|(_, (_, row))| row.bytes > 0)
        .map(|(end, (sender, row))| {
            let path = row.path;
            let windows = || {
                let peer = record.passings.iter().filter(move |passing| passing.sender as usize == 1 - end);
                peer.filter_map(|passing| Some((passing.ack?, passing.edge?)))
                    .map(|(ack, edge)| (ack, (edge - ack).max(0) as u64))
            };
            let exchanges = record.row.exchanges.iter().flatten();
            let message =
                exchanges.map(|exchange| if end == 0 { exchange.request_bytes } else { exchange.response_bytes });
            let largest = message.max().filter(|bytes| *bytes > 0);
            let first = windows().filter(|(ack, _)| *ack <= 1).map(|(_, window)| window).max();
            Sizing {
                sender,
                rate_bytes_per_s: path.bottleneck_bytes_per_s,
                bdp_bytes: path.bdp_bytes,
                sndbuf_bytes: path.bdp_bytes.map(|bytes| (bytes as f64 * OVERHEAD) as u64),
                peer_window_bytes: windows().map(|(_, window)| window).max(),
                first_window_bytes: first,
                largest_message_bytes: largest,
                initcwnd_segments: largest.map(|bytes| bytes.div_ceil(record.mss[end] as u64)),
                window_binds_first: first.zip(largest).is_some_and(|(window, bytes)| window < bytes),
            }
        })
        .collect()
}
