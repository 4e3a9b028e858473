//! CUBIC's growth in congestion avoidance, as Linux computes it.

use super::ack_sample::AckSample;
use crate::time::Nanos;

/// CUBIC's multiplicative decrease, 717/1024 in Linux (RFC 9438 §4.6 says 0.7).
pub(super) const CUBIC_BETA: f64 = 717.0 / 1024.0;
/// CUBIC's scaling constant, segments per cubic second (RFC 9438 §5).
const CUBIC_C: f64 = 0.4;
/// Most acknowledged segments per segment of growth before the first loss: 20 (Linux bictcp_update).
const SLOWEST_BEFORE_LOSS: f64 = 20.0;
/// Fewest acknowledged segments per segment of growth: two (Linux bictcp_update).
const FASTEST: f64 = 2.0;

/// State of one congestion avoidance epoch.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Cubic {
    /// The window at the last loss, 0 before the first.
    last_max: f64,
    epoch: Option<Epoch>,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Epoch {
    start: Nanos,
    origin: f64,
    /// Seconds from the epoch's start to the origin.
    k: f64,
    /// The window that Reno would have (RFC 9438 §4.3).
    reno: f64,
}

impl Cubic {
    /// Starts a new epoch with the next growth.
    pub(super) fn restart(&mut self) {
        self.epoch = None;
    }

    /// Takes in a loss at this window, segments; with fast convergence (RFC 9438 §4.7).
    pub(super) fn on_loss(&mut self, window: f64) {
        self.last_max = if window < self.last_max { window * (1.0 + CUBIC_BETA) / 2.0 } else { window };
        self.epoch = None;
    }

    /// Growth of the window for `acked` segments, segments (RFC 9438 §4.2 to §4.4).
    pub(super) fn growth(&mut self, window: f64, acked: u32, ack: &AckSample) -> f64 {
        let last_max = self.last_max;
        let epoch = self.epoch.get_or_insert_with(|| {
            let origin = last_max.max(window);
            Epoch { start: ack.now, origin, k: ((origin - window) / CUBIC_C).cbrt(), reno: window }
        });
        let acked = f64::from(acked);
        let age = (ack.now - epoch.start + ack.least.unwrap_or_default()).0 as f64 / 1e9;
        let target = epoch.origin + CUBIC_C * (age - epoch.k).powi(3);
        let mut per_segment = if target > window { window / (target - window) } else { 100.0 * window };
        if last_max == 0.0 {
            per_segment = per_segment.min(SLOWEST_BEFORE_LOSS);
        }
        // RFC 9438 §4.3: Reno with the same decrease grows by 3(1-b)/(1+b) segments per round trip.
        epoch.reno += 3.0 * (1.0 - CUBIC_BETA) / (1.0 + CUBIC_BETA) * acked / window;
        if epoch.reno > window {
            per_segment = per_segment.min(window / (epoch.reno - window));
        }
        acked / per_segment.max(FASTEST)
    }
}
