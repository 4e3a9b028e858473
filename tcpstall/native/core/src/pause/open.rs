//! Notes on a pause while it lasts.

use super::evidence::recovered::Recovered;
use super::evidence::repair::PauseRepairs;
use super::evidence::slowest_ack::SlowestAck;
use super::evidence::unseen::Unseen;
use super::rare_events::RareEvents;
use crate::flow::{Acked, Half, Short};
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
    pub(super) short: Short,
    pub(super) briefs: u32,
    pub(super) cwnd: u32,
    pub(super) two_per_ack: Option<u32>,
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
    pub(super) short: Short,
    pub(super) unknown: bool,
    pub(super) heard_unseen: bool,
}

/// A train of ACKs: ACKs within microseconds of each other count as one event.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Train {
    pub(super) last: Nanos,
    /// Time when the first of them passed the tap.
    pub(super) first_passed: Nanos,
    pub(super) first_packet: PacketNo,
    pub(super) segments: u32,
    /// Segments in flight before the last of them.
    pub(super) segments_at_last: u32,
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
    pub(super) all_acked: Option<Nanos>,
    pub(super) room_since: Option<Nanos>,
    /// ACKs of new data that came with payload of the peer.
    pub(super) message_acks: u32,
    /// Time when the peer's last payload reached the sender, with an ACK or without.
    pub(super) message_at: Option<Nanos>,
    pub(super) peer_bytes: u64,
    pub(super) peer_first: Option<Nanos>,
    pub(super) peer_last: Option<Nanos>,
    pub(super) peer_packet: Option<PacketNo>,
    pub(super) repair: Option<Box<PauseRepairs>>,
    pub(super) recovered: Option<Box<Recovered>>,
    pub(super) unseen: Unseen,
    rare: Option<Box<RareEvents>>,
}

impl Open {
    /// Events that few pauses have.
    #[inline]
    pub(super) fn rare(&self) -> &RareEvents {
        static NONE: RareEvents = RareEvents::none();
        self.rare.as_deref().unwrap_or(&NONE)
    }

    /// The same, if there are any.
    #[inline]
    pub(super) fn rare_ones(&self) -> Option<&RareEvents> {
        self.rare.as_deref()
    }

    /// The same, to add one.
    #[cold]
    pub(super) fn rare_mut(&mut self) -> &mut RareEvents {
        self.rare.get_or_insert_default()
    }

    /// The sender has received something since its last new data.
    #[inline]
    pub(super) fn has_begun(&self) -> bool {
        self.acks > 0 || self.beginning.is_some() || self.peer_bytes > 0
    }

    /// Nothing is noted.
    pub(super) fn is_blank(&self) -> bool {
        let acks = (self.acks, self.acked, self.acked_in_time) == (0, 0, 0) && self.slowest_ack.is_blank();
        let times = [self.last_ack, self.all_acked, self.room_since, self.message_at, self.peer_first, self.peer_last];
        let packets = self.last_ack_packet.is_none() && self.peer_packet.is_none();
        let counts = self.message_acks == 0 && self.peer_bytes == 0 && packets;
        let unseen = self.unseen.is_nothing() && !self.unseen.blind && self.unseen.tail_acked.is_none();
        let rare = self.repair.is_some() || self.recovered.is_some() || self.rare.is_some();
        let blank = self.beginning.is_none() && times.iter().all(Option::is_none);
        acks && counts && unseen && blank && !rare
    }

    /// Forgets everything but the data that the peer sent after `time`.
    #[inline(always)]
    pub(super) fn restart(&mut self, time: Nanos) {
        self.beginning = None;
        (self.acks, self.acked, self.acked_in_time) = (0, 0, 0);
        self.slowest_ack = SlowestAck::default();
        (self.last_ack, self.last_ack_packet, self.all_acked, self.room_since) = (None, None, None, None);
        (self.message_acks, self.message_at) = (0, None);
        if self.peer_first.is_none_or(|first| first <= time) {
            self.peer_bytes = 0;
            (self.peer_first, self.peer_last, self.peer_packet) = (None, None, None);
        }
        self.unseen = Unseen::default();
        if self.repair.is_some() || self.recovered.is_some() || self.rare.is_some() {
            self.forgets_rare();
        }
    }

    #[cold]
    #[inline(never)]
    fn forgets_rare(&mut self) {
        (self.repair, self.recovered, self.rare) = (None, None, None);
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
            hints: self.rare().loss_hints,
        }))
    }
}
