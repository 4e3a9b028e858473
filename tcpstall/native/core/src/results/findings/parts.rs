//! Contribution of each flow to findings, as rows: a store adds them up over many captures.

use std::cmp::Reverse;

use super::share::{Share, shares};
use super::weight::weight;
use super::{FindingKind, tally};
use crate::causes::Cause;
use crate::results::columns::{Column, integers, reals, signed, texts, words};
use crate::results::rows::{DirectionRow, FlowRow, StallRow};

/// Contribution of one flow to one finding.
pub(in super::super) struct Contribution<'a> {
    pub(in super::super) flow: &'a FlowRow,
    share: Share<'a>,
    longest: Option<&'a StallRow>,
}

impl<'a> Contribution<'a> {
    fn new(flow: &'a FlowRow, share: Share<'a>) -> Contribution<'a> {
        Contribution { flow, longest: share.longest(), share }
    }

    /// Row of the end that the finding is about.
    fn end(&self) -> &DirectionRow {
        self.flow.directions.of(self.share.side)
    }

    /// Mean confidence of the labels, weighted by the lengths of their waits.
    fn confidence(&self) -> Option<f64> {
        let sure = self.share.stalls.iter().map(|stall| f64::from(stall.confidence) * weight(stall) as f64);
        let all = self.share.weight();
        (all > 0).then(|| sure.sum::<f64>() / all as f64)
    }

    /// Details with their parts of the time, longest first.
    fn details(&self) -> Vec<(&'static str, i128)> {
        let mut times = Vec::new();
        for (detail, time) in self.share.details().filter(|(detail, _)| !detail.is_empty()) {
            tally(&mut times, detail, time);
        }
        times.sort_by_key(|(detail, time)| (Reverse(*time), *detail));
        times
    }

    /// Level of the limit at the longest wait: the peer's window, or the flight with a full buffer.
    fn level(&self) -> Option<u64> {
        let evidence = &self.longest?.evidence;
        match self.share.cause? {
            Cause::RwndLimited => evidence.peer_window_bytes,
            Cause::SndbufLimited => evidence.rare.get(|rare| rare.plateau_bytes),
            _ => None,
        }
    }
}

/// Parts of all flows. The normal round trip of a handshake is left out: every flow has one, and nobody can change it.
pub(in super::super) fn parts(rows: &[FlowRow]) -> Vec<Contribution<'_>> {
    let all = rows.iter().flat_map(|flow| shares(flow).into_iter().map(move |share| Contribution::new(flow, share)));
    all.filter(|part| part.share.kind != FindingKind::HandshakeDistance).collect()
}

/// Table with one part per row.
pub(in super::super) fn columns(parts: &[Contribution<'_>]) -> [Column; 25] {
    [
        words("kind", parts, |part| Some(part.share.kind.name())),
        words("side", parts, |part| Some(part.share.side.name())),
        words("cause", parts, |part| part.share.cause.map(|cause| cause.name())),
        texts("details", parts, |part| {
            let told = part.details().into_iter().map(|(detail, time)| format!("{detail}:{time}"));
            Some(told.collect::<Vec<_>>().join(" ")).filter(|told| !told.is_empty())
        }),
        integers("start_ns", parts, |part| Some(part.share.span(part.flow).0.0)),
        integers("end_ns", parts, |part| Some(part.share.span(part.flow).1.0)),
        integers("time_ns", parts, |part| Some(part.share.time.0)),
        integers("recoverable_ns", parts, |part| part.share.kind.is_recoverable().then_some(part.share.recoverable.0)),
        integers("waits", parts, |part| Some(part.share.stalls.len() as i64)),
        integers("longest_ns", parts, |part| part.longest.map(weight)),
        integers("stall", parts, |part| part.longest.and_then(|stall| signed(stall.number))),
        integers("level_bytes", parts, |part| part.level().and_then(signed)),
        integers("sent_again", parts, |part| part.longest?.evidence.retransmissions.and_then(signed)),
        reals("confidence", parts, Contribution::confidence),
        integers("attempts", parts, |part| part.flow.outcome.unanswered_attempts.map(i64::from)),
        integers("exchanges", parts, |part| signed(part.flow.connection.exchanges)),
        integers("bytes", parts, |part| signed(part.end().bytes)),
        integers("segments", parts, |part| signed(part.end().segments)),
        integers("retransmitted_bytes", parts, |part| signed(part.end().retransmitted_bytes)),
        integers("reordered_segments", parts, |part| Some(i64::from(part.end().repair.reordered_segments))),
        integers("needless_retransmissions", parts, |part| Some(i64::from(part.end().repair.needless_retransmissions))),
        integers("losses", parts, |part| part.end().losses.map(|losses| i64::from(losses.counted))),
        integers("losses_queued", parts, |part| part.end().losses.map(|losses| i64::from(losses.queued))),
        integers("losses_unqueued", parts, |part| part.end().losses.map(|losses| i64::from(losses.unqueued))),
        integers("lasted_ns", parts, |part| Some((part.flow.end_ns - part.flow.start_ns).0)),
    ]
}
