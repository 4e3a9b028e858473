//! Advice on waits that losses made, where the flow shows what dropped the data, or that nothing was lost: the cause's
//! names every place.

use super::super::rows::losses::LossesRow;
use super::super::rows::{FlowRow, StallRow};
use crate::causes::{Cause, details};
use crate::flow::End;

/// A queue stood at nearly all losses.
pub const FULL_QUEUE: &str =
    "the path's queue overflowed: shape below its rate (fq_codel, CAKE), or keep it short (BBR)";
/// None stood, and the path let no more than a burst or a rate through.
pub const BURSTS: &str =
    "find the policer or small buffer that lets no larger burst through, or pace the sender (fq, BBR)";
/// None stood.
pub const NO_QUEUE: &str = "look for a bad link or a policer: no queue was full";
/// Nothing was lost, and the window grows slowly.
pub const EARLY_END: &str =
    "find why slow start ended: HyStart, a remembered threshold (ip tcp_metrics), losses before the capture";

/// Replaces the cause's advice by what the losses show.
pub(super) fn advise(row: &mut FlowRow) {
    for sender in End::BOTH {
        let direction = row.directions.of(sender);
        let losses = direction.losses.and_then(advice);
        let window = losses.or((direction.retransmitted_bytes == 0).then_some(EARLY_END));
        let of = |stall: &StallRow| match stall.cause {
            // A repair without an end has the advice of the flow's.
            Cause::Retransmission if stall.ended && stall.detail != details::SPURIOUS => losses,
            Cause::CwndLimited if stall.detail == details::CONGESTION_AVOIDANCE => window,
            _ => None,
        };
        for stall in row.stalls.iter_mut().filter(|stall| stall.sender == sender) {
            stall.advice = of(stall).unwrap_or(stall.advice);
        }
    }
}

fn advice(losses: LossesRow) -> Option<&'static str> {
    if losses.met_a_queue() {
        Some(FULL_QUEUE)
    } else {
        let at_a_limit = losses.limit_bytes.or(losses.rate_bytes_per_s).is_some();
        losses.met_none().then_some(if at_a_limit { BURSTS } else { NO_QUEUE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(counted: u32, queued: u32, unqueued: u32, limit_bytes: Option<u64>) -> Option<&'static str> {
        advice(LossesRow { counted, queued, unqueued, limit_bytes, ..LossesRow::default() })
    }

    #[test]
    fn nearly_all_of_three_losses_or_more_tell_the_place() {
        assert_eq!(told(5, 4, 1, None), Some(FULL_QUEUE));
        assert_eq!(told(5, 1, 4, None), Some(NO_QUEUE));
        assert_eq!(told(5, 0, 5, Some(39_096)), Some(BURSTS));
        let at_a_rate = LossesRow { rate_bytes_per_s: Some(1_250_000), ..LossesRow::default() };
        assert_eq!(advice(LossesRow { counted: 5, unqueued: 5, ..at_a_rate }), Some(BURSTS));
        assert_eq!(advice(LossesRow { counted: 9, unqueued: 3, queued: 1, ..at_a_rate }), Some(BURSTS));
        assert_eq!(advice(LossesRow { counted: 9, unqueued: 3, queued: 2, ..at_a_rate }), None);
        assert_eq!(told(9, 1, 3, Some(39_096)), None);
        assert_eq!(told(5, 3, 2, Some(39_096)), None);
        assert_eq!(told(2, 0, 2, None), None);
    }
}
