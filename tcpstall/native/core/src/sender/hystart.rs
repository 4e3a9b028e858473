//! HyStart: ends CUBIC's slow start on Linux before a loss.

use super::ack_sample::AckSample;
use crate::time::Nanos;

/// Smallest window that leaves slow start by HyStart: Linux hystart_low_window.
const LOW_WINDOW: f64 = 16.0;
/// Largest spacing of ACKs in one train: Linux hystart_ack_delta.
const ACK_DELTA: Nanos = Nanos::from_millis(2);
/// Largest value of Linux hystart_ack_delay, which is the time of four TSO frames at the pacing rate of two windows per
/// round trip.
const LONGEST_ACK_DELAY: Nanos = Nanos::from_millis(1);
/// Four TSO frames of 64 KB in segments of an Ethernet frame.
const FOUR_FRAMES: f64 = 4.0 * 45.0;
/// Round trips measured before a rise counts: Linux HYSTART_MIN_SAMPLES.
const MIN_SAMPLES: u32 = 8;
/// Bounds of the rise that ends slow start, which is an eighth of the smallest round trip: Linux HYSTART_DELAY_THRESH.
const DELAY_THRESHOLD: (Nanos, Nanos) = (Nanos::from_millis(4), Nanos::from_millis(16));

/// State of HyStart. Ha and Rhee, "Taming the elephants", 2011; Linux net/ipv4/tcp_cubic.c, `hystart_update`.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct HyStart {
    round_end: i64,
    round_start: Nanos,
    last_ack: Nanos,
    samples: u32,
    round_least: Option<Nanos>,
    absent: bool,
}

impl HyStart {
    /// Takes in that the sender sent more than HyStart would have allowed.
    pub(super) fn is_absent(&mut self) {
        self.absent = true;
    }

    /// Forgets the round.
    pub(super) fn restart(&mut self) {
        *self = HyStart { absent: self.absent, ..HyStart::default() };
    }

    /// True if this ACK ends slow start at `window` segments: a train of ACKs half as long as the round trip, or a round
    /// trip that has risen.
    pub(super) fn ends_slow_start(&mut self, window: f64, ack: &AckSample) -> bool {
        let (Some(sample), Some(least)) = (ack.sample, ack.least) else { return false };
        if self.absent {
            return false;
        }
        if ack.snd_una > self.round_end {
            self.round_end = ack.snd_nxt;
            (self.round_start, self.last_ack) = (ack.now, ack.now);
            (self.samples, self.round_least) = (0, None);
        }
        if window < LOW_WINDOW {
            return false;
        }
        if ack.now - self.last_ack <= ACK_DELTA {
            self.last_ack = ack.now;
            let ack_delay = least.scaled(FOUR_FRAMES / (2.0 * window)).min(LONGEST_ACK_DELAY);
            if ack.now - self.round_start > least.plus(ack_delay).part(2) {
                return true;
            }
        }
        let round_least = self.round_least.map_or(sample, |least| least.min(sample));
        self.round_least = Some(round_least);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let (low, high) = DELAY_THRESHOLD;
        round_least > least.plus(least.part(8).max(low).min(high))
    }
}
