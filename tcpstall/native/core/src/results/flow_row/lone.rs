//! A single wait for the send buffer among waits for the congestion window.

use super::super::rows::StallRow;
use super::stall_row;
use crate::causes::{Cause, PausePart};
use crate::pause::Pause;

/// Waits of one sender for its congestion window from which a single wait for its send buffer is one of them.
const OTHERS: usize = 5;
/// Confidence of a wait for the congestion window that only the waits around it show.
const BY_OTHERS: f32 = 0.5;

/// A wait for the send buffer that nothing but the model of the congestion window shows.
#[derive(Debug)]
pub(super) struct Lone<'a> {
    row: usize,
    pause: Pause<'a>,
    part: PausePart,
}

impl<'a> Lone<'a> {
    /// The wait in that row, if only the model shows it: there is no plateau, and the tap is away from the sender.
    pub(super) fn of(row: usize, pause: Pause<'a>, part: &PausePart) -> Option<Lone<'a>> {
        let by_model = part.proof.detail.is_empty() && part.rest.is_none() && !pause.near_sender();
        by_model.then(|| Lone { row, pause, part: part.clone() })
    }

    /// Gives the wait to the congestion window where several other waits of its sender are: a buffer that is full once
    /// is full again at the next flights, while a window smaller than its model shows once or twice.
    pub(super) fn joins_others(mut self, stalls: &mut [StallRow]) {
        let (sender, start) = (self.pause.sender, self.part.start);
        let others = || stalls.iter().filter(|stall| stall.cause == Cause::CwndLimited && stall.sender == sender);
        let nearest = others().rfind(|stall| stall.start_ns <= start).or(others().next());
        let Some(nearest) = nearest.filter(|_| others().count() >= OTHERS) else { return };
        self.part.proof.detail = nearest.detail;
        self.part.proof.confidence = BY_OTHERS;
        self.part.cause = Cause::CwndLimited;
        self.part.also.push(Cause::SndbufLimited);
        stalls[self.row] = stall_row(&self.pause, self.part);
    }
}
