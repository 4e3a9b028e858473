//! Senders that pace by the rate that they measure: either version of BBR.

use super::bbr::{Bbr, Delivered};
use super::bbr3::Bbr3;
use super::delivery::{Delivery, RateSample};
use crate::replay::setup::Control;
use crate::replay::setup::{HostSetup, Setup};
use crate::time::Nanos;

/// State of such a sender.
#[derive(Clone, Debug)]
pub(super) enum Measured {
    One(Bbr),
    Three(Box<Bbr3>),
}

impl Measured {
    /// The state of an end's new connection, if its congestion control is of this kind.
    pub(super) fn new(setup: &Setup, own: &HostSetup) -> Option<Measured> {
        let (initial, rtt, mss) = (own.initial_window, setup.rtt, own.mss);
        match own.control {
            Control::Bbr => Some(Measured::One(Bbr::new(initial, rtt, mss))),
            Control::Bbr3 => Some(Measured::Three(Box::new(Bbr3::new(initial, rtt, mss)))),
            Control::Reno | Control::Cubic => None,
        }
    }

    pub(super) fn again(self) -> Measured {
        match self {
            Measured::One(own) => Measured::One(own.again()),
            Measured::Three(own) => Measured::Three(Box::new(own.again())),
        }
    }

    pub(super) fn delivery(&mut self) -> &mut Delivery {
        match self {
            Measured::One(own) => &mut own.delivery,
            Measured::Three(own) => &mut own.delivery,
        }
    }

    pub(super) fn segments(&self) -> u32 {
        match self {
            Measured::One(own) => own.segments(),
            Measured::Three(own) => own.segments(),
        }
    }

    pub(super) fn pace(&self) -> Option<f64> {
        match self {
            Measured::One(own) => own.pace(),
            Measured::Three(own) => own.pace(),
        }
    }

    pub(super) fn sends(&mut self) {
        match self {
            Measured::One(own) => own.sends(),
            Measured::Three(own) => own.sends(),
        }
    }

    pub(super) fn writes(&mut self, in_flight: u32, now: Nanos) {
        match self {
            Measured::One(own) => own.writes(in_flight, now),
            Measured::Three(own) => own.writes(in_flight, now),
        }
    }

    pub(super) fn on_loss(&mut self) {
        match self {
            Measured::One(own) => own.on_loss(),
            Measured::Three(own) => own.on_loss(),
        }
    }

    pub(super) fn on_timeout(&mut self) {
        match self {
            Measured::One(own) => own.on_timeout(),
            Measured::Three(own) => own.on_timeout(),
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Delivered, sample: RateSample) {
        match self {
            Measured::One(own) => own.on_ack(ack, sample),
            Measured::Three(own) => own.on_ack(ack, sample),
        }
    }
}
