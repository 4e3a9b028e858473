//! Senders that pace by the rate that they measure: either version of BBR.

use super::bbr::{Bbr, Delivered};
use super::bbr3::Bbr3;
use super::delivery::{Delivery, RateSample};
use crate::replay::setup::Control;
use crate::replay::setup::{HostSetup, Setup};
use crate::time::Nanos;

/// Transmissions that are not paced, segments (Linux tcp_update_skb_after_send).
const UNPACED: u64 = 10;

/// State of such a sender.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    sent: u64,
    version: Version,
}

#[derive(Clone, Debug)]
enum Version {
    One(Bbr),
    Three(Box<Bbr3>),
}

impl Measured {
    /// The state of an end's new connection, if its congestion control is of this kind.
    pub(super) fn new(setup: &Setup, own: &HostSetup) -> Option<Measured> {
        let (initial, rtt, mss) = (own.initial_window, setup.rtt, own.mss);
        let version = match own.control {
            Control::Bbr => Version::One(Bbr::new(initial, rtt, mss)),
            Control::Bbr3 => Version::Three(Box::new(Bbr3::new(initial, rtt, mss))),
            Control::Reno | Control::Cubic => return None,
        };
        Some(Measured { sent: 0, version })
    }

    pub(super) fn again(self) -> Measured {
        let version = match self.version {
            Version::One(own) => Version::One(own.again()),
            Version::Three(own) => Version::Three(Box::new(own.again())),
        };
        Measured { version, ..self }
    }

    pub(super) fn delivery(&mut self) -> &mut Delivery {
        match &mut self.version {
            Version::One(own) => &mut own.delivery,
            Version::Three(own) => &mut own.delivery,
        }
    }

    pub(super) fn segments(&self) -> u32 {
        match &self.version {
            Version::One(own) => own.segments(),
            Version::Three(own) => own.segments(),
        }
    }

    /// Pacing rate, bytes of payload per second; `None` for the first flight.
    pub(super) fn pace(&self) -> Option<f64> {
        let pace = match &self.version {
            Version::One(own) => own.pace(),
            Version::Three(own) => own.pace(),
        };
        (self.sent >= UNPACED).then_some(pace)
    }

    /// A segment was sent.
    pub(super) fn sends(&mut self) {
        self.sent += 1;
    }

    pub(super) fn writes(&mut self, in_flight: u32, now: Nanos) {
        match &mut self.version {
            Version::One(own) => own.writes(in_flight, now),
            Version::Three(own) => own.writes(in_flight, now),
        }
    }

    pub(super) fn on_loss(&mut self) {
        match &mut self.version {
            Version::One(own) => own.on_loss(),
            Version::Three(own) => own.on_loss(),
        }
    }

    pub(super) fn on_timeout(&mut self) {
        match &mut self.version {
            Version::One(own) => own.on_timeout(),
            Version::Three(own) => own.on_timeout(),
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Delivered, sample: RateSample) {
        match &mut self.version {
            Version::One(own) => own.on_ack(ack, sample),
            Version::Three(own) => own.on_ack(ack, sample),
        }
    }
}
