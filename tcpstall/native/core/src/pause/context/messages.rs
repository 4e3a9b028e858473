//! Detects a sender whose data is let go by the peer's messages and not by its ACKs: the application bounds by itself what is on
//! its way.
//!
//! HTTP/2 (RFC 9113 §5.2) and SSH (RFC 4254 §5.2) have windows of their own, which the receiving application widens by
//! messages; file protocols answer a limited number of requests at a time. TCP sees a flat flight below every window, as of a
//! send buffer. But a buffer is refilled, and a congestion window lets go, at the ACKs that come before the message.

use super::super::Facts;
use super::super::pauses::Context;

/// Waits that went on at a message, with ACKs before it that let nothing go, from which that is a habit, and their share of all
/// that went on at a message: one in four, because the ACKs of a small window come together.
const WAITS: u32 = 3;
const WAITS_SHARE: u32 = 4;
/// Waits that ended at a message for each that ended at an ACK alone.
const FOR_EACH: u32 = 3;
/// ACKs for each that brought a message: a peer that says something with most of them lets nothing go by that.
const ACKS: u32 = 2;

impl Facts {
    /// With data in flight the sender went on as soon as the peer's message had come, and after it came no other ACK.
    pub fn went_on_at_message(&self) -> bool {
        let at_once = self.message_at.is_some_and(|at| {
            (self.end - at).or_zero() <= self.tolerance() && self.last_ack.is_none_or(|last| last <= at)
        });
        self.ended && !self.first && self.left_in_flight > 0 && at_once
    }

    /// ACKs of new data came well before the peer's message, and let nothing go although the peer's window had room.
    pub fn acks_let_nothing_go(&self) -> bool {
        let first = self.room_since.zip(self.message_at);
        self.acks > self.message_acks && first.is_some_and(|(first, message)| message - first > self.tolerance())
    }
}

/// Tells the pauses of one sender, given in order of time, whether its data is let go by messages.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    let (mut at_messages, mut in_vain, mut at_acks) = (0, 0, 0);
    let (mut acks, mut message_acks) = (0_u64, 0_u64);
    for pause in pauses.iter().filter(|pause| pause.ended && !pause.first && pause.left_in_flight > 0) {
        if pause.went_on_at_message() {
            at_messages += 1;
            in_vain += u32::from(pause.acks_let_nothing_go());
            (acks, message_acks) = (acks + u64::from(pause.acks), message_acks + u64::from(pause.message_acks));
        } else {
            at_acks += u32::from(pause.released_by_ack());
        }
    }
    let habit = in_vain >= WAITS && WAITS_SHARE * in_vain >= at_messages && at_messages >= FOR_EACH * at_acks;
    if habit && acks >= u64::from(ACKS) * message_acks {
        contexts.iter_mut().for_each(|context| context.let_go_by_messages = true);
    }
}
