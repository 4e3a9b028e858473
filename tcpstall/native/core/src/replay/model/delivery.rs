//! Delivery rate of a sender: segments that arrived since a segment was sent, over the time that this took
//! (draft-cheng-iccrg-delivery-rate-estimation, Linux tcp_rate.c).

use crate::time::Nanos;

/// State of the delivery at a transmission.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    /// Time of this transmission.
    sent: Nanos,
    /// Segments delivered before.
    pub(super) delivered: u64,
    /// Time when the last of these was acknowledged.
    delivered_at: Nanos,
    /// Transmission of the segment whose acknowledgement that was.
    first_sent: Nanos,
    /// The application had not written enough to fill the window.
    limited: bool,
}

/// A measured rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSample {
    /// Segments per nanosecond; `None` where the time is too short to be true.
    pub(super) rate: Option<f64>,
    /// Segments delivered before the newest arrived segment was sent.
    pub(super) prior: u64,
    /// The application had not written enough then.
    pub(super) limited: bool,
}

/// Deliveries of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    /// Segments delivered.
    pub(super) delivered: u64,
    delivered_at: Nanos,
    first_sent: Nanos,
    /// Deliveries until which samples are too small, because the application had nothing to send.
    limited_until: Option<u64>,
}

impl Delivery {
    /// The stamp of a transmission; `idle` if nothing is outstanding.
    pub(super) fn stamps(&mut self, now: Nanos, idle: bool) -> Stamp {
        if idle {
            (self.delivered_at, self.first_sent) = (now, now);
        }
        let Delivery { delivered, delivered_at, first_sent, limited_until } = *self;
        Stamp { sent: now, delivered, delivered_at, first_sent, limited: limited_until.is_some() }
    }

    /// Takes in that `segments` arrived, the last of them sent with `stamp`; a time below `least` is no rate.
    pub(super) fn delivers(&mut self, segments: u32, stamp: Stamp, now: Nanos, least: Nanos) -> RateSample {
        self.delivered += u64::from(segments);
        self.delivered_at = now;
        self.first_sent = stamp.sent;
        self.limited_until = self.limited_until.filter(|until| self.delivered <= *until);
        let span = (stamp.sent - stamp.first_sent).max(now - stamp.delivered_at);
        let arrived = (self.delivered - stamp.delivered) as f64;
        let rate = (span >= least && span > Nanos::ZERO).then(|| arrived / span.0 as f64);
        RateSample { rate, prior: stamp.delivered, limited: stamp.limited }
    }

    /// Takes in that the application leaves the window unfilled with `in_flight` segments.
    pub(super) fn is_limited(&mut self, in_flight: u32) {
        self.limited_until = Some((self.delivered + u64::from(in_flight)).max(1));
    }

    /// True while samples are too small for the path.
    pub(super) fn limited(&self) -> bool {
        self.limited_until.is_some()
    }
}
