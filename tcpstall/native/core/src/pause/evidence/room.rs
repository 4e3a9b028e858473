//! Room in the windows that the sender did not use: another reason held its data.

use super::Facts;

impl Facts {
    /// The data left at once at an ACK, although an earlier ACK had made room for it in both windows: each ACK of new data
    /// makes room in the congestion window (RFC 5681 §2), and the peer's window had room for a full segment.
    pub fn let_room_pass(&self) -> bool {
        self.room_since.is_some_and(|since| self.end - since > self.answer_time()) && self.released_at_once()
    }
}
