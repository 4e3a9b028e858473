//! The congestion window of a steady sender: nothing but growth.

use super::{CongestionPhase, Cwnd, TwoPerAck};

/// The window at some moment of a steady sender.
#[derive(Clone, Copy, Debug)]
pub struct Stance {
    window: f64,
    ssthresh: f64,
    two_per_ack: TwoPerAck,
}

impl Stance {
    /// The congestion window, segments.
    pub fn segments(&self) -> u32 {
        self.window as u32
    }

    /// The congestion window if each ACK counts for two segments at most, where the sender never had more out.
    pub fn two_per_ack(&self) -> Option<u32> {
        self.two_per_ack.segments()
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
        Stance { window: self.window, ssthresh: self.ssthresh, two_per_ack: self.two_per_ack }
    }
}
