//! Notes on a pause while it lasts.

use super::hole::Hole;
use super::persist::Persist;
use super::recovered::Recovered;
use super::repair::PauseRepairs;
use super::slowest_ack::SlowestAck;
use super::unseen::Unseen;
use crate::flow::{Acked, Half};
use crate::packet_no::PacketNo;
use crate::sender::Cwnd;
use crate::sender::cwnd::CongestionPhase;
use crate::time::Nanos;

/// The sender's state when a pause began.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Beginning {
    pub(super) flight: i64,
    pub(super) segments: u32,
    pub(super) room: Option<i64>,
    pub(super) window: Option<i64>,
    pub(super) window_field: u16,
    pub(super) short: bool,
    pub(super) cwnd: u32,
    pub(super) cwnd_known: bool,
    pub(super) phase: CongestionPhase,
    pub(super) before_idle: Option<u32>,
    pub(super) after_idle: Option<u32>,
    pub(super) largest_window: i64,
    pub(super) srtt: Option<Nanos>,
}

/// Data still outstanding when a pause ended.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Left {
    pub(super) flight: i64,
    pub(super) short: bool,
    pub(super) unknown: bool,
    pub(super) heard_unseen: bool,
}

/// A train of ACKs: ACKs within microseconds of each other count as one event.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Train {
    pub(super) last: Nanos,
    pub(super) first_packet: PacketNo,
    pub(super) segments: u32,
    pub(super) room: Option<i64>,
}

/// Events since the last new data.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Open {
    pub(super) beginning: Option<Beginning>,
    pub(super) acks: u32,
    pub(super) slowest_ack: SlowestAck,
    pub(super) acked: i64,
    pub(super) acked_in_time: i64,
    pub(super) last_ack: Option<Nanos>,
    pub(super) last_ack_packet: Option<PacketNo>,
    pub(super) widened: Option<(Nanos, PacketNo)>,
    pub(super) all_acked: Option<Nanos>,
    pub(super) room_since: Option<Nanos>,
    pub(super) closed: Option<Nanos>,
    pub(super) reopened: Option<Nanos>,
    pub(super) probes: u32,
    pub(super) persist: Persist,
    pub(super) peer_bytes: u64,
    pub(super) peer_first: Option<Nanos>,
    pub(super) peer_last: Option<Nanos>,
    pub(super) peer_packet: Option<PacketNo>,
    pub(super) retransmissions: u32,
    pub(super) first_retransmission: Option<Nanos>,
    pub(super) last_retransmission: Option<Nanos>,
    pub(super) repair: Option<Box<PauseRepairs>>,
    pub(super) loss_hints: u32,
    pub(super) overtaken: Nanos,
    pub(super) left_out: Option<Nanos>,
    pub(super) unseen: Unseen,
    pub(super) closed_hole: Option<Hole>,
    pub(super) recovered: Option<Box<Recovered>>,
}

impl Open {
    /// The part of this note after `time`.
    pub(super) fn peer_after(&self, time: Nanos) -> Open {
        match self.peer_first {
            Some(first) if first > time => Open {
                peer_bytes: self.peer_bytes,
                peer_first: self.peer_first,
                peer_last: self.peer_last,
                peer_packet: self.peer_packet,
                ..Open::default()
            },
            _ => Open::default(),
        }
    }

    /// Recognises the ACK that ends the recovery; `half` is the state after it, `cwnd` the model before it.
    pub(super) fn recovered(&self, acked: &Acked, half: &Half, cwnd: &Cwnd) -> Option<Box<Recovered>> {
        let cwnd = cwnd.after_recovery(half.snd_una).filter(|_| !half.has_holes() && half.flight() > 0)?;
        Some(Box::new(Recovered {
            at: acked.time,
            flight: half.flight(),
            segments: half.flight_segments(),
            room: half.room(),
            window: half.window,
            cwnd,
            acks: self.acks,
            acked: self.acked,
            hints: self.loss_hints,
        }))
    }
}
