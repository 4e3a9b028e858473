//! Decides which changes a capture says nothing about, whatever the replay gives.

use super::change::Change;
use super::record::Record;
use super::recover::{Refusal, shares};
use super::setup::Setup;
use crate::causes::Cause;
use crate::flow::End;

/// Reason why the capture cannot show the effect of these changes, made together.
pub(super) fn unknown(changes: &[Change], record: &Record, setup: &Setup) -> Option<Refusal> {
    changes.iter().find_map(|change| {
        alone(change, record, setup).or_else(|| of_buffer(change, changes, record, setup)).or_else(|| {
            match change.name {
                // A queue stands before a link that is slower than its sender.
                "queue" | "queue-packets" => of_queue(change, changes, setup),
                _ => None,
            }
        })
    })
}

fn alone(change: &Change, record: &Record, setup: &Setup) -> Option<Refusal> {
    let shared = || End::BOTH.into_iter().any(|end| change.is_at(end) && shares(record, end));
    match (change.name, change.value) {
        ("reuse-connection", Some(0)) if setup.spans.len() > 1 => Some(Refusal::NewConnections),
        ("rate" | "queue" | "queue-packets", _) if shared() => Some(Refusal::SharedLine),
        _ => None,
    }
}

fn of_buffer(change: &Change, changes: &[Change], record: &Record, setup: &Setup) -> Option<Refusal> {
    let lifted = |end| changes.iter().any(|other| other.name == "sndbuf" && other.value.is_none() && other.is_at(end));
    let hidden = End::BOTH.into_iter().filter(|end| !lifted(*end)).any(|end| match (change.name, change.value) {
        // A larger window fills a buffer by other large frames than the captured ones.
        _ if change.widens() => setup.ends[end].frames.is_none() && fills_by_frames(record, end),
        // Without Nagle's rule more and smaller buffers fill a full send buffer, and less data fits.
        ("nodelay", Some(1)) => change.is_at(end) && setup.ends[end].nagle && setup.ends[end].is_buffered(),
        _ => false,
    });
    hidden.then_some(Refusal::HiddenLimit)
}

fn of_queue(change: &Change, changes: &[Change], setup: &Setup) -> Option<Refusal> {
    let rated = |end| changes.iter().any(|other| other.name == "rate" && other.is_at(end));
    let spared = |end| changes.iter().any(|other| other.name == "loss" && other.is_at(end));
    let ends = || End::BOTH.into_iter().filter(|end| change.is_at(*end));
    if !ends().any(|end| setup.ends[end].rate.is_some() || rated(end)) {
        return Some(Refusal::NoBottleneck);
    }
    // Losses at fixed data may have been the queue's.
    ends().any(|end| setup.ends[end].is_lossy() && !spared(end)).then_some(Refusal::Luck)
}

/// True if a sender of large frames waited for its send buffer. Such frames fill it by irregular amounts: two flights of
/// the same window differ, so that no one level holds with another window, even where one explains the captured waits.
fn fills_by_frames(record: &Record, end: End) -> bool {
    let blocked = record.silences[end].iter().any(|silence| silence.cause == Cause::SndbufLimited);
    blocked && record.passings.iter().any(|own| own.sender == end && own.bytes > record.mss[end])
}
