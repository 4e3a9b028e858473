//! The short way of data that continues a run: a sender's next segments in a row, with the same ACK and window.
//!
//! The first segment of a run goes the whole way, which also shows whether a next one like it could change anything but
//! the sender's own data. Most data of a bulk transfer continues a run.

use super::super::LEAST_PAUSE;
use super::{SeenSegment, Watch};
use crate::flow::connection::Effect;
use crate::flow::{End, Sending, rounds::Spoken};
use crate::seq::SeqNo;
use crate::wire::{Segment, Timestamps};

/// The newest segment of a run: what its next one has in common with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    sender: End,
    ack: SeqNo,
    window: u16,
    timestamps: Option<Timestamps>,
}

impl Watch {
    /// Begins a run with data of `sender` that went the whole way, if its next segment can bring nothing else than data.
    /// The peer had nothing to learn from this one.
    #[inline]
    pub(super) fn begins_run(&mut self, segment: &Segment, sender: End) {
        let quiet = self.connection.is_quiet(sender) && self.builders[sender].is_quiet();
        let Segment { ack, window, timestamps, .. } = *segment;
        self.run = quiet.then_some(Run { sender, ack, window, timestamps });
    }

    /// The sender of the run that the segment continues, if it continues one.
    #[inline(always)]
    pub(super) fn continues_run(&self, segment: &Segment) -> Option<End> {
        let Run { sender, ack, window, .. } = self.run?;
        let same = segment.ack == ack && segment.window == window && segment.sack_count == 0;
        let soon = segment.time - self.builders[sender].last_data() <= LEAST_PAUSE;
        let continues = same
            && soon
            && segment.payload > 1
            && segment.time >= self.connection.end
            && self.connection.sender(segment) == sender
            && self.connection.continues(segment, sender);
        continues.then_some(sender)
    }

    /// Takes in data of `sender` that continues its run, as [`Watch::takes_in`] does.
    pub(super) fn goes_on_with_run(&mut self, segment: &Segment, sender: End) -> SeenSegment {
        if let Some(run) = self.run.as_mut().filter(|run| run.timestamps != segment.timestamps) {
            run.timestamps = segment.timestamps;
            self.connection.hears(segment, sender);
        } else {
            self.connection.half_mut(sender).vantage.from_end_again(segment);
        }
        let sending = self.connection.appends(segment, sender);
        if let Sending::New { bytes, .. } = sending {
            let half = self.connection.half(sender);
            self.builders[sender].goes_on(segment, bytes, half);
            self.models[sender].on_send(half.flight_segments(), half.snd_una, half.snd_nxt);
            self.rounds.speaks(&Spoken { segment, bytes, held_up: false }, sender, &self.connection);
            self.builders[sender.peer()].on_peer_data(segment);
        }
        SeenSegment { sender, effect: Effect::Data(sending), ended_pause: false }
    }
}

#[cfg(test)]
mod tests;
