//! Later facts about a frozen pause: packets after its end brought them, and they are kept beside the pause, which stays as
//! it was frozen.

use super::evidence::Facts;
use super::evidence::repair::PauseRepairs;
use super::evidence::unseen::Unseen;
use super::hole::Hole;
use crate::flow::tap::ack_round::FirstAck;
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// Facts about one pause that came after its end. Few pauses have any.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Later {
    /// Number of the pause among those of its sender.
    pub(super) pause: usize,
    /// Packets that seemed lost before the data that ended the pause, and were not.
    pub(super) not_lost: u32,
    /// Nobody sent the bytes missing before that data again, although they were acknowledged: only the capture lacks them.
    pub(super) unseen_before_next: bool,
    /// Bytes and packet of the ACK that ended the pause: the capture holds that ACK after the data that it released.
    pub(super) heard: Option<(i64, PacketNo)>,
    /// Bytes and packet of an ACK that came just after the data that ended the pause, and does not acknowledge it: it may have
    /// released that data. See `pause/settle/early_data.rs`.
    pub(super) soon: Option<(i64, PacketNo)>,
    /// The first ACK of the burst, which had not reached the sender by the distance that was known.
    pub(super) first_ack: Option<FirstAck>,
    /// Time when SACK blocks first reported the hole of the pause.
    pub(super) hole_reported: Option<Nanos>,
    /// The data in that hole had only been overtaken.
    pub(super) no_hole: bool,
    /// Data that ACKs inside the pause had acknowledged was sent again: the sender never received these ACKs.
    pub(super) acks_lost: bool,
    /// Retransmissions inside the pause that were shown needless.
    pub(super) needless: u32,
    /// Time of the last such proof.
    pub(super) cleared: Option<Nanos>,
}

impl Later {
    /// Ratio of a pause to the time after it within which an ACK comes by chance once in 64 times.
    pub(super) const RARELY: i64 = 64;

    /// No fact yet about the pause with that number.
    pub(super) fn about(pause: usize) -> Later {
        Later { pause, ..Later::default() }
    }

    /// Bytes of the ACK that the capture holds too late.
    pub(super) fn heard_bytes(&self) -> i64 {
        self.heard.map_or(0, |(bytes, _)| bytes)
    }

    /// The facts where the capture holds ACKs after the data that they released.
    pub(super) fn with_early_data(&self) -> Later {
        Later { heard: self.heard.or(self.soon), ..*self }
    }

    /// The frozen `pause` with these facts.
    pub(super) fn added_to(&self, pause: Facts) -> Facts {
        let pause = match self.heard {
            Some((bytes, packet)) => released_by(bytes, packet, pause),
            None => pause,
        };
        let reported = |hole: Hole| Hole { reported: hole.reported.or(self.hole_reported), ..hole };
        let cleared = |repair: PauseRepairs| PauseRepairs {
            needless: repair.needless.saturating_add(self.needless).min(repair.sent),
            cleared: self.cleared.or(repair.cleared),
            ..repair
        };
        Facts {
            lost_before_tap: pause.lost_before_tap.saturating_sub(self.not_lost),
            acks_lost: pause.acks_lost || self.acks_lost,
            hole: pause.hole.filter(|_| !self.no_hole).map(reported),
            repair: pause.repair.map(|repair| Box::new(cleared(*repair))),
            unseen: Unseen { before_next: pause.unseen.before_next || self.unseen_before_next, ..pause.unseen },
            ..pause
        }
    }
}

impl Facts {
    /// The pause, settled with the tap's distance, at which the `first` ACK of the burst may have reached the sender before
    /// the data that ended the pause.
    pub(super) fn with_first_ack(self, first: FirstAck) -> Facts {
        let bytes = self.left_in_flight - first.left;
        if bytes <= 0 || first.span + self.tolerance() < self.distance {
            return self;
        }
        released_by(bytes, first.packet, self)
    }
}

/// The `pause` that an ACK of `bytes` ended: it reached the sender when the pause ended.
fn released_by(bytes: i64, packet: PacketNo, pause: Facts) -> Facts {
    let left = (pause.left_in_flight - bytes).max(0);
    Facts {
        acks: pause.acks + 1,
        acked: pause.acked + bytes,
        last_ack: Some(pause.end),
        last_ack_packet: Some(packet),
        left_in_flight: left,
        left_before_ack: false,
        short_segment_left: pause.short_segment_left && left > 0,
        all_acked: pause.all_acked.or((left == 0).then_some(pause.end)),
        unseen: Unseen { heard: false, ..pause.unseen },
        ..pause
    }
}

#[cfg(test)]
mod tests;
