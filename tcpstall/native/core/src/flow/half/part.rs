//! The next part of one direction: its counters begin at zero, its state continues.

use super::{Half, Reordering, RoundTrips};

impl Half {
    /// The direction with its sequence numbers, window, smoothed round trip and data in flight, and nothing counted.
    pub(in crate::flow) fn next_part(self) -> Half {
        Half {
            bytes: 0,
            frames: 0,
            offloaded: 0,
            retransmitted: 0,
            copies: 0,
            max_flight: self.flight(),
            never_seen: 0,
            forgotten: 0,
            reordering: Reordering::default(),
            round_trips: RoundTrips::default(),
            ..self
        }
    }
}
