//! What the path did to a direction of data: the rate of its narrowest point, and how long that point was busy.

use serde::Serialize;

use crate::causes::Limits;
use crate::flow::Direction;
use crate::gap::{Burst, Finished, Gap, Stretch};
use crate::time::Nanos;

/// The path as one direction's data found it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PathRow {
    /// What the narrowest point carried while a queue stood there, payload bytes a second; `None` where none ever stood, or
    /// where the data never came near that rate for a second.
    pub bottleneck_bytes_per_s: Option<u64>,
    /// That rate times the base round trip: more in flight than this only queues.
    pub bdp_bytes: Option<u64>,
    /// Mean time that packets queued there.
    pub queue_delay_ns: Option<Nanos>,
    /// How long it was busy with this direction's data, up to the last new data of the flow.
    pub bandwidth_limited_ns: Nanos,
    /// The most that this direction sent in a second, payload bytes a second; a shorter flow is counted whole.
    pub fastest_bytes_per_s: Option<u64>,
    /// Rate over the link's, where the link's is known: while the path was busy, else from the first data to the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_share: Option<f64>,
}

/// The path during one stall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PathEvidence {
    /// What the narrowest point of the path carried at that time, payload bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck_bytes_per_s: Option<u64>,
    /// That rate times the base round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bdp_bytes: Option<u64>,
    /// How long packets queued at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_ns: Option<Nanos>,
}

fn product(rate: f64, base_rtt: Option<Nanos>) -> Option<u64> {
    base_rtt.map(|rtt| (rate * rtt.0 as f64 / 1e9) as u64)
}

/// Payload over the link's rate from which the link counts as full: headers take 6 % of Ethernet, and as much again is left
/// for what a user calls 100 Mbit/s.
const LINK_FULL: f64 = 0.88;
/// Round trips that a burst must last for its rate to be the link's: a window that is sent at once lasts less than one.
const LINK_ROUNDS: i64 = 2;

/// When the path was busy with a direction's data, in order of time: a queue stood, or the link is known and was full.
pub(super) fn busy(flow: &Finished, direction: Direction, limits: &Limits) -> Vec<(Nanos, Nanos)> {
    let stretches = flow.stretches[direction as usize].iter().map(|stretch| (stretch.start, stretch.end));
    let full = |burst: &&Burst| {
        let (span, link) = (burst.end - burst.start, limits.link_bytes_per_s);
        let long = flow.connection().base_rtt().is_some_and(|rtt| span > rtt.times(LINK_ROUNDS));
        long && link.is_some_and(|link| burst.bytes as f64 * 1e9 >= LINK_FULL * link as f64 * span.0 as f64)
    };
    let bursts = flow.bursts[direction as usize].iter().filter(full).map(|burst| (burst.start, burst.end));
    let mut spans: Vec<(Nanos, Nanos)> = stretches.chain(bursts).collect();
    spans.sort();
    let (mut reached, last) = (flow.connection().start, flow.connection().end);
    spans.retain_mut(|span| {
        *span = (span.0.max(reached), span.1.min(last));
        reached = reached.max(span.1);
        span.0 < span.1
    });
    spans
}

/// The row of a direction.
pub(super) fn path_row(flow: &Finished, direction: Direction, busy: &[(Nanos, Nanos)], limits: &Limits) -> PathRow {
    let stretches = &flow.stretches[direction as usize];
    let span = stretches.iter().fold(Nanos::ZERO, |sum, stretch| sum + stretch.span());
    let bytes = stretches.iter().map(|stretch| stretch.bytes).sum::<i64>();
    let queued = |stretch: &Stretch| stretch.queue.0 as f64 * stretch.span().0 as f64;
    let rate = (span > Nanos::ZERO).then(|| bytes as f64 * 1e9 / span.0 as f64);
    // While the queue drains after the last data nobody waits to send: that is closing.
    let last = flow.bursts.iter().filter_map(|bursts| bursts.last()).map(|burst| burst.end).max().unwrap_or_default();
    let busy = busy.iter().map(|(start, end)| ((*end).min(last) - *start).or_zero());
    let reached = rate.or_else(|| whole_rate(flow, direction));
    PathRow {
        bottleneck_bytes_per_s: rate.map(|rate| rate as u64),
        bdp_bytes: rate.and_then(|rate| product(rate, flow.connection().base_rtt())),
        queue_delay_ns: rate.map(|_| Nanos((stretches.iter().map(queued).sum::<f64>() / span.0 as f64) as i64)),
        bandwidth_limited_ns: busy.fold(Nanos::ZERO, |sum, span| sum + span),
        fastest_bytes_per_s: None,
        link_share: limits.link_bytes_per_s.zip(reached).map(|(link, reached)| reached / link as f64),
    }
}

fn whole_rate(flow: &Finished, direction: Direction) -> Option<f64> {
    let bursts = &flow.bursts[direction as usize];
    let span = bursts.last()?.end - bursts.first()?.start;
    (span > Nanos::ZERO).then(|| flow.connection().half(direction).bytes as f64 * 1e9 / span.0 as f64)
}

/// The evidence of a stall.
pub(super) fn path_evidence(gap: &Gap) -> PathEvidence {
    let stretch = gap.context.bottleneck.as_ref();
    PathEvidence {
        bottleneck_bytes_per_s: stretch.map(|stretch| stretch.rate() as u64),
        bdp_bytes: stretch.and_then(|stretch| product(stretch.rate(), gap.base_rtt)),
        queue_ns: stretch.map(|stretch| stretch.queue),
    }
}
