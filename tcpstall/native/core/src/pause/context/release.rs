//! Events that may have released the data that ended a pause.

use super::super::pauses::Context;
use super::super::{Facts, LEAST_PAUSE};
use crate::flow::tap::vantage::LONGEST_PATH;
use crate::time::Nanos;

/// Part of a wait, as a divisor, from which data that left by itself may well have met the tolerance after an ACK.
const CHANCE: i64 = 4;

/// Waits whose data left just before an ACK, from which that is no accident, and waits at an ACK for each: host and tap differ in
/// the order of an ACK and data a few times in a thousand.
const MEETINGS: usize = 3;
const FOR_EACH: usize = 4;

/// Data of the sender often left just before an ACK that it seems to follow, by the TSval that it echoes.
fn meets_acks(pauses: &[Facts]) -> bool {
    let at_acks = |pause: &&Facts| pause.ended && pause.after_ack().is_some_and(|span| span <= pause.tolerance());
    let meetings = pauses.iter().filter(|pause| pause.met_ack()).count();
    meetings >= MEETINGS && (FOR_EACH + 1) * meetings >= pauses.iter().filter(at_acks).count()
}

/// Tells the pauses of one sender whether its data often left just before an ACK.
pub(super) fn find_meetings(pauses: &[Facts], contexts: &mut [Context]) {
    if pauses.iter().any(|pause| pause.left_before_ack) && meets_acks(pauses) {
        contexts.iter_mut().for_each(|context| context.meets_acks = true);
    }
}

/// Full windows from which a sender is known to go on at the first of several ACKs.
const AT_FIRST: u32 = 2;

/// Finds the pauses before which full windows opened at the first of several ACKs each time. Hosts that take in ACKs in batches,
/// before their sender answers any of them, show none.
pub(super) fn find_first(pauses: &[Facts], contexts: &mut [Context]) {
    let mut at_first = 0;
    for (pause, context) in pauses.iter().zip(contexts) {
        context.goes_at_first = at_first >= AT_FIRST;
        let full = pause.cwnd_known && pause.losses == 0 && pause.segments_held >= pause.cwnd && !pause.first;
        if !full || !pause.near_sender() || !pause.released_by_ack() || context.goes_at_first {
            continue;
        }
        if pause.let_pass > 0 {
            return;
        }
        at_first += u32::from(pause.after.acks > pause.acks);
    }
}

/// At half of the pauses or more the data left later after the ACK than a host answers, with nothing in flight: the same writer
/// wakes as fast each time.
pub(super) fn are_late(run: &[Facts]) -> bool {
    let emptied = |pause: &&Facts| pause.ended && !pause.first && !pause.is_turn() && pause.left_in_flight == 0;
    let (mut late, mut all) = (0, 0);
    for pause in run.iter().filter(emptied) {
        all += 1;
        late += usize::from(pause.after_ack().is_some_and(|span| span > LEAST_PAUSE));
    }
    all >= super::super::pauses::ALIKE && 2 * late >= all
}

impl Facts {
    /// The data left just before the ACK that it seems to follow.
    pub(super) fn met_ack(&self) -> bool {
        self.left_before_ack && self.after_ack().is_some_and(|span| span <= self.tolerance())
    }

    /// Packets were queued before the tap for most of the pause: the data that the sender had in flight is unknown.
    pub fn stood_still(&self) -> bool {
        self.overtaken > Nanos::ZERO && self.overtaken + self.overtaken >= self.duration()
    }

    /// The sender stayed silent after the last ACK for longer than the ACK could have taken to reach it.
    pub fn outlasts_paths(&self) -> bool {
        self.is_silent_beyond(LONGEST_PATH)
    }

    /// It stayed silent for more than twice the soonest answer that the tap has seen, which took at least the path.
    pub fn outlasts_soonest_answer(&self) -> bool {
        self.distance > Nanos::ZERO && self.is_silent_beyond(self.distance)
    }

    /// Nothing was in flight, and the last ACK had reached the sender longer than `span` before.
    fn is_silent_beyond(&self, span: Nanos) -> bool {
        self.left_in_flight == 0 && self.after_ack().is_some_and(|silence| silence > span)
    }

    /// Less than a segment left alone once the peer's payload had come: no more had been queued.
    pub fn answers_peer(&self) -> bool {
        let alone = u64::from(self.after.first_frame) == self.after.clump.first_bytes;
        self.ended && self.peer_bytes > 0 && alone && self.after.first_frame < self.mss
    }

    /// Away from the sender and after a wait this short, that data followed an ACK may be chance.
    pub fn ack_is_no_proof(&self) -> bool {
        !self.near_sender() && self.tolerance().times(CHANCE) >= self.duration()
    }

    /// The sender went on with data in flight, and no ACK had made it go on: nothing had blocked the writer. That it just met
    /// an ACK may once be an accident.
    pub(super) fn went_on_by_itself(&self) -> bool {
        let unprompted = !self.released_soon() && !self.met_ack();
        self.ended && !self.first && self.left_in_flight > 0 && self.loss_hints == 0 && unprompted
    }

    /// By the sender's clock the data that ended the pause took longer to the tap than usual. If the ACK before it took as
    /// much longer to the sender, it left at once.
    pub fn may_be_path(&self) -> bool {
        let both_ways = self.held + self.held;
        let own = self.after_ack().unwrap_or_default() - both_ways;
        self.held > Nanos::ZERO && self.left_in_flight == 0 && own <= self.tolerance().times(3)
    }
}
