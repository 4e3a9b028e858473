//! The short way of data that continues a run: a sender's next segments, with the same ACK and window, and nothing but
//! ACKs of the peer between them.
//!
//! The first segment of a run goes the whole way, which also shows whether a next one like it could change anything but
//! the sender's own data. Most data of a bulk transfer continues a run.

use super::super::LEAST_PAUSE;
use super::{SeenSegment, SegmentKind, Watch};
use crate::flow::{End, Sending};
use crate::seq::SeqNo;
use crate::wire::{Segment, Timestamps};

/// The newest segment of a run: what its next one has in common with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    sender: End,
    ack: SeqNo,
    window: u16,
    timestamps: Option<Timestamps>,
    /// The peer has acknowledged since.
    answered: bool,
}

impl Watch {
    /// Begins a run with data of `sender` that went the whole way, if its next segment can bring nothing else than data.
    /// The peer had nothing to learn from this one, and learns nothing later.
    #[inline(always)]
    pub(super) fn begins_run(&mut self, segment: &Segment, sender: End) {
        let Segment { ack, window, timestamps, .. } = *segment;
        self.run = self.may_run(sender).then_some(Run { sender, ack, window, timestamps, answered: false });
    }

    /// The next segment of `sender` can bring nothing else than data.
    #[inline(always)]
    fn may_run(&self, sender: End) -> bool {
        let learnt = !self.connection.half(sender.peer()).awaits_acks();
        learnt && self.connection.is_quiet(sender) && self.builders[sender].is_quiet()
    }

    /// Takes in that `sender` sent an ACK without payload, in order: the run of its peer may go on.
    #[inline(always)]
    pub(super) fn is_answered(&mut self, sender: End) {
        if let Some(run) = &mut self.run {
            let goes_on = run.sender != sender && self.connection.is_quiet(run.sender);
            run.answered = true;
            if !goes_on || !self.builders[run.sender].is_plain() {
                self.run = None;
            }
        }
    }

    /// The sender of the run that the segment continues, if it continues one.
    #[inline(always)]
    pub(super) fn continues_run(&self, segment: &Segment) -> Option<End> {
        let Run { sender, ack, window, .. } = self.run?;
        let continues = segment.payload > 1
            && segment.ack == ack
            && segment.window == window
            && segment.sack_count == 0
            && segment.time >= self.connection.end
            && segment.time - self.builders[sender].last_data() <= LEAST_PAUSE
            && self.connection.sender(segment) == sender
            && self.connection.continues(segment, sender);
        continues.then_some(sender)
    }

    /// Takes in data of `sender` that continues its run, as [`Watch::takes_in`] does.
    #[inline(never)]
    pub(super) fn goes_on_with_run(&mut self, segment: &Segment, sender: End) -> SeenSegment {
        let answered = self.run.is_none_or(|run| run.answered);
        match &mut self.run {
            Some(run) if run.timestamps == segment.timestamps => {
                self.connection.hears_again(segment, sender, answered);
            }
            run => {
                run.iter_mut().for_each(|run| run.timestamps = segment.timestamps);
                self.connection.hears(segment, sender);
            }
        }
        let sending = self.connection.appends(segment, sender);
        if let Sending::New { bytes, .. } = sending {
            let half = self.connection.half(sender);
            self.builders[sender].goes_on(segment, bytes, half, answered);
            self.models[sender].on_send(half.flight_segments(), half.snd_una, half.snd_nxt);
            self.rounds.goes_on(segment, bytes, sender, &self.connection);
            self.builders[sender.peer()].on_peer_data(segment);
        }
        if answered {
            let goes_on = self.may_run(sender);
            match &mut self.run {
                Some(run) if goes_on => run.answered = false,
                run => *run = None,
            }
        }
        SeenSegment { sender, kind: SegmentKind::New, ended_pause: false }
    }
}

#[cfg(test)]
mod tests;
