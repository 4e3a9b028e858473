//! Splits one round into the parts of its latency.
//!
//! At the tap a round has four stretches: the handshake, the request, the turn-around and the response. In a stretch
//! the waits of its sender are named parts, the rest is sending. The turn-around holds the server's half of the travel
//! (the round trip from the tap to the server), the repair of losses, and the server's own time. The client's half of
//! the travel is outside the round at the tap, before its first byte and after its last.

use super::parts::{LatencyPart, Phase, Sum};
use crate::causes::Cause;
use crate::few::Few;
use crate::flow::End;
use crate::flow::rounds::Round;
use crate::time::Nanos;

/// A stretch in which one end waited, by the verdict on its pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// Start of the wait.
    pub start: Nanos,
    /// End of the wait.
    pub end: Nanos,
    /// Cause of the wait.
    pub cause: Cause,
    /// Detail of the cause.
    pub detail: &'static str,
}

/// Input for splitting the rounds of one flow.
pub(super) struct Split<'a> {
    /// Round trips from the tap to the client and to the server.
    pub(super) distances: [Option<Nanos>; 2],
    pub(super) waits: &'a [Few<Wait>; 2],
}

impl Split<'_> {
    /// Parts of a round in the order of the exchange; `set_up` is the SYN and the end of the handshake, if the
    /// handshake belongs to it.
    pub(super) fn parts(&self, round: &Round, set_up: Option<(Nanos, Nanos)>) -> Few<LatencyPart, 6> {
        let mut sum = Sum::default();
        if let Some((syn, done)) = set_up {
            let wait = self.waits[End::Client].first().filter(|wait| wait.cause == Cause::Handshake);
            let detail = wait.map_or("", |wait| wait.detail);
            let cause = (!detail.is_empty()).then_some(Cause::Handshake);
            sum.add(LatencyPart { cause, detail, ..LatencyPart::plain(Phase::Handshake, done - syn) });
            sum.add(LatencyPart::plain(Phase::Request, round.start - done));
        }
        self.stretch(&mut sum, End::Client, round.start, round.asked);
        let answered = round.answered.unwrap_or(round.last);
        let heard_out = match round.asked_late {
            None => round.asked,
            Some(late) => {
                // Without an answer to the whole request the overlap lasts to the end.
                let end = if round.answered_all.is_some() { late } else { round.last.max(round.asked) };
                self.overlap(&mut sum, round.asked, end);
                end
            }
        };
        let begins = round.answered_all.filter(|_| round.asked_late.is_some()).unwrap_or(answered).max(heard_out);
        self.turnaround(&mut sum, heard_out, begins);
        self.stretch(&mut sum, End::Server, begins, round.last.max(begins));
        sum.add(LatencyPart::plain(Phase::Travel, self.distances[End::Client].unwrap_or_default()));
        sum.parts.sort_by_key(|part| part.part as u8);
        sum.parts
    }

    /// Waits of one end that overlap a stretch, cut to it.
    fn waits_in(&self, end: End, from: Nanos, to: Nanos) -> impl Iterator<Item = Wait> {
        let waits = &self.waits[end];
        let first = waits.partition_point(|wait| wait.end <= from);
        waits[first..].iter().take_while(move |wait| wait.start < to).map(move |wait| Wait {
            start: wait.start.max(from),
            end: wait.end.min(to),
            ..*wait
        })
    }

    /// Splits one end's turn into its waits, and sending between them.
    fn stretch(&self, sum: &mut Sum, end: End, from: Nanos, to: Nanos) {
        let mut cursor = from;
        for wait in self.waits_in(end, from, to) {
            sum.add(LatencyPart::plain(phase_of(end), wait.start - cursor));
            sum.add(named(end, &wait, wait.end - wait.start.max(cursor)));
            cursor = cursor.max(wait.end);
        }
        sum.add(LatencyPart::plain(phase_of(end), to - cursor));
    }

    /// Splits the time in which both ends were sending into waits of either end, except those for its application; the
    /// rest belongs to neither alone.
    fn overlap(&self, sum: &mut Sum, from: Nanos, to: Nanos) {
        let mut waits: Few<(End, Wait)> = Few::new();
        for end in End::BOTH {
            waits.extend(self.waits_in(end, from, to).map(|wait| (end, wait)));
        }
        waits.retain(|(_, wait)| wait.cause != Cause::AppLimited);
        waits.sort_by_key(|(_, wait)| wait.start);
        let mut cursor = from;
        for (end, wait) in waits {
            sum.add(LatencyPart::plain(Phase::Overlap, wait.start - cursor));
            sum.add(named(end, &wait, wait.end - wait.start.max(cursor)));
            cursor = cursor.max(wait.end);
        }
        sum.add(LatencyPart::plain(Phase::Overlap, to - cursor));
    }

    /// Splits the time from the last byte of the request to the first of the response: travel first, then waits of TCP
    /// (a lost end of the request, a closed window). The rest is the server's own time.
    fn turnaround(&self, sum: &mut Sum, from: Nanos, to: Nanos) {
        let span = to - from;
        let known = self.distances[End::Client].is_some() && self.distances[End::Server].is_some();
        let travel = span.min(self.distances[End::Server].filter(|_| known).unwrap_or_default());
        sum.add(LatencyPart::plain(Phase::Travel, travel));
        let mut rest = span - travel;
        for end in End::BOTH {
            for wait in self.waits_in(end, from, to).filter(|wait| wait.cause != Cause::AppLimited) {
                let share = (wait.end - wait.start).min(rest);
                sum.add(named(end, &wait, share));
                rest = rest - share;
            }
        }
        sum.add(LatencyPart::plain(if known { Phase::Think } else { Phase::Turnaround }, rest));
    }
}

fn phase_of(end: End) -> Phase {
    match end {
        End::Client => Phase::Request,
        End::Server => Phase::Response,
    }
}

/// A wait as a part; a pause of the server's application is the server's own time in every phase.
fn named(end: End, wait: &Wait, span: Nanos) -> LatencyPart {
    if end == End::Server && wait.cause == Cause::AppLimited {
        return LatencyPart { waits: 1, ..LatencyPart::plain(Phase::Think, span) };
    }
    LatencyPart { cause: Some(wait.cause), detail: wait.detail, waits: 1, ..LatencyPart::plain(phase_of(end), span) }
}
