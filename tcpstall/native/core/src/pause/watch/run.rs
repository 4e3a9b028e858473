//! The short way of data that continues a run: a sender's next segments, with the same ACK and window, and nothing but
//! ACKs of the peer between them.
//!
//! The first segment of a run goes the whole way, which also shows whether a next one like it could change anything but
//! the sender's own data. Most data of a bulk transfer continues a run, and so does most of a short response: until the
//! peer has received what the first segment acknowledges, each says the same to it.

use super::super::LEAST_PAUSE;
use super::{SeenSegment, SegmentKind, Watch};
use crate::flow::{End, Sending, split};
use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::{Segment, Timestamps};

/// Times that data follows a calm ACK before the run is looked at: short flows never pay for it.
pub(super) const TURNS: u8 = 4;

/// The newest segment of a run: what its next one has in common with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) sender: End,
    pub(super) ack: SeqNo,
    pub(super) window: u16,
    pub(super) timestamps: Option<Timestamps>,
    /// Until then data of the run tells the peer nothing by its ACK and its window: the peer knows both, or they were on
    /// their way to it a moment before.
    pub(super) told_until: Nanos,
    /// The peer has acknowledged since.
    pub(super) answered: bool,
    /// The next ACK in order can only acknowledge.
    pub(super) calm: bool,
    /// Times that data followed such an ACK.
    pub(super) turns: u8,
}

impl Watch {
    /// Begins a run with data of `sender` that went the whole way, if its next segment can bring nothing else than data, and
    /// perhaps the same ACK once more to a peer that had not received it. This one may have been `news` to the peer.
    #[inline(always)]
    pub(super) fn begins_run(&mut self, segment: &Segment, sender: End, news: bool) {
        let Segment { ack, window, timestamps, .. } = *segment;
        let told_until = self.connection.half(sender.peer()).told_until(news);
        self.run = self.may_run(sender).then_some(Run {
            sender,
            ack,
            window,
            timestamps,
            told_until,
            answered: false,
            calm: false,
            turns: 0,
        });
    }

    /// The next segment of `sender` can bring nothing else than data, and an ACK.
    #[inline(always)]
    fn may_run(&self, sender: End) -> bool {
        self.builders[sender].is_quiet() && self.connection.is_quiet(sender)
    }

    /// Takes in that `sender` sent an ACK without payload, in order: the run of its peer may go on.
    #[inline(always)]
    pub(super) fn is_answered(&mut self, sender: End) {
        if let Some(run) = self.run {
            let told_until = if run.told_until == Nanos::LATEST { run.told_until } else { Nanos::ZERO };
            let awaits = self.connection.half(run.sender).awaits_acks();
            // While ACKs are on their way the run's next data looks at what they have brought.
            let goes_on = run.sender != sender && (awaits || self.goes_on_at(run.sender));
            let calm = goes_on && !awaits && self.is_calm(run.sender);
            self.run = goes_on.then_some(Run { told_until, answered: true, calm, ..run });
        }
    }

    /// The ACKs that `sender` has received brought nothing rare, and its next data can bring nothing else than data.
    #[inline(always)]
    fn goes_on_at(&self, sender: End) -> bool {
        self.connection.is_quiet(sender) && self.builders[sender].is_plain()
    }

    /// The segment, of two bytes or more, continues this run.
    #[inline(always)]
    pub(super) fn continues(&self, segment: &Segment, &Run { sender, ack, window, .. }: &Run) -> bool {
        segment.ack == ack
            && segment.window == window
            && segment.sack_count == 0
            && segment.time >= self.connection.end
            && segment.time - self.builders[sender].last_data() <= LEAST_PAUSE
            && self.connection.sender(segment) == sender
            && self.connection.continues(segment, sender)
    }

    /// Takes in data of `sender` that continues its run, as [`Watch::takes_in`] does. Each end has code of its own, in which
    /// its place in a pair is a constant.
    #[inline(never)]
    pub(super) fn goes_on_with_run(&mut self, segment: &Segment, sender: End) -> SeenSegment {
        match sender {
            End::Client => self.goes_on_from(segment, End::Client),
            End::Server => self.goes_on_from(segment, End::Server),
        }
    }

