//! Sizes to set, from observed values: the initial window, the send buffer, the link. Every command quotes these.

use super::cwnd::INITIAL_WINDOW;

/// Bytes that Linux 6 counts for a buffer beyond its payload: 47,424 for 46,592 in `skmem` w (SKB_TRUESIZE(0) and the
/// head that tcp_stream_alloc_skb allocates). With segmentation offload one buffer holds up to 64 KB, so this is the most
/// that a segment costs.
pub const SEGMENT_OVERHEAD: u64 = 832;
/// Segments of one burst at most, where the path's rate is not known: 145 KB, which gigabit ports hold.
const LARGEST_BURST: u64 = 100;
/// Smallest buffer that is worth setting, bytes: Linux's default for a new socket (second value of tcp_wmem).
pub const LEAST_SIZE: u64 = 16 << 10;
/// 1 Mbit/s in bytes per second: slower links are not sold.
const SLOWEST_LINK: u64 = 125_000;
/// Smallest speed-up of a link that is worth suggesting.
const FASTER: u64 = 2;

/// The limit that keeps an initial window from being larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowBound {
    /// The message fits whole.
    Response,
    /// The peer's receive window is full first.
    Window,
    /// More would only queue on the path.
    Path,
    /// The path's rate is not known, so no larger burst is suggested.
    Burst,
}

impl WindowBound {
    /// Name in Python.
    pub const fn name(self) -> &'static str {
        match self {
            WindowBound::Response => "response",
            WindowBound::Window => "window",
            WindowBound::Path => "path",
            WindowBound::Burst => "burst",
        }
    }
}

/// The initial window that sends a message in the first round trip, segments, as far as window and path allow.
///
/// `window` is the peer's window when the message begins: whole segments of it can be sent, whatever the congestion
/// window. `path_bdp` is the path's capacity without a queue, where that is known. All sizes are bytes.
pub fn initial_window(message: u64, mss: u64, window: Option<u64>, path_bdp: Option<u64>) -> (u64, WindowBound) {
    let mss = mss.max(1);
    let path = path_bdp.map(|bytes| (bytes.div_ceil(mss).max(u64::from(INITIAL_WINDOW)), WindowBound::Path));
    let limits = [
        Some((message.div_ceil(mss), WindowBound::Response)),
        window.map(|bytes| (bytes / mss, WindowBound::Window)),
        Some(path.unwrap_or((LARGEST_BURST, WindowBound::Burst))),
    ];
    let smallest = limits.into_iter().flatten().min_by_key(|(segments, _)| *segments);
    smallest.map_or((1, WindowBound::Response), |(segments, bound)| (segments.max(1), bound))
}

/// The SO_SNDBUF with which `flight` bytes can be in flight all the time, bytes.
///
/// Linux doubles the option (sk_setsockopt), counts truesizes, one segment a buffer in the worst case (sk_wmem_queued),
/// and wakes the writer once a third is free (sk_stream_write_space). No less than the flight: other systems count
/// payload alone.
pub fn so_sndbuf(flight: u64, mss: u64) -> u64 {
    let mss = mss.max(1);
    let counted = flight.div_ceil(mss).saturating_mul(mss + SEGMENT_OVERHEAD);
    counted.saturating_mul(3).div_ceil(4).max(flight).max(LEAST_SIZE)
}

/// Of the series 1, 2, 5, 10 … Mbit/s the next link of at least twice that rate, bytes per second.
pub fn faster_link(rate: u64) -> u64 {
    let least = rate.saturating_mul(FASTER);
    let mut decade = SLOWEST_LINK;
    loop {
        if let Some(step) = [1, 2, 5].into_iter().find(|step| decade.saturating_mul(*step) >= least) {
            return decade.saturating_mul(step);
        }
        decade = decade.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_is_the_initial_window() {
        assert_eq!(initial_window(30_000, 1_448, Some(65_160), None), (21, WindowBound::Response));
        assert_eq!(initial_window(524_583, 1_448, Some(65_160), None), (45, WindowBound::Window));
        assert_eq!(initial_window(524_583, 1_448, Some(1 << 20), Some(29_000)), (21, WindowBound::Path));
        assert_eq!(initial_window(524_583, 1_448, None, Some(1_000)), (10, WindowBound::Path));
        assert_eq!(initial_window(22_000_000, 1_448, None, None), (100, WindowBound::Burst));
        assert_eq!(initial_window(0, 0, Some(0), Some(0)), (1, WindowBound::Response));
    }

    #[test]
    fn two_thirds_of_a_doubled_send_buffer_hold_the_flight() {
        assert_eq!(so_sndbuf(21_720, 1_448), 25_650);
        assert_eq!([so_sndbuf(0, 0), so_sndbuf(16_000, 65_483)], [LEAST_SIZE, 49_737]);
        assert_eq!(so_sndbuf(u64::MAX, 1_448), u64::MAX);
    }

    #[test]
    fn links_are_asked_for_in_sizes_that_are_sold() {
        let mbit = |rate: u64| rate as f64 * 8.0 / 1e6;
        let asked = [0, 45_227, 62_501, 1_195_412, 6_250_000, u64::MAX].map(|rate| mbit(faster_link(rate)));
        assert_eq!(asked[..5], [1.0, 1.0, 2.0, 20.0, 100.0]);
        assert!(asked[5] > 1e12);
    }
}
