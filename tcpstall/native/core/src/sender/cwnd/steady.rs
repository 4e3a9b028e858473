//! The congestion window of a steady sender: nothing but growth.

use super::{CongestionPhase, Cwnd};

/// The window at some moment of a steady sender.
#[derive(Clone, Copy, Debug)]
pub struct Stance {
    window: f64,
    ssthresh: f64,
}

impl Stance {
    /// The congestion window, segments.
    pub fn segments(&self) -> u32 {
        self.window as u32
    }

    /// Phase of the congestion control.
    pub fn phase(&self) -> CongestionPhase {
        let slow_start = self.window < self.ssthresh;
        if slow_start { CongestionPhase::SlowStart } else { CongestionPhase::CongestionAvoidance }
    }
}

impl Cwnd {
    /// The ACK of new data can bring nothing but growth: no idle period, no repair is under way.
    pub fn is_steady(&self) -> bool {
        self.grown && !self.repairs() && self.before_idle.is_none() && self.unconfirmed.is_none()
    }

    /// The window and the threshold of slow start now.
    #[inline]
    pub fn stance(&self) -> Stance {
        Stance { window: self.window, ssthresh: self.ssthresh }
    }
}
