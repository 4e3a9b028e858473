//! Repairs of losses in the report: attempts of a stall, their evidence, and the totals of a direction.

use crate::flow::Half;
use crate::json::row;
use crate::pause::{Pause, repairs::RepairTotals};
use crate::time::Nanos;

row! {
    /// One attempt of a sender to repair a loss.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct AttemptRow {
        /// Time of the attempt.
        pub time_ns: Nanos,
        /// `timeout`, `fast-retransmit` or `tail-loss`.
        pub kind: &'static str,
        /// Time since the sender last received anything new or last sent this data: the time that its timer measures.
        pub waited_ns: Nanos,
    }
}

row! {
    /// Evidence of a stall's label where data was lost.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct RepairEvidence {
        /// Timeouts inside the stall.
        #[json(if_any)]
        pub timeouts: Option<u64>,
        /// Retransmissions inside the wait that a DSACK or an echoed timestamp showed needless.
        #[json(if_any)]
        pub needless_retransmissions: Option<u64>,
        /// Bytes in flight when the first lost segment was first sent, that segment included: the path overflowed there.
        #[json(if_any)]
        pub congestion_point_bytes: Option<u64>,
        /// Packets that were sent just before the next data and did not reach the tap.
        #[json(if_any)]
        pub lost_before_tap: Option<u64>,
    }
}

impl RepairEvidence {
    /// Evidence of the part of a pause from `start` to `end`.
    pub(super) fn of(pause: &Pause, start: Nanos, end: Nanos) -> RepairEvidence {
        let count = |count: u32| (count > 0).then_some(u64::from(count));
        let timeouts = attempts(pause, start, end).iter().filter(|attempt| attempt.kind == "timeout").count();
        let repair = pause.repair.as_ref();
        RepairEvidence {
            timeouts: count(timeouts as u32),
            needless_retransmissions: repair.and_then(|repair| count(repair.needless)),
            congestion_point_bytes: repair.and_then(|repair| repair.congestion_point).map(|bytes| bytes as u64),
            lost_before_tap: count(pause.lost_before_tap).filter(|_| pause.retransmissions == 0),
        }
    }
}

/// Attempts within `(start, end]` of a pause.
pub(in super::super) fn attempts(pause: &Pause, start: Nanos, end: Nanos) -> Vec<AttemptRow> {
    let all = pause.repair.iter().flat_map(|repair| &repair.attempts);
    all.filter(|attempt| attempt.time > start && attempt.time <= end)
        .map(|attempt| AttemptRow { time_ns: attempt.time, kind: attempt.trigger.name(), waited_ns: attempt.waited })
        .collect()
}

row! {
    /// One sender's repairs of losses by trigger, and its reordered segments.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct RepairRow {
        /// Retransmission timeouts.
        pub timeouts: u32,
        /// Repairs begun by duplicate ACKs or SACK.
        pub fast_retransmits: u32,
        /// Tail-loss probes that sent old data again.
        pub tail_probes: u32,
        /// Retransmissions that a DSACK or an echoed timestamp showed needless.
        pub needless_retransmissions: u32,
        /// Frames that came late at the tap and were not retransmitted.
        pub reordered_segments: u32,
        /// Largest number of bytes that overtook a frame.
        pub reordering_bytes: u64,
        /// Longest delay of a reordered segment behind the data that overtook it.
        pub reordering_ns: Nanos,
    }
}

impl RepairRow {
    pub(in super::super) fn of(totals: RepairTotals, half: &Half) -> RepairRow {
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
