//! Infers whether an end delays its acknowledgements, and by how much.
//!
//! Linux delays them in a conversation only, until a delay ends one (tcp_delack_timer_handler). Other stacks delay each
//! acknowledgement of a lone segment (RFC 1122 §4.2.3.2), or none.

use super::limits::median;
use crate::flow::End;
use crate::replay::model::CONVERSATION;
use crate::replay::record::{PassingKind, Record};
use crate::time::Nanos;

/// Linux's shortest delay of an acknowledgement (TCP_ATO_MIN, HZ/25), to within a tick.
const DELAYED_ACK: Nanos = Nanos::from_millis(40);
/// Shortest delay of an acknowledgement that a timer ended: half of the shortest one in use.
const LEAST_DELAY: Nanos = Nanos::from_millis(20);
/// Longest delay of an acknowledgement (RFC 1122 §4.2.3.2).
const MOST_DELAY: Nanos = Nanos::from_millis(500);
/// Acknowledgements that prove a delay, or that there is none.
const ENOUGH: usize = 3;

/// Acknowledgements of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delays {
    /// Delay of those that all of the peer's data had to wait for: the median; zero where none waits.
    pub(super) delay: Nanos,
    /// Lone segments wait outside of conversations too.
    pub(super) always: bool,
}

/// Delays of the acknowledgements of one end, at a round trip of `distance` from the tap.
pub(super) fn delays(record: &Record, end: End, distance: Nanos) -> Delays {
    let waits = waits(record, end, distance);
    let is_slow = |wait: &&Wait| wait.lasted >= LEAST_DELAY;
    let count = |talks: bool, slow: bool| {
        waits.iter().filter(|wait| wait.alone && wait.talks == talks && is_slow(wait) == slow).count()
    };
    let slow: Vec<Nanos> = waits.iter().filter(is_slow).map(|wait| wait.lasted).collect();
    let always = count(false, true) > count(false, false);
    let never = slow.is_empty() && count(true, false) >= ENOUGH;
    let known = slow.len() >= ENOUGH || always;
    let delay = if never { Nanos::ZERO } else { median(slow).filter(|_| known).unwrap_or(DELAYED_ACK) };
    Delays { delay, always }
}

/// A wait of the peer's newest data for an acknowledgement without data.
struct Wait {
    lasted: Nanos,
    /// One segment alone waited. A second one is acknowledged at once, and so is a second small one that a reader takes
    /// (Linux ICSK_ACK_PUSHED2).
    alone: bool,
    /// In a conversation, as Linux tells one.
    talks: bool,
}

fn waits(record: &Record, end: End, distance: Nanos) -> Vec<Wait> {
    let (mut waits, mut talks) = (Vec::new(), false);
    let mut newest: Option<(i64, Nanos)> = None;
    let (mut last, mut acked, mut segments) = (None, 0, 0);
    for passing in &record.passings {
        if passing.sender != end {
            if passing.bytes > 0 {
                last = Some(passing.time);
                segments += 1;
                // Data that were sent again waited for their repair.
                newest = (passing.kind == PassingKind::New).then_some((passing.start + passing.bytes, passing.time));
            }
            continue;
        }
        let before = acked;
        acked = passing.ack.unwrap_or(0).max(acked);
        let alone = segments == 1 && acked - before <= record.mss[end.peer()];
        segments = if acked > before { 0 } else { segments };
        let sent = newest.take_if(|(offset, _)| passing.ack == Some(*offset)).map(|(_, sent)| sent);
        if passing.bytes > 0 {
            talks |= last.is_some_and(|last| passing.time - last - distance < CONVERSATION);
        } else if let Some(sent) = sent {
            let lasted = passing.time - sent - distance;
            if lasted <= MOST_DELAY {
                waits.push(Wait { lasted, alone, talks });
            }
            talks &= lasted < LEAST_DELAY;
        }
    }
    waits
}
