//! Room in the windows: what the sender did not use, because another reason held its data, and what it filled to the byte.

use super::Facts;

impl Facts {
    /// The data left at once at an ACK, although an earlier ACK had made room for it in both windows: each ACK of new data
    /// makes room in the congestion window (RFC 5681 §2), and the peer's window had room for a full segment.
    pub fn let_room_pass(&self) -> bool {
        self.room_since.is_some_and(|since| self.end - since > self.answer_time()) && self.released_at_once()
    }

    /// The last segment was cut to the byte that this `window` left, which no writer knows: it shows that the window was this. A power
    /// of two is as long as many a write.
    pub fn is_cut_to(&self, window: i64) -> bool {
        let cut = self.flight_at_start % i64::from(self.mss.max(1)) != 0;
        self.flight_at_start == window && cut && !window.unsigned_abs().is_power_of_two()
    }
}
