//! The congestion window of a sender that counts two segments at most for each ACK in slow start (RFC 3465 §2.3, L = 2; 4.4BSD's
//! descendants): where a network card or the receiver merges ACKs, the window grows more slowly than by all that was acknowledged.

/// Most segments that an ACK counts for.
pub const MOST_PER_ACK: u32 = 2;
/// Share of the window by which more may be out: the growth counts segments with their options.
const SLACK: u32 = 32;

/// That window, segments; 0 once the sender sent more than it allows, or a loss lowered it.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct TwoPerAck(u32);

impl TwoPerAck {
    /// The window of a new connection.
    pub(super) fn starting(initial: u32) -> TwoPerAck {
        TwoPerAck(initial)
    }

    /// The window, segments, if the sender may be one of these.
    pub(super) fn segments(self) -> Option<u32> {
        (self.0 > 0).then_some(self.0)
    }

    /// Takes in an ACK of so many segments. An application that sends less than the window stops no growth (RFC 5681 §3.1).
    #[inline(always)]
    pub(super) fn on_ack(&mut self, segments: u32) {
        let counted = if self.0 > 0 { segments.min(MOST_PER_ACK) } else { 0 };
        self.0 = self.0.saturating_add(counted);
    }

    /// Takes in a transmission: `out` segments are in flight.
    #[inline(always)]
    pub(super) fn on_send(&mut self, out: u32) {
        if out > self.0 + 1 + self.0 / SLACK {
            self.0 = 0;
        }
    }

    /// An idle period leaves the initial window at most (RFC 5681 §4.1).
    pub(super) fn restarts(&mut self, initial: u32) {
        self.0 = self.0.min(initial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_acks_count_for_two_segments() {
        let mut window = TwoPerAck::starting(10);
        [1, 1, 8].into_iter().for_each(|segments| window.on_ack(segments));
        assert_eq!(window.segments(), Some(14));
    }

    #[test]
    fn a_larger_flight_is_of_another_sender() {
        let mut window = TwoPerAck::starting(10);
        window.on_ack(10);
        window.on_send(13);
        assert_eq!(window.segments(), Some(12), "a segment more may be the last one's");
        window.on_send(20);
        window.on_ack(1);
        assert_eq!(window.segments(), None);
    }

    #[test]
    fn an_idle_period_leaves_the_initial_window() {
        let mut window = TwoPerAck::starting(10);
        (0..20).for_each(|_| window.on_ack(2));
        window.restarts(10);
        assert_eq!(window.segments(), Some(10));
    }
}
