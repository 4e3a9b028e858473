//! Data that left before the capture began.

use super::{ABSURD_JUMP, Half};
use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::Segment;

/// Longest time that data stays in flight without an ACK or a copy: the first timer, 1 s (RFC 6298 §2.1), and the answer to the copy.
const IN_FLIGHT: Nanos = Nanos::from_millis(2_000);

impl Half {
    /// Takes in the next byte of a sender whose SYN was not captured, if nothing of it is known yet.
    pub(super) fn begins(&mut self, next: SeqNo) {
        if self.base.is_none() {
            self.base = Some(SeqNo(next.0.wrapping_sub(1)));
            (self.snd_nxt, self.snd_una) = (1, 1);
        }
    }

    /// The capture lacks this sender's SYN, and no data of either end has passed so far: what comes now does not answer the `peer`.
    pub(super) fn begins_in_mid_life(&self, peer: &Half) -> bool {
        self.bytes == 0 && !self.syn_seen && peer.frames == 0
    }

    /// The capture lacks this sender's SYN, and no ACK has passed so far.
    #[cold]
    pub(super) fn awaits_first_ack(&self) -> bool {
        !self.syn_seen && self.snd_una == 1 && self.window_field == 0 && self.pending.is_empty()
    }

    /// The first ACK in the capture shows that data from `ack` on, before the first that passed, was in flight when the capture began.
    #[cold]
    pub(super) fn had_in_flight(&mut self, first: &Segment, ack: i64) {
        if self.snd_una - ack <= ABSURD_JUMP {
            self.puts_earlier(first, (ack, self.snd_una));
            self.snd_una = ack;
        }
    }

    /// Puts everything up to `start`, where the `first` data in the capture begins, in flight: it is no hole, for it left
    /// before. What was acknowledged by then is not missing either. Where the newest ACK of an end is older than data stays in
    /// flight, the bytes behind that ACK left later, and the capture lacks them.
    #[cold]
    pub(super) fn left_earlier(&mut self, first: &Segment, start: i64, peer: &Half) {
        self.never_seen = 0;
        let acked = self.ack_passed.max(peer.ack_passed);
        if start > self.snd_nxt && first.time - acked <= IN_FLIGHT {
            self.puts_earlier(first, (self.snd_nxt, start));
            self.snd_nxt = start;
        }
    }

    /// Puts these bytes in flight before all others: nobody saw when they left.
    fn puts_earlier(&mut self, first: &Segment, (start, end): (i64, i64)) {
        let segments = ((end - start) as u64).div_ceil(u64::from(self.mss()));
        self.outstanding.begins_with(end, segments as u32, first.time);
    }
}
