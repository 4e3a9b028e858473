//! The path of a direction of data: the rate of its bottleneck, and the time for which that was busy.

use crate::causes::Limits;
use crate::flow::End;
use crate::json::row;
use crate::pause::{Burst, BusyPeriod, Finished, Pause};
use crate::time::Nanos;

row! {
    /// Path of one direction's data.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct PathRow {
        /// Rate of the bottleneck while a queue stood there, payload bytes per second; `None` where no queue ever stood, or
        /// where the data never came near that rate for a second.
        pub bottleneck_bytes_per_s: Option<u64>,
        /// That rate times the base round trip: a larger flight is only queued.
        pub bdp_bytes: Option<u64>,
        /// Mean queueing delay at the bottleneck.
        pub queue_delay_ns: Option<Nanos>,
        /// Time for which the bottleneck was busy with this direction's data, up to the last new data of the flow.
        pub bandwidth_limited_ns: Nanos,
        /// Largest amount that this direction sent in a second, payload bytes per second; a shorter flow is counted whole.
        pub fastest_bytes_per_s: Option<u64>,
        /// Rate divided by the link's rate, where that is known: while the path was busy, otherwise from the first data to
        /// the last.
        #[json(if_any)]
        pub link_share: Option<f64>,
    }
}

row! {
    /// The path during one stall.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct PathEvidence {
        /// Rate of the bottleneck during the stall, payload bytes per second.
        #[json(if_any)]
        pub bottleneck_bytes_per_s: Option<u64>,
        /// That rate times the base round trip.
        #[json(if_any)]
        pub bdp_bytes: Option<u64>,
        /// Queueing delay during the stall.
        #[json(if_any)]
        pub queue_ns: Option<Nanos>,
    }
}

fn product(rate: f64, base_rtt: Option<Nanos>) -> Option<u64> {
    base_rtt.map(|rtt| (rate * rtt.0 as f64 / 1e9) as u64)
}

/// Share of the link's rate that payload takes when the link is full: headers take 6 % of Ethernet, and as much again
/// is allowed for what users call 100 Mbit/s.
const LINK_FULL: f64 = 0.88;
/// Round trips that a burst must last for its rate to be the link's: a window that is sent at once lasts less than one.
const LINK_ROUNDS: i64 = 2;

/// Times when the path was busy with a direction's data, in order: a queue stood, or the link's rate is known and was
/// reached.
pub(in super::super) fn busy(flow: &Finished, sender: End, limits: &Limits) -> Vec<(Nanos, Nanos)> {
    if flow.busy_periods[sender].is_empty() && limits.link_bytes_per_s.is_none() {
        return Vec::new();
    }
    let busy_periods = flow.busy_periods[sender].iter().map(|period| (period.start, period.end));
    let full = |burst: &&Burst| {
        let (span, link) = (burst.end - burst.start, limits.link_bytes_per_s);
        let long = flow.connection().base_rtt().is_some_and(|rtt| span > rtt.times(LINK_ROUNDS));
        long && link.is_some_and(|link| burst.bytes as f64 * 1e9 >= LINK_FULL * link as f64 * span.0 as f64)
    };
    let bursts = flow.bursts[sender].iter().filter(full).map(|burst| (burst.start, burst.end));
    let mut spans: Vec<(Nanos, Nanos)> = busy_periods.chain(bursts).collect();
    spans.sort();
    let (mut reached, last) = (flow.connection().start, flow.connection().end);
    spans.retain_mut(|span| {
        *span = (span.0.max(reached), span.1.min(last));
        reached = reached.max(span.1);
        span.0 < span.1
    });
    spans
}

/// Row of a direction.
pub(in super::super) fn path_row(flow: &Finished, sender: End, busy: &[(Nanos, Nanos)], limits: &Limits) -> PathRow {
    let busy_periods = &flow.busy_periods[sender];
    let span = busy_periods.iter().fold(Nanos::ZERO, |sum, period| sum + period.span());
    let bytes = busy_periods.iter().map(|period| period.bytes).sum::<i64>();
    let queued = |period: &BusyPeriod| period.queue.0 as f64 * period.span().0 as f64;
    let rate = (span > Nanos::ZERO).then(|| bytes as f64 * 1e9 / span.0 as f64);
    let share_of = |link: u64| Some(rate.or_else(|| whole_rate(flow, sender))? / link as f64);
    PathRow {
        bottleneck_bytes_per_s: rate.map(|rate| rate as u64),
        bdp_bytes: rate.and_then(|rate| product(rate, flow.connection().base_rtt())),
        queue_delay_ns: rate.map(|_| Nanos((busy_periods.iter().map(queued).sum::<f64>() / span.0 as f64) as i64)),
        bandwidth_limited_ns: if busy.is_empty() { Nanos::ZERO } else { busy_time(flow, busy) },
        fastest_bytes_per_s: None,
        link_share: limits.link_bytes_per_s.and_then(share_of),
    }
}

/// Sum of the `busy` times. While the queue drains after the last data nobody waits to send: that is closing.
fn busy_time(flow: &Finished, busy: &[(Nanos, Nanos)]) -> Nanos {
    let last = flow.bursts.iter().filter_map(|bursts| bursts.last()).map(|burst| burst.end).max().unwrap_or_default();
    let spans = busy.iter().map(|(start, end)| ((*end).min(last) - *start).or_zero());
    spans.fold(Nanos::ZERO, |sum, span| sum + span)
}

fn whole_rate(flow: &Finished, sender: End) -> Option<f64> {
    let bursts = &flow.bursts[sender];
    let span = bursts.last()?.end - bursts.first()?.start;
    (span > Nanos::ZERO).then(|| flow.connection().half(sender).bytes as f64 * 1e9 / span.0 as f64)
}

/// Evidence of a stall.
pub(super) fn path_evidence(pause: &Pause) -> PathEvidence {
    let period = pause.context.bottleneck.as_ref();
    PathEvidence {
        bottleneck_bytes_per_s: period.map(|period| period.rate() as u64),
        bdp_bytes: period.and_then(|period| product(period.rate(), pause.base_rtt)),
        queue_ns: period.map(|period| period.queue),
    }
}
