//! What a report says about repairs of losses: attempts of a stall, their evidence, and the totals of a direction.

use serde::Serialize;

use crate::flow::Half;
use crate::gap::{Gap, repair::Totals};
use crate::time::Nanos;

/// One attempt of a sender to repair a loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttemptRow {
    /// When.
    pub time_ns: Nanos,
    /// `timeout`, `fast-retransmit` or `tail-loss`.
    pub kind: &'static str,
    /// How long the sender had heard nothing new and had not sent it: what its timer measured.
    pub waited_ns: Nanos,
}

/// What a stall's label rests on where something was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RepairEvidence {
    /// Timeouts inside the stall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
    /// Retransmissions inside the wait that a DSACK or an echoed timestamp showed needless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needless_retransmissions: Option<u64>,
    /// Bytes in flight when the first lost segment was first sent, itself included: where the path overflowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_point_bytes: Option<u64>,
    /// Packets that were sent just before the next data and did not reach the tap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_before_tap: Option<u64>,
}

impl RepairEvidence {
    /// Of the part of a gap from `start` to `end`.
    pub(super) fn of(gap: &Gap, start: Nanos, end: Nanos) -> RepairEvidence {
        let count = |count: u32| (count > 0).then_some(u64::from(count));
        let timeouts = attempts(gap, start, end).iter().filter(|attempt| attempt.kind == "timeout").count();
        let repair = gap.repair.as_ref();
        RepairEvidence {
            timeouts: count(timeouts as u32),
            needless_retransmissions: repair.and_then(|repair| count(repair.needless)),
            congestion_point_bytes: repair.and_then(|repair| repair.congestion_point).map(|bytes| bytes as u64),
            lost_before_tap: count(gap.lost_before_tap).filter(|_| gap.retransmissions == 0),
        }
    }
}

/// The attempts within `(start, end]` of a gap.
pub(super) fn attempts(gap: &Gap, start: Nanos, end: Nanos) -> Vec<AttemptRow> {
    let all = gap.repair.iter().flat_map(|repair| &repair.attempts);
    all.filter(|attempt| attempt.time > start && attempt.time <= end)
        .map(|attempt| AttemptRow { time_ns: attempt.time, kind: attempt.trigger.name(), waited_ns: attempt.waited })
        .collect()
}

/// How often one sender repaired losses, and why; and what was only out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RepairRow {
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Repairs begun by duplicate ACKs or SACK.
    pub fast_retransmits: u32,
    /// Tail-loss probes that sent old data again.
    pub tail_probes: u32,
    /// Retransmissions that a DSACK or an echoed timestamp showed needless.
    pub needless_retransmissions: u32,
    /// Frames that came late at the tap without having been sent again.
    pub reordered_segments: u32,
    /// Most bytes that overtook one of them.
    pub reordering_bytes: u64,
    /// The latest of them came so long after what overtook it.
    pub reordering_ns: Nanos,
}

impl RepairRow {
    pub(super) fn of(totals: Totals, half: &Half) -> RepairRow {
        RepairRow {
            timeouts: totals.timeouts,
            fast_retransmits: totals.fast_retransmits,
            tail_probes: totals.tail_probes,
            needless_retransmissions: totals.needless,
            reordered_segments: half.reordering.segments,
            reordering_bytes: half.reordering.extent_bytes.max(0) as u64,
            reordering_ns: half.reordering.extent,
        }
    }
}
