//! Computes sizes from observed values: bytes in flight for a rate, windows, initial windows.

use serde::Serialize;

use super::record::Record;
use crate::results::Direction;

/// Smallest size that is worth setting: Linux's default for a new socket (second value of tcp_wmem).
const LEAST_SIZE: u64 = 16 << 10;

/// The next round size: quarters of powers of two, at least [`LEAST_SIZE`].
fn sensible(bytes: u64) -> u64 {
    let bytes = bytes.clamp(LEAST_SIZE, 1 << 40);
    bytes.next_multiple_of((bytes.next_power_of_two() / 8).max(1))
}

/// Sizes for one direction's data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// Sender of the data.
    pub sender: Direction,
    /// Largest rate that the path was seen to carry, payload bytes per second; `None` without evidence.
    pub rate_bytes_per_s: Option<u64>,
    /// That rate times the base round trip: the necessary flight, and the smallest window for it.
    pub bdp_bytes: Option<u64>,
    /// SO_SNDBUF for that flight, in case it has to be set, and for no less than the largest flight. With one segment
    /// per buffer a little over half of the memory is payload (Linux SKB_TRUESIZE: 2304 for 1448), and the kernel
    /// doubles the option.
    pub sndbuf_bytes: Option<u64>,
    /// The largest window that the peer announced.
    pub peer_window_bytes: Option<u64>,
    /// The peer's first window: an initial window beyond it changes nothing.
    pub first_window_bytes: Option<u64>,
    /// Size of the largest answer (or request, for the client), bytes.
    pub largest_message_bytes: Option<u64>,
    /// The initial window that transfers it in one round trip, segments.
    pub initcwnd_segments: Option<u64>,
    /// The peer's first window is reached before that.
    pub window_binds_first: bool,
}

/// Sizes of both directions that carried data, the client's first.
pub(super) fn sizing(record: &Record) -> Vec<Sizing> {
    let rows = [(Direction::Client, &record.row.directions.client), (Direction::Server, &record.row.directions.server)];
    rows.into_iter()
        .enumerate()
        .filter(|(_, (_, row))| row.bytes > 0)
        .map(|(end, (sender, row))| {
            let path = row.path;
            let life = (record.row.end_ns - record.row.start_ns).0.max(1);
            let mean = (row.bytes as f64 * 1e9 / life as f64) as u64;
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
                rate_bytes_per_s: path.bottleneck_bytes_per_s.map(|rate| rate.max(mean)),
                bdp_bytes: path.bdp_bytes,
                sndbuf_bytes: path.bdp_bytes.map(|bytes| sensible(bytes.max(row.max_in_flight_bytes))),
                peer_window_bytes: windows().map(|(_, window)| window).max(),
                first_window_bytes: first,
                largest_message_bytes: largest,
                initcwnd_segments: largest.map(|bytes| bytes.div_ceil(record.mss[end] as u64)),
                window_binds_first: first.zip(largest).is_some_and(|(window, bytes)| window < bytes),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_what_somebody_would_write() {
        let kilo = |bytes: u64| sensible(bytes) as f64 / 1024.0;
        assert_eq!([506, 16_384, 16_385, 24_098, 40_000, 65_537].map(kilo), [16.0, 16.0, 20.0, 24.0, 40.0, 80.0]);
        assert!(sensible(u64::MAX) >= 1 << 40);
    }
}
