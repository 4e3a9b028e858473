//! One round to the parts of its latency.
//!
//! At the tap a round is four stretches: the request, the turn-around, the response, and before them the handshake. In a
//! stretch the waits of its sender are parts with a name, what remains is sending. The turn-around holds the server's half
//! of the travel (the round trip from the tap to it), what had to be repaired, and the server's own time; the client's half
//! of the travel lies outside what the tap sees of the round, before its first byte and after its last.

use super::parts::{Part, Phase, Sum};
use crate::causes::Cause;
use crate::flow::turns::Round;
use crate::time::Nanos;

/// A stretch in which one end waited, by the verdict on its gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// Where it begins.
    pub start: Nanos,
    /// Where it ends.
    pub end: Nanos,
    /// Why.
    pub cause: Cause,
    /// The narrower word.
    pub detail: &'static str,
}

const CLIENT: usize = 0;
const SERVER: usize = 1;

/// What the rounds of one flow are split with.
pub(super) struct Split<'a> {
    /// Round trips from the tap to the client and to the server.
    pub(super) distances: [Option<Nanos>; 2],
    pub(super) waits: &'a [Vec<Wait>; 2],
}

impl Split<'_> {
    /// The parts of a round in the order of the exchange; with the SYN and the end of the handshake if that belongs to it.
    pub(super) fn parts(&self, round: &Round, set_up: Option<(Nanos, Nanos)>) -> Vec<Part> {
        let mut sum = Sum { parts: Vec::with_capacity(4) };
        if let Some((syn, done)) = set_up {
            let wait = self.waits[CLIENT].first().filter(|wait| wait.cause == Cause::Handshake);
            let detail = wait.map_or("", |wait| wait.detail);
            let cause = (!detail.is_empty()).then_some(Cause::Handshake);
            sum.add(Part { cause, detail, ..Part::plain(Phase::Handshake, done - syn) });
            sum.add(Part::plain(Phase::Request, round.start - done));
        }
        self.stretch(&mut sum, CLIENT, round.start, round.asked);
        let answered = round.answered.unwrap_or(round.last);
        let heard_out = match round.asked_late {
            None => round.asked,
            Some(late) => {
                // Without an answer to all of it the overlap lasts to the end.
                let end = if round.answered_all.is_some() { late } else { round.last.max(round.asked) };
                self.overlap(&mut sum, round.asked, end);
                end
            }
        };
        let begins = round.answered_all.filter(|_| round.asked_late.is_some()).unwrap_or(answered).max(heard_out);
        self.turnaround(&mut sum, heard_out, begins);
        self.stretch(&mut sum, SERVER, begins, round.last.max(begins));
        sum.add(Part::plain(Phase::Travel, self.distances[CLIENT].unwrap_or_default()));
        sum.parts.sort_by_key(|part| part.part as u8);
        sum.parts
    }

    /// The waits of one end that reach into a stretch, cut to it.
    fn waits_in(&self, end: usize, from: Nanos, to: Nanos) -> impl Iterator<Item = Wait> {
        let waits = &self.waits[end];
        let first = waits.partition_point(|wait| wait.end <= from);
        waits[first..].iter().take_while(move |wait| wait.start < to).map(move |wait| Wait {
            start: wait.start.max(from),
            end: wait.end.min(to),
            ..*wait
        })
    }

    /// One end's turn: its waits, and sending in between.
    fn stretch(&self, sum: &mut Sum, end: usize, from: Nanos, to: Nanos) {
        let mut cursor = from;
        for wait in self.waits_in(end, from, to) {
            sum.add(Part::plain(phase_of(end), wait.start - cursor));
            sum.add(named(end, &wait, wait.end - wait.start.max(cursor)));
            cursor = cursor.max(wait.end);
        }
        sum.add(Part::plain(phase_of(end), to - cursor));
    }

    /// Both ends at once: what either waited for but its application, the rest is nobody's alone.
    fn overlap(&self, sum: &mut Sum, from: Nanos, to: Nanos) {
        let mut waits: Vec<(usize, Wait)> = Vec::new();
        for end in [CLIENT, SERVER] {
            waits.extend(self.waits_in(end, from, to).map(|wait| (end, wait)));
        }
        waits.retain(|(_, wait)| wait.cause != Cause::AppLimited);
        waits.sort_by_key(|(_, wait)| wait.start);
        let mut cursor = from;
        for (end, wait) in waits {
            sum.add(Part::plain(Phase::Overlap, wait.start - cursor));
            sum.add(named(end, &wait, wait.end - wait.start.max(cursor)));
            cursor = cursor.max(wait.end);
        }
        sum.add(Part::plain(Phase::Overlap, to - cursor));
    }

    /// From the last byte of the request to the first of the response: travel first, then what TCP waited for (a lost end
    /// of the request, a closed window), and what is left is the server's own time.
    fn turnaround(&self, sum: &mut Sum, from: Nanos, to: Nanos) {
        let span = to - from;
        let known = self.distances[CLIENT].is_some() && self.distances[SERVER].is_some();
        let travel = span.min(self.distances[SERVER].filter(|_| known).unwrap_or_default());
        sum.add(Part::plain(Phase::Travel, travel));
        let mut rest = span - travel;
        for end in [CLIENT, SERVER] {
            for wait in self.waits_in(end, from, to).filter(|wait| wait.cause != Cause::AppLimited) {
                let share = (wait.end - wait.start).min(rest);
                sum.add(named(end, &wait, share));
                rest = rest - share;
            }
        }
        sum.add(Part::plain(if known { Phase::Think } else { Phase::Turnaround }, rest));
    }
}

fn phase_of(end: usize) -> Phase {
    if end == CLIENT { Phase::Request } else { Phase::Response }
}

/// A wait as a part; the server's application is the server's own time wherever it pauses.
fn named(end: usize, wait: &Wait, span: Nanos) -> Part {
    if end == SERVER && wait.cause == Cause::AppLimited {
        return Part { waits: 1, ..Part::plain(Phase::Think, span) };
    }
    Part { cause: Some(wait.cause), detail: wait.detail, waits: 1, ..Part::plain(phase_of(end), span) }
}
