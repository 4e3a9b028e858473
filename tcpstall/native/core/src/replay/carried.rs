//! Infers a pace of data that no window, buffer or link of the capture explains: hosts of fast networks send and read no
//! faster.

use super::model::{Played, play};
use super::progress::Progress;
use super::record::Record;
use super::setup::Setup;
use super::times::Times;
use crate::causes::Cause;
use crate::flow::End;
use crate::results::ledger::Owner;
use crate::time::Nanos;

/// Share of the time that the replay lacks, from which sending itself and unexplained waits explain it.
const EXPLAINED: f64 = 0.7;
/// Largest distance of the transfer from the captured one, and of the progress at any part of the data, as a share of
/// the captured transfer.
const FITS: f64 = 0.1;
/// Segments of data whose pace is known well enough.
const LEAST: i64 = 30;
/// Largest pace, in multiples of the mean one: a faster one is no limit.
const MOST: f64 = 32.0;
/// Halvings of the range in which the pace lies: to a hundredth.
const STEPS: u32 = 9;

/// The end whose data were carried at a pace of unknown cause, with the setup and its replay; `None` where the replay is
/// quick for another reason, or no one pace follows the captured progress.
pub(super) fn carried(
    record: &Record,
    setup: &Setup,
    played: &Played,
    captured: &Times,
    progress: &[Progress; 2],
) -> Option<(End, Setup, Played)> {
    let missing = captured.transfer_ns - played.transfer;
    let near = setup.rtt.max(captured.transfer_ns.scaled(FITS));
    let end = End::BOTH.into_iter().max_by_key(|end| setup.ends[*end].bytes())?;
    let own = &setup.ends[end];
    let unknown = own.rate.is_none() && own.pace.is_none() && own.losses.is_empty();
    // Waits for a buffer are a known limit, however irregularly large frames fill it.
    let blocked = record.row.time_ns.of(Owner::Waiting(Cause::SndbufLimited));
    if missing <= near
        || blocked >= missing
        || !unknown
        || own.bytes() < LEAST * own.mss
        || explained(record) < missing.scaled(EXPLAINED)
    {
        return None;
    }
    let mean = own.bytes() as f64 * 1e9 / captured.transfer_ns.0.max(1) as f64;
    let paced = |pace: f64| {
        let mut setup = setup.clone();
        setup.ends[end].pace = Some(pace);
        let played = play(&setup)?;
        Some((setup, played))
    };
    let (mut low, mut high) = (mean, MOST * mean);
    for _ in 0..STEPS {
        let middle = (low * high).sqrt();
        if paced(middle)?.1.transfer > captured.transfer_ns { low = middle } else { high = middle }
    }
    let (setup, played) = paced((low * high).sqrt())?;
    let apart = played.progress[end.peer()].distance(&progress[end.peer()]);
    let follows = (played.transfer - captured.transfer_ns).0.abs() <= near.0 && apart <= near;
    follows.then_some((end, setup, played))
}

/// Time that the ledger gives to sending itself, and to nothing that is known.
fn explained(record: &Record) -> Nanos {
    let waiting = [Cause::Unexplained, Cause::BandwidthLimited, Cause::Pacing].map(Owner::Waiting);
    let owners = waiting.into_iter().chain([Owner::Sending, Owner::InTransit]);
    owners.fold(Nanos::ZERO, |sum, owner| sum + record.row.time_ns.of(owner))
}
