//! Rebuilds the data in flight of pauses from before the tap's distance was known.

use super::evidence::Pause;

impl Pause {
    /// Corrects a pause whose ACKs counted as soon as they passed the tap, because its distance was not known yet. A burst
    /// shorter than half the distance was in flight as a whole: its first ACK was still under way when it ended.
    pub(super) fn sees_whole_burst(&mut self) {
        let half = self.distance.scaled(0.5);
        let (burst, undisturbed) = (&self.before, self.retransmissions == 0 && self.lost_before_tap == 0);
        let short = burst.end - burst.start < half && self.duration() > half;
        if self.first || !self.ended || !short || !undisturbed || self.left_in_flight > 0 {
            return;
        }
        let more = burst.bytes as i64 - self.flight_at_start;
        if more > 0 {
            self.flight_at_start += more;
            self.segments_at_start = burst.bytes.div_ceil(u64::from(self.mss.max(1))) as u32;
            self.segments_held = self.segments_at_start;
            self.room_at_start = self.room_at_start.map(|room| room - more);
            self.least_room = self.least_room.map(|room| room - more);
            self.acked = self.acked.max(self.flight_at_start);
        }
        self.unseen.blind = false;
    }
}
