//! Numbers for a buffer that held a sender back: its size, the rate that it allows, the size that is needed.

use crate::causes::details;
use crate::causes::{Cause, PausePart};
use crate::json::row;
use crate::pause::Pause;
use crate::time::Nanos;

/// Factor by which Linux enlarges SO_SNDBUF and SO_RCVBUF, to pay for overhead (socket(7)).
const DOUBLED: i64 = 2;
/// Largest buffer of one TSO frame (Linux GSO_LEGACY_MAX_SIZE), bytes: once begun it is filled, whatever the limit.
const LARGEST_FRAME: i64 = 65_536;
/// Smallest SO_SNDBUF option, bytes: Linux raises smaller ones to SOCK_MIN_SNDBUF (2 · (2048 + an sk_buff of 256))
/// before doubling.
const LEAST_SEND_BUFFER: i64 = 2_304;
/// Rounds at one level that make the level a plateau.
pub(in super::super) const PLATEAU_ROUNDS: usize = 3;
/// Largest part of its buffer that a window takes: tcp_adv_win_scale 2 leaves 3/4; 1 leaves 1/2, newer kernels measure
/// it.
const LARGEST_PART: (i64, i64) = (3, 4);

row! {
    /// Numbers for the team that sizes the buffer: SO_SNDBUF of the sender or SO_RCVBUF of its peer. Absent where they do
    /// not apply.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Ceiling {
        /// Rate that this flight per base round trip allows, bytes per second.
        #[json(if_any)]
        pub ceiling_bytes_per_s: Option<u64>,
        /// The smallest buffer option that fits the capture, bytes.
        #[json(if_any)]
        pub buffer_low_bytes: Option<u64>,
        /// The largest buffer option that fits the capture, bytes.
        #[json(if_any)]
        pub buffer_high_bytes: Option<u64>,
        /// The buffer option with which the next limit is reached first, or twice the flight where no limit is known,
        /// bytes.
        #[json(if_any)]
        pub buffer_needed_bytes: Option<u64>,
        /// Rate that this option would allow, bytes per second.
        #[json(if_any)]
        pub needed_bytes_per_s: Option<u64>,
    }
}

impl Ceiling {
    /// Numbers of a stall at a plateau of the sender's flight, or of the peer's window while its reader keeps up.
    pub fn of(pause: &Pause, part: &PausePart) -> Ceiling {
        match (part.cause, part.proof.detail) {
            (Cause::SndbufLimited, _) if pause.context.plateau_rounds as usize >= PLATEAU_ROUNDS => {
                Ceiling::new(pause, pause.context.plateau, send_buffer(pause.context.plateau), pause.largest_window)
            }
            (Cause::RwndLimited, details::SMALL_BUFFER) => match pause.window {
                Some(window) => Ceiling::new(pause, window, receive_buffer(window), congestion_window(pause)),
                None => Ceiling::default(),
            },
            _ => Ceiling::default(),
        }
    }

    /// Numbers of a wait for a send buffer whose flight swings below `level`.
    pub(in super::super) fn at_level(pause: &Pause, level: i64) -> Ceiling {
        Ceiling::new(pause, level, send_buffer(level), pause.largest_window)
    }

    /// The same numbers with twice the flight as the needed size, whatever the next limit allows.
    pub(in super::super) fn twice(&self) -> Option<Ceiling> {
        let (now, needed) = self.ceiling_bytes_per_s.zip(self.needed_bytes_per_s)?;
        let flight = self.buffer_needed_bytes? as f64 * now as f64 / needed.max(1) as f64;
        let needed = Some(2 * flight.round() as u64);
        Some(Ceiling { buffer_needed_bytes: needed, needed_bytes_per_s: Some(2 * now), ..*self })
    }

    /// Computes the numbers; `next` is the flight that the next limit allows. The buffer option for that flight has its
    /// size: the kernel's doubling pays for truesize ÷ payload of a segment in the buffer, and for the half of the
    /// buffer that a window may take.
    fn new(pause: &Pause, flight: i64, (low, high): (i64, i64), next: i64) -> Ceiling {
        let needed = next.max(2 * flight);
        Ceiling {
            ceiling_bytes_per_s: rate(flight, pause.base_rtt),
            buffer_low_bytes: Some(low.max(0) as u64),
            buffer_high_bytes: Some(high.max(0) as u64),
            buffer_needed_bytes: Some(needed.max(0) as u64),
            needed_bytes_per_s: rate(needed, pause.base_rtt),
        }
    }
}

/// Range of the send buffer option for a plateau (Linux sk_stream_wait_memory): a writer is blocked once truesize, 1.0
/// to 2.0 times the payload, reaches the doubled option. One more buffer may be filled, and its size is not visible on
/// the wire (software segmentation).
fn send_buffer(plateau: i64) -> (i64, i64) {
    (((plateau - LARGEST_FRAME) / DOUBLED).max(LEAST_SEND_BUFFER).min(plateau), plateau)
}

fn receive_buffer(window: i64) -> (i64, i64) {
    (window * LARGEST_PART.1 / (LARGEST_PART.0 * DOUBLED), window)
}

fn congestion_window(pause: &Pause) -> i64 {
    if pause.cwnd_known { i64::from(pause.cwnd) * i64::from(pause.mss) } else { 0 }
}

fn rate(bytes: i64, rtt: Option<Nanos>) -> Option<u64> {
    rtt.filter(|rtt| *rtt > Nanos::ZERO).map(|rtt| (bytes.max(0) as f64 * 1e9 / rtt.0 as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_says_which_part_of_its_buffer_a_window_is() {
        let documentation = Cause::RwndLimited.info().documentation(&crate::causes::Limits::default());
        assert!((LARGEST_PART, DOUBLED) == ((3, 4), 2) && documentation.contains("1/2 to 3/4 of twice that"));
    }
}