    #[inline(always)]
    fn goes_on_from(&mut self, segment: &Segment, sender: End) -> SeenSegment {
        if self.connection.half(sender).awaits_acks() {
            return self.goes_on_after_acks(segment, sender);
        }
        let Some(run) = &mut self.run else { return self.sees_bare(segment) };
        let answered = run.answered;
        if run.timestamps == segment.timestamps {
            self.connection.hears_again(segment, sender, answered);
        } else {
            run.timestamps = segment.timestamps;
            self.connection.hears(segment, sender, || self.builders[sender].round());
        }
        self.joins_run(segment, sender, answered)
    }

    /// Takes in data that continues a run while ACKs are on their way to its sender: some of them may have come first, and
    /// brought more than acknowledgements.
    #[inline(never)]
    fn goes_on_after_acks(&mut self, segment: &Segment, sender: End) -> SeenSegment {
        let Some(run) = self.run.as_mut().filter(|run| !run.answered || self.connection.is_quiet(sender)) else {
            return self.sees_bare(segment);
        };
        let answered = run.answered;
        if run.timestamps == segment.timestamps && segment.timestamps.is_some() {
            self.connection.hears_again(segment, sender, answered);
        } else {
            run.timestamps = segment.timestamps;
            self.connection.hears(segment, sender, || self.builders[sender].round());
        }
        let received = self.receives_acks(segment, sender);
        if received && !(self.builders[sender].is_plain() && self.connection.continues(segment, sender)) {
            return self.takes_in_after_acks(segment, sender, false, false);
        }
        if let Some(run) = &mut self.run {
            run.answered |= received;
        }
        self.joins_run(segment, sender, answered || received)
    }

    /// Adds data to its sender's run, which has heard what came before it; the peer may have `answered` the data before.
    #[inline(always)]
    fn joins_run(&mut self, segment: &Segment, sender: End, answered: bool) -> SeenSegment {
        let is_told = self.run.is_some_and(|run| segment.time < run.told_until);
        if let Sending::New { bytes, .. } = self.connection.appends(segment, sender) {
            if !is_told {
                self.informs_peer(segment, sender);
            }
            let (builder, peer) = split(&mut self.builders, sender);
            let (half, model) = (self.connection.half(sender), &mut self.models[sender]);
            builder.goes_on(segment, bytes, half, answered);
            model.on_send(half.flight_segments(), half.snd_una, half.snd_nxt);
            self.rounds.goes_on(segment, bytes, sender, &self.connection);
            peer.on_peer_data(segment);
        }
        if answered && !self.connection.half(sender).awaits_acks() {
            let calm = self.run.is_some_and(|run| run.calm);
            let calm = self.may_run(sender).then(|| calm || self.is_calm(sender));
            match (&mut self.run, calm) {
                (Some(run), Some(calm)) => {
                    (run.answered, run.calm, run.turns) = (false, calm, run.turns + u8::from(calm));
                    if run.turns == TURNS {
                        run.turns = 0;
                        self.becomes_steady(sender);
                    }
                }
                (run, _) => *run = None,
            }
        }
        SeenSegment { sender, kind: SegmentKind::New, ended_pause: false }
    }

    /// The ACK and the window of data in a run pass the tap once more, towards a peer that may not know them yet.
    #[inline(never)]
    fn informs_peer(&mut self, segment: &Segment, sender: End) {
        let echoed = self.connection.half(sender).vantage.last_span();
        let ack = self.connection.half_mut(sender.peer()).passes(segment, echoed, false);
        let news = ack.is_some();
        if let Some(ack) = ack {
            self.pass_on(ack, sender.peer(), segment.time);
        }
        let peer = self.connection.half(sender.peer());
        if let Some(run) = &mut self.run {
            run.told_until = peer.told_until(news);
            run.calm &= !peer.awaits_acks();
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
