//! Rebuilds the data in flight of pauses from before the tap's distance was known.

use super::super::evidence::Facts;
use super::super::evidence::unseen::Unseen;

impl Facts {
    /// The pause corrected if its ACKs counted as soon as they passed the tap, because its distance was not known yet. A burst
    /// shorter than half the distance was in flight as a whole: its first ACK was still under way when it ended.
    pub(super) fn with_whole_burst(self) -> Facts {
        let half = self.distance.scaled(0.5);
        let (burst, undisturbed) = (&self.before, self.retransmissions == 0 && self.lost_before_tap == 0);
        let short = burst.end - burst.start < half && self.duration() > half;
        // The ACK of a last odd segment may be delayed until the next data comes (RFC 5681 §4.2).
        let odd = i64::from(self.mss);
        if self.first || !self.ended || !short || !undisturbed || self.left_in_flight > odd {
            return self;
        }
        let unseen = Unseen { blind: false, ..self.unseen };
        // A last odd segment of the burst before may be out besides.
        let flight = (self.flight_at_start + self.unseen.under_way).max(burst.bytes as i64);
        let more = flight - self.flight_at_start;
        if more <= 0 {
            return Facts { unseen, ..self };
        }
        let segments = flight.unsigned_abs().div_ceil(u64::from(self.mss.max(1))) as u32;
        Facts {
            flight_at_start: flight,
            segments_at_start: segments,
            segments_held: segments,
            room_at_start: self.room_at_start.map(|room| room - more),
            least_room: self.least_room.map(|room| room - more),
            acked: self.acked.max(flight - self.left_in_flight),
            unseen,
            ..self
        }
    }
}
