//! What holds of any report, whatever the bytes: the reader's arithmetic comes out.

use tcpstall_core::run::CaptureStatus;
use tcpstall_core::tables::ledger::Owner;
use tcpstall_core::tables::{FlowRow, Side};
use tcpstall_core::time::Nanos;

/// Of one flow.
pub(crate) fn of_flow(row: &FlowRow) {
    assert!(row.start_ns <= row.end_ns, "a flow ends after it began");
    assert!(row.segments > 0, "a flow has segments");
    let owned = Owner::all().fold(Nanos::ZERO, |sum, owner| sum + row.time_ns.of(owner));
    assert_eq!(owned, row.end_ns - row.start_ns, "each nanosecond has one owner");
    for side in Side::BOTH {
        let mut free = Nanos(i64::MIN);
        for stall in row.stalls.iter().filter(|stall| stall.sender == side) {
            assert_eq!(stall.duration_ns, stall.end_ns - stall.start_ns);
            assert!(stall.duration_ns >= Nanos::ZERO, "a wait has a length");
            assert!((0.0..=1.0).contains(&stall.confidence));
            if stall.duration_ns > Nanos::ZERO {
                assert!(stall.start_ns >= free, "an end waits for one thing at a time");
                free = stall.end_ns;
            }
        }
    }
    assert!(row.stalls.is_sorted_by_key(|stall| stall.start_ns));
    for exchange in row.exchanges.iter().flatten() {
        let parts = exchange.parts.iter().fold(Nanos::ZERO, |sum, part| sum + part.duration_ns);
        assert_eq!(parts, exchange.latency_ns, "the parts of a latency sum to it");
    }
    assert!((0.0..=1.0).contains(&row.vantage.confidence));
}

/// Of one input with the flows that it gave.
pub(crate) fn of_capture(status: &CaptureStatus, rows: &[FlowRow]) {
    let segments: u64 = rows.iter().map(|row| row.segments).sum();
    assert_eq!(segments, status.tcp_segments, "each segment belongs to one flow");
    assert_eq!(status.exit_code != 0, status.error.is_some());
    let lines = status.error.as_ref().map_or(0, |error| error.chars().filter(|char| char.is_control()).count());
    assert_eq!(lines, 0, "an error is one line: {:?}", status.error);
}
