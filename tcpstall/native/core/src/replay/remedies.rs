//! Selects the changes that address a flow's causes.

use super::change::Change;
use super::record::Record;
use super::setup::Setup;
use crate::causes::Cause;
use crate::results::ledger::Owner;
use crate::results::rows::DirectionRow;
use crate::time::Nanos;

/// Share of the flow's time, without the applications' own, below which a cause is not worth a change.
const WORTH: f64 = 0.01;
/// Largest initial window that is suggested, segments: Linux accepts any, but a larger burst is unreasonable.
const LARGEST_INITIAL_WINDOW: i64 = 100;
/// 1 Mbit/s in bytes per second: slower links are not sold.
const SLOWEST_LINK: i64 = 125_000;
/// Smallest speed-up of a link that is worth suggesting.
const FASTER: f64 = 2.0;

/// The changes for a flow, each alone, in no particular order.
pub(super) fn called_for(record: &Record, setup: &Setup) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for cause in causes(record) {
        let wanted: Vec<(&str, Option<i64>)> = match cause {
            Cause::CwndLimited => fitting(setup).into_iter().chain([("reuse-connection", Some(1))]).collect(),
            Cause::SndbufLimited => vec![("sndbuf", None)],
            Cause::RwndLimited | Cause::ZeroWindow => vec![("rcvbuf", None)],
            Cause::IdleRestart => vec![("slow-start-after-idle", Some(0))],
            Cause::Nagle => vec![("nodelay", Some(1)), ("delayed-ack", Some(0))],
            Cause::DelayedAck => vec![("delayed-ack", Some(0)), ("nodelay", Some(1))],
            Cause::Retransmission => vec![("loss", Some(0))],
            Cause::Handshake => vec![("reuse-connection", Some(1))],
            Cause::AppLimited => vec![("think", Some(0))],
            Cause::BandwidthLimited => faster_link(record).into_iter().collect(),
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

/// The causes that own enough of the flow's time, by the ledger.
fn causes(record: &Record) -> Vec<Cause> {
    let of = |cause| record.row.time_ns.of(Owner::Waiting(cause));
    let life = record.row.end_ns - record.row.start_ns;
    let least = (life - of(Cause::AppLimited)).scaled(WORTH).max(Nanos(1));
    Cause::ALL.into_iter().filter(|cause| of(*cause) >= least).collect()
}

/// The initial window that sends the largest message at once, within reason and within the receiver's first window;
/// `None` where the window is that large already.
fn fitting(setup: &Setup) -> Option<(&'static str, Option<i64>)> {
    let now = setup.ends.iter().map(|end| i64::from(end.initial_window)).max().unwrap_or(1);
    let wanted = [0, 1].map(|end| {
        let (own, peer) = (&setup.ends[end], &setup.ends[1 - end]);
        let largest = own.steps.iter().map(|step| (step.bytes + own.mss - 1) / own.mss).max().unwrap_or(1);
        let first = peer.openings.first().map_or(i64::MAX, |opening| (opening.edge - opening.arrived) / own.mss);
        largest.max(2 * now).min(first)
    });
    let wanted = wanted[0].max(wanted[1]).min(LARGEST_INITIAL_WINDOW);
    (wanted > now).then_some(("initcwnd", Some(wanted)))
}

/// A link at least twice as fast as the flow's bottleneck, and faster than any rate of the flow.
fn faster_link(record: &Record) -> Option<(&'static str, Option<i64>)> {
    let directions = &record.row.directions;
    let bound = [&directions.client, &directions.server].into_iter().max_by_key(|row| row.path.bandwidth_limited_ns)?;
    let now = bound.path.bottleneck_bytes_per_s? as f64;
    let reached =
        |row: &DirectionRow| row.bytes as f64 * 1e9 / (record.row.end_ns - record.row.start_ns).0.max(1) as f64;
    let reached = reached(&directions.client).max(reached(&directions.server));
    Some(("rate", Some(sold((FASTER * now.max(reached)) as i64))))
}

/// The next rate of the series 1, 2, 5, 10 … Mbit/s, bytes per second.
fn sold(least: i64) -> i64 {
    let mut decade = SLOWEST_LINK;
    loop {
        if let Some(step) = [1, 2, 5].into_iter().find(|step| decade.saturating_mul(*step) >= least) {
            return decade.saturating_mul(step);
        }
        decade = decade.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_asked_for_in_sizes_that_are_sold() {
        let mbit = |rate: i64| rate as f64 * 8.0 / 1e6;
        let asked = [0, 90_454, 125_001, 2_390_824, 12_500_000, i64::MAX].map(|least| mbit(sold(least)));
        assert_eq!(asked[..5], [1.0, 1.0, 2.0, 20.0, 100.0]);
        assert!(asked[5] > 1e12);
    }
}
