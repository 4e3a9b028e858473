//! Which changes a flow's causes call for.

use super::change::Change;
use super::record::Record;
use super::setup::Setup;
use crate::causes::Cause;
use crate::tables::ledger::Owner;
use crate::time::Nanos;

/// A cause that cost less than this share of the flow's time, the applications' own aside, is not worth a change.
const WORTH: f64 = 0.01;
/// Linux takes any initial window, but nobody should ask for more segments than this at once.
const LARGEST_INITIAL_WINDOW: i64 = 100;

/// One change each, without regard to order.
pub(super) fn called_for(record: &Record, setup: &Setup) -> Vec<Change> {
    let life = record.row.end_ns - record.row.start_ns;
    let idle = record.row.time_ns.of(Owner::Waiting(Cause::AppLimited));
    let mut changes: Vec<Change> = Vec::new();
    for cause in causes(record, (life - idle).scaled(WORTH)) {
        let wanted: Vec<(&str, Option<i64>)> = match cause {
            Cause::CwndLimited => vec![("initcwnd", Some(fitting(setup))), ("reuse-connection", Some(1))],
            Cause::SndbufLimited => vec![("sndbuf", None)],
            Cause::RwndLimited | Cause::ZeroWindow => vec![("rcvbuf", None)],
            Cause::IdleRestart => vec![("slow-start-after-idle", Some(0))],
            Cause::Nagle => vec![("nodelay", Some(1)), ("delayed-ack", Some(0))],
            Cause::DelayedAck => vec![("delayed-ack", Some(0)), ("nodelay", Some(1))],
            Cause::Retransmission => vec![("loss", Some(0))],
            Cause::Handshake => vec![("reuse-connection", Some(1))],
            Cause::AppLimited => vec![("think", Some(0))],
            Cause::BandwidthLimited => twice_the_rate(setup).into_iter().collect(),
            _ => Vec::new(),
        };
        for change in wanted.into_iter().filter_map(|(name, value)| Change::new(name, value)) {
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
    }
    changes
}

fn causes(record: &Record, least: Nanos) -> Vec<Cause> {
    let mut sums: Vec<(Cause, Nanos)> = Vec::new();
    for stall in &record.row.stalls {
        match sums.iter_mut().find(|(cause, _)| *cause == stall.cause) {
            Some((_, sum)) => *sum += stall.duration_ns,
            None => sums.push((stall.cause, stall.duration_ns)),
        }
    }
    if record.row.directions.client.path.bottleneck_bytes_per_s.is_some()
        || record.row.directions.server.path.bottleneck_bytes_per_s.is_some()
    {
        sums.push((Cause::BandwidthLimited, least));
    }
    sums.into_iter().filter(|(_, sum)| *sum >= least).map(|(cause, _)| cause).collect()
}

/// The initial window that lets the largest answer go at once, within reason.
fn fitting(setup: &Setup) -> i64 {
    let largest =
        setup.ends.iter().flat_map(|end| end.steps.iter().map(move |step| (step.bytes + end.mss - 1) / end.mss));
    let now = setup.ends.iter().map(|end| i64::from(end.initial_window)).max().unwrap_or(1);
    largest.max().unwrap_or(1).clamp(2 * now, LARGEST_INITIAL_WINDOW.max(2 * now))
}

fn twice_the_rate(setup: &Setup) -> Option<(&'static str, Option<i64>)> {
    let rate = setup.ends.iter().filter_map(|end| end.rate).fold(0.0_f64, f64::max);
    (rate > 0.0).then_some(("rate", Some((2.0 * rate) as i64)))
}
