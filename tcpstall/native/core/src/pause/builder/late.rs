//! Remembers what comes late about the pause before: data that had been overtaken, and ACKs that are stored too late.

use super::{Builder, Idle};
use crate::flow::{Acked, Half};
use crate::packet_no::PacketNo;
use crate::pause::evidence::Facts;
use crate::pause::later::Later;
use crate::time::Nanos;

/// Longest delay by reordering in the network; a quarter of the round trip (RFC 8985 §6.2) where that is less.
const REORDERING: Nanos = Nanos::from_millis(5);

impl Builder {
    /// Takes in bytes `[start, end)` that had been missing: the network had reordered them (`lost` is false), or lost
    /// them.
    pub fn on_late(&mut self, start: i64, end: i64, lost: bool) {
        if !lost && self.open.unseen.tail > 0 && self.open.unseen.tail_acked.is_some() {
            self.open.unseen.tail = (self.open.unseen.tail - (end - start)).max(0);
            self.open.unseen.tail_acked = self.open.unseen.tail_acked.filter(|_| self.open.unseen.tail > 0);
        } else if !lost {
            self.burst.bytes += (end - start) as u64;
            self.burst.clump.bytes += (end - start) as u64;
        }
        if !lost
            && let Some(since) = self.holes.reorders(start, end)
            && self.pauses.newest().and_then(|pause| pause.hole).is_some_and(|hole| hole.since == since)
            && let Some(later) = self.pauses.learns_of_newest()
        {
            later.no_hole = true;
        }
        if self.hole.is_some_and(|hole| start < hole.1 && end > hole.0) {
            self.hole = None;
            if !lost {
                self.nothing_was_lost();
            }
        }
    }

    /// Notes that no packet was lost before the data that ended the last pause.
    fn nothing_was_lost(&mut self) {
        let lost = self.pauses.newest().map_or(0, |pause| pause.lost_before_tap);
        if lost > 0
            && let Some(later) = self.pauses.learns_of_newest()
        {
            later.not_lost = lost;
        }
    }

    /// Takes in a packet that came after one sent later: if it seemed lost before the last pause's end, it was only late.
    /// Returns the idle time that its absence had made look like a timeout, if no other packet is missing there.
    pub fn on_overtaken(&mut self, now: Nanos, id: u16) -> Option<Idle> {
        let (from, to) = self.missing_ids;
        let was_missing = id.wrapping_sub(from) < to.wrapping_sub(from);
        let pause = self.pauses.newest().filter(|pause| was_missing && now - pause.end < REORDERING)?;
        let lost = pause.lost_before_tap;
        let not_lost = self.pauses.later().map_or(0, |later| later.not_lost);
        if not_lost < lost
            && let Some(later) = self.pauses.learns_of_newest()
        {
            later.not_lost += 1;
        }
        self.taken_for_timeout.take_if(|_| not_lost + 1 >= lost)
    }

    /// Notes that an ACK covers the bytes missing before the data that ended the last pause, although the tap saw no copy
    /// of them: nobody retransmitted them, so the capture lost them, not the network.
    #[cold]
    pub(super) fn acknowledges_unseen(&mut self, half: &Half) {
        if self.hole.take_if(|hole| hole.1 <= half.snd_una).is_some() {
            self.nothing_was_lost();
            if let Some(later) = self.pauses.learns_of_newest() {
                later.unseen_before_next = true;
            }
        }
    }

    /// Notes that SACK blocks at `now` report the hole of the last pause, if they do for the first time.
    pub(super) fn is_reported(&mut self, now: Nanos) {
        let Some(hole) = self.pauses.newest().and_then(|pause| pause.hole) else { return };
        let known = || self.pauses.later().is_some_and(|later| later.no_hole || later.hole_reported.is_some());
        if hole.reported.is_none()
            && self.holes.is_unreported(hole.since)
            && !known()
            && let Some(later) = self.pauses.learns_of_newest()
        {
            later.hole_reported = Some(now);
        }
    }

    /// Notes that data which the tap saw acknowledged is sent again from offset `start` on: the ACKs were lost behind the
    /// tap. Those inside the last pause are, if they acknowledged that data.
    #[cold]
    pub(super) fn was_unheard(&mut self, start: i64) {
        let Some(pause) = self.pauses.newest() else { return };
        let acked = pause.acked + self.pauses.later().map_or(0, |later| later.heard_bytes());
        if (pause.left_edge - acked..pause.left_edge).contains(&start)
            && let Some(later) = self.pauses.learns_of_newest()
        {
            later.acks_lost = true;
        }
    }

    /// Notes an ACK that was stored after the data that it released: it ended the pause that this data ended.
    #[inline(always)]
    pub(super) fn heard_late(&mut self, acked: &Acked) {
        let may_be = |pause: &Facts| pause.unseen.heard || pause.ended_unheard();
        if self.open.acks == 0 && acked.bytes > 0 && self.pauses.newest().is_some_and(may_be) {
            // By value, so that the ACK stays in registers: every ACK comes this way.
            self.may_be_heard(acked.time, acked.bytes, acked.packet);
        }
    }

    #[cold]
    fn may_be_heard(&mut self, time: Nanos, bytes: i64, packet: PacketNo) {
        // An ACK of the data that ended the pause came after it: the one that the sender had heard is not in the capture.
        let is_it = |pause: &Facts| bytes <= pause.left_in_flight && time - pause.end < REORDERING;
        let known = self.pauses.later().is_some_and(|later| later.heard.is_some() || later.soon.is_some());
        let Some(pause) = self.pauses.newest().filter(|pause| !known && is_it(pause)) else { return };
        let (heard, soon) = (pause.unseen.heard, (time - pause.end).times(Later::RARELY) <= pause.duration());
        if (heard || soon)
            && let Some(later) = self.pauses.learns_of_newest()
        {
            *(if heard { &mut later.heard } else { &mut later.soon }) = Some((bytes, packet));
        }
    }
}
