//! The windows that an end announced, by the amount of data that had arrived there.

use super::Arrivals;
use crate::flow::End;
use crate::replay::record::Record;
use crate::replay::setup::WindowOpening;
use crate::time::Nanos;

/// Initial window of a receiver without a captured window: the largest unscaled field (RFC 9293 §3.1).
const UNSCALED: i64 = 65_535;
/// Shortest wait of an acknowledgement of a full window for the reader: Linux acknowledges more than a segment at once
/// only where the window can move (__tcp_ack_snd_check), and otherwise when the reader has read (__tcp_cleanup_rbuf).
const READER: Nanos = Nanos::from_millis(2);
/// The first offset of data.
const FIRST: i64 = 1;

/// Windows of one end, at a round trip of `distance` from the tap.
pub(super) fn openings(record: &Record, end: End, distance: Nanos, heard: &Arrivals, rtt: Nanos) -> Vec<WindowOpening> {
    let mut openings: Vec<WindowOpening> = Vec::new();
    let mss = record.mss[end.peer()];
    let own = record.passings.iter().filter(|passing| passing.sender == end);
    for passing in own {
        let (Some(ack), Some(edge)) = (passing.ack, passing.edge) else { continue };
        let Some(last) = openings.last().copied() else {
            openings.push(WindowOpening { arrived: ack.min(FIRST), edge, after: Nanos::ZERO });
            continue;
        };
        let highest = openings.iter().rev().take(2).map(|opening| opening.edge).max().unwrap_or(last.edge);
        let left = passing.time - Nanos(distance.0 / 2);
        let waited = heard.at(ack).filter(|_| ack > FIRST).map_or(Nanos::ZERO, |arrived| (left - arrived).or_zero());
        if ack > last.arrived {
            let for_the_reader = edge > highest && highest - ack < 2 * mss && waited > READER.max(rtt.scaled(0.5));
            let after = if for_the_reader { waited } else { Nanos::ZERO };
            openings.push(WindowOpening { arrived: ack, edge: edge.max(highest), after });
        } else if ack == last.arrived && edge > highest {
            openings.push(WindowOpening { arrived: ack, edge, after: waited });
        }
    }
    if openings.is_empty() {
        openings.push(WindowOpening { arrived: FIRST, edge: FIRST + UNSCALED, after: Nanos::ZERO });
    }
    openings
}

/// Ranges of the peer's data that an end acknowledged late although more than a segment had come: Linux acknowledges it at
/// once only where the window can move (__tcp_ack_snd_check).
pub(super) fn held(record: &Record, end: End, distance: Nanos, heard: &Arrivals, rtt: Nanos) -> Vec<(i64, i64)> {
    let (mut held, mut acked, mut highest) = (Vec::new(), FIRST, 0);
    let mss = record.mss[end.peer()];
    for passing in record.passings.iter().filter(|passing| passing.sender == end) {
        let (Some(ack), Some(edge)) = (passing.ack, passing.edge) else { continue };
        if ack > acked {
            let left = passing.time - Nanos(distance.0 / 2);
            let late = heard.until(left - READER.max(rtt.scaled(0.5)));
            if late - acked > 2 * mss && edge - highest < 2 * mss && late <= ack {
                held.push((acked, late));
            }
            acked = ack;
        }
        highest = highest.max(edge);
    }
    held
}
