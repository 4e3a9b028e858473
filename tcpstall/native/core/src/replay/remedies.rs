//! Selects the changes that address a flow's causes.

use super::change::Change;
use super::record::Record;
use super::setup::Setup;
use super::sizing::{carried, sizing};
use crate::causes::Cause;
use crate::results::ledger::Owner;
use crate::sender::sizes;
use crate::time::Nanos;

/// Share of the flow's time, without the applications' own, below which a cause is not worth a change.
const WORTH: f64 = 0.01;

/// The changes for a flow, each alone, in no particular order.
pub(super) fn called_for(record: &Record, setup: &Setup) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for cause in causes(record) {
        let wanted: Vec<(&str, Option<i64>)> = match cause {
            Cause::CwndLimited => fitting(record, setup).into_iter().chain([("reuse-connection", Some(1))]).collect(),
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

/// The initial window to set at an end whose congestion window was full; `None` where each began with as much.
fn fitting(record: &Record, setup: &Setup) -> Option<(&'static str, Option<i64>)> {
    let waited = |sender| record.row.stalls.iter().any(|row| row.sender == sender && row.cause == Cause::CwndLimited);
    let larger = sizing(record).into_iter().filter(|size| waited(size.sender)).filter_map(|size| {
        let wanted = i64::try_from(size.initcwnd_segments).ok()?;
        (wanted > i64::from(setup.ends[size.sender].initial_window)).then_some(wanted)
    });
    Some(("initcwnd", Some(larger.max()?)))
}

/// The link to ask for, where the flow's bottleneck is known.
fn faster_link(record: &Record) -> Option<(&'static str, Option<i64>)> {
    let directions = &record.row.directions;
    let bound = [&directions.client, &directions.server].into_iter().max_by_key(|row| row.path.bandwidth_limited_ns)?;
    let rate = sizes::faster_link(bound.path.bottleneck_bytes_per_s?.max(carried(&record.row)));
    Some(("rate", Some(i64::try_from(rate).ok()?)))
}
