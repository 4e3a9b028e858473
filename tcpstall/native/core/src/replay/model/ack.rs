//! Effect of an acknowledgement on its sender.

use super::bbr::Delivered;
use super::host::Host;
use super::repair::Repair;
use super::{Packet, World};
use crate::sender::AckSample;
use crate::sender::cwnd::CongestionPhase;
use crate::time::Nanos;

/// Reported segments that prove a loss without a wait for reordering (RFC 8985 §6.2: DupThresh).
const DUPLICATES: u32 = 3;

impl Host {
    pub(super) fn acknowledged(&mut self, packet: &Packet, world: &mut World<'_>) {
        if packet.ack >= self.snd_una {
            self.edge = self.edge.max(packet.edge);
            self.largest_window = self.largest_window.max(packet.edge - packet.ack);
        }
        let mss = self.setup(world).mss;
        let advanced = packet.ack > self.snd_una;
        let freed = self.board.acknowledge(packet.ack, mss);
        let reported = packet.sack.map_or(0, |range| self.board.report(range));
        self.snd_una = self.snd_una.max(packet.ack);
        if freed.segments + reported == 0 && !advanced {
            return;
        }
        let sample = freed.sent.map(|sent| world.now - sent);
        if let Some(sample) = sample {
            self.srtt = Some(self.srtt.map_or(sample, |srtt| srtt + Nanos((sample - srtt).0 / 8)));
            self.least_rtt = Some(self.least_rtt.map_or(sample, |least| least.min(sample)));
        }
        if advanced {
            (self.backoff, self.probed) = (0, false);
        }
        let ack = AckSample {
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            holes: self.board.sacked() > 0,
            now: world.now,
            sample,
            least: self.least_rtt,
        };
        self.undoes(packet);
        self.cwnd.on_ack(freed.segments + reported, &ack);
        self.repair = self.repair.filter(|repair| self.snd_una < repair.until);
        let lost = self.board.lost();
        self.finds_losses(world);
        let (in_flight, progress) = (self.board.in_flight(), advanced && self.board.lost() <= lost);
        if let Some(repair) = &mut self.repair {
            repair.delivers(freed.segments + reported, in_flight, progress);
        }
        self.measures(freed.segments + reported, lost, sample, world);
        self.arms(world);
    }

    /// Takes in what BBR measures of an acknowledgement, after which more segments than `lost` may be lost.
    fn measures(&mut self, segments: u32, lost: u32, sample: Option<Nanos>, world: &World<'_>) {
        let (Some(bbr), Some(stamp)) = (&mut self.bbr, self.board.takes_arrived()) else { return };
        let rate = bbr.delivery().delivers(segments, stamp, world.now, self.least_rtt.unwrap_or_default());
        let ack = Delivered {
            now: world.now,
            segments,
            lost: self.board.lost().saturating_sub(lost),
            in_flight: self.board.in_flight(),
            sample,
            repairs: self.cwnd.phase() == CongestionPhase::Recovery,
        };
        bbr.on_ack(&ack, rate);
    }

    /// Restores the window where all retransmissions of a repair were needless: their data came twice (Linux
    /// tcp_try_undo_loss, tcp_try_undo_dsack).
    fn undoes(&mut self, packet: &Packet) {
        if packet.twice && self.unanswered > 0 {
            self.unanswered -= 1;
            if self.unanswered == 0 && self.board.lost() == 0 {
                self.cwnd.undo();
                self.repair = None;
            }
        }
    }

    /// Marks segments that must be lost, and shrinks the window for them.
    pub(super) fn finds_losses(&mut self, world: &World<'_>) {
        if self.board.sacked() == 0 && self.board.lost() == 0 {
            return;
        }
        let least = self.least_rtt.unwrap_or_default();
        let window = if self.board.sacked() >= DUPLICATES { Nanos::ZERO } else { Nanos(least.0 / 4) };
        if self.board.detect(world.now, least, window) {
            let out = self.board.in_flight() + self.board.lost();
            self.cwnd.on_loss(out, self.snd_nxt, self.snd_una);
            if self.repair.is_none() && self.backoff == 0 {
                self.unanswered = 0;
                self.repair = Some(Repair::new(self.snd_nxt, self.cwnd.segments(), out));
                if let Some(bbr) = &mut self.bbr {
                    bbr.on_loss();
                }
            }
        }
    }
}
