//! The largest saving of a change: the time that the ledger gives to the causes that the change addresses.
//!
//! The model replays everything that a change affects, and the replay may gain more than the change itself lifts: with
//! other segments another one is lost, so that a timeout becomes a quick repair. No window removes a loss, so no such
//! gain is promised.

use super::change::Change;
use super::model::Played;
use super::record::Record;
use super::setup::Setup;
use super::times::Times;
use crate::causes::Cause;
use crate::exchange::Phase;
use crate::flow::End;
use crate::results::ledger::{OWNERS, Owner};
use crate::time::Nanos;

/// Largest time that all owners together can lose to changes made together.
pub(super) struct Bound(Nanos);

impl Bound {
    /// The bound of several changes: each owner loses the most that one of them takes.
    pub(super) fn of(record: &Record, captured: &Times, changes: &[Change], setup: &Setup) -> Bound {
        let mut most = [Nanos::ZERO; OWNERS];
        for (owner, span) in changes.iter().flat_map(|change| addressed(record, change)) {
            most[owner.index()] = most[owner.index()].max(span);
        }
        for owner in follows(record, changes, setup) {
            most[owner.index()] = record.row.time_ns.of(owner);
        }
        if changes.iter().any(|change| change.name == "rtt") {
            let alone = ALONE.map(|cause| most[Owner::Waiting(cause).index()]);
            return Bound(networks(record, captured) + total(alone));
        }
        Bound(total(most))
    }

    /// The sum over all owners.
    pub(super) fn owned(&self) -> Nanos {
        self.0
    }

    /// Lengthens the changed replay to the longer of the capture and the unchanged replay, less the time that the
    /// owners can lose; returns the time added.
    pub(super) fn hold(&self, changed: &mut Played, unchanged: &Played, captured: &Times) -> Nanos {
        let transfer = captured.transfer_ns.max(unchanged.transfer) - self.0;
        let cut = (transfer - changed.transfer).or_zero();
        changed.transfer = changed.transfer.max(transfer);
        let exchanges =
            total(captured.exchanges_ns.iter().copied()).max(total(unchanged.exchanges.iter().copied())) - self.0;
        let most = captured.exchanges_ns.iter().zip(&unchanged.exchanges).map(|(was, own)| (*was).max(*own));
        cut.max(lengthen(&mut changed.exchanges, most, exchanges))
    }
}

/// Owners whose time follows a window that changes.
fn follows(record: &Record, changes: &[Change], setup: &Setup) -> Vec<Owner> {
    let mut owners = Vec::new();
    // A pace that is measured follows the window; its waits are mostly too short for a stall.
    if setup.is_measured() && changes.iter().any(Change::sizes_window) {
        owners.extend([Owner::Waiting(Cause::Pacing), Owner::Sending]);
    }
    if setup.ends.iter().any(|end| end.frames.is_some()) {
        let made = |name| changes.iter().any(|change| change.name == name);
        // A writer of large frames stops where the window does, and the window of a connection that was used, or idle, is
        // large.
        let restarts = record.row.time_ns.of(Owner::Waiting(Cause::IdleRestart)) > Nanos::ZERO;
        let large = made("reuse-connection") || restarts && made("slow-start-after-idle");
        owners.extend(large.then_some(Owner::Waiting(Cause::SndbufLimited)));
        // A window that such a writer leaves unfilled does not grow (Linux tcp_is_cwnd_limited).
        owners.extend(made("sndbuf").then_some(Owner::Waiting(Cause::CwndLimited)));
    }
    owners
}

fn total(spans: impl IntoIterator<Item = Nanos>) -> Nanos {
    spans.into_iter().fold(Nanos::ZERO, |sum, span| sum + span)
}

/// Lengthens all spans by the same share of the distance to their longest values, so that their sum is at least
/// `least`; returns the missing time.
fn lengthen(spans: &mut [Nanos], longest: impl Iterator<Item = Nanos> + Clone, least: Nanos) -> Nanos {
    let missing = (least - total(spans.iter().copied())).or_zero();
    let room = total(spans.iter().zip(longest.clone()).map(|(span, longest)| (longest - *span).or_zero()));
    let share = (missing.0 as f64 / room.0.max(1) as f64).min(1.0);
    for (span, longest) in spans.iter_mut().zip(longest) {
        // Rounded up, because fractions of a nanosecond add up.
        *span += Nanos(((longest - *span).or_zero().0 as f64 * share).ceil() as i64);
    }
    missing
}

/// Owners that a change addresses, with the time that each can lose.
fn addressed(record: &Record, change: &Change) -> Vec<(Owner, Nanos)> {
    let ledger = &record.row.time_ns;
    let causes: &[Cause] = match change.name {
        "initcwnd" => &[Cause::CwndLimited, Cause::IdleRestart],
        "sndbuf" => &[Cause::SndbufLimited],
        "rcvbuf" => &[Cause::RwndLimited, Cause::ZeroWindow],
        "slow-start-after-idle" => &[Cause::IdleRestart],
        "nodelay" | "delayed-ack" => &[Cause::Nagle, Cause::DelayedAck],
        // The window that its receiver tunes has grown too.
        "reuse-connection" => &[Cause::Handshake, Cause::CwndLimited, Cause::RwndLimited],
        "loss" => &[Cause::Retransmission],
        "think" => &[Cause::AppLimited],
        "rate" => &[Cause::BandwidthLimited],
        // A queue that holds more loses less, and a window that grows faster waits less.
        "queue" | "queue-packets" => &[Cause::Retransmission, Cause::CwndLimited],
        "cc" => &[Cause::CwndLimited, Cause::IdleRestart, Cause::Retransmission],
        _ => &[],
    };
    let owned = |cause| match change.end {
        Some(end) => of_end(record, waiting(change, end), cause),
        None => ledger.of(Owner::Waiting(cause)),
    };
    let mut owners: Vec<_> = causes.iter().map(|cause| (Owner::Waiting(*cause), owned(*cause))).collect();
    match change.name {
        "loss" => owners.extend(consequences(record)),
        "think" => owners.push((Owner::InTransit, taken_for_travel(record))),
        // The same bytes pass in less time.
        "rate" => owners.push((Owner::Sending, ledger.of(Owner::Sending))),
        _ => {}
    }
    owners
}

/// The sender that waits for what a change at `end` sets: its peer, where that is a window or an acknowledgement.
fn waiting(change: &Change, end: End) -> End {
    if matches!(change.name, "rcvbuf" | "delayed-ack") { end.peer() } else { end }
}

/// Time of one end's waits of a cause, as far as the ledger owns them.
fn of_end(record: &Record, end: End, cause: Cause) -> Nanos {
    let own = record.silences[end].iter().filter(|silence| silence.cause == cause);
    total(own.map(|silence| silence.end - silence.start)).min(record.row.time_ns.of(Owner::Waiting(cause)))
}

/// The part of the responder's own time that the ledger counts as travel: a round trip of each pause, wherever the tap
/// is.
fn taken_for_travel(record: &Record) -> Nanos {
    let thought = record.row.exchanges.iter().flatten().map(|exchange| exchange.of(Phase::Think));
    let owned = record.row.time_ns.of(Owner::Waiting(Cause::AppLimited));
    (total(thought) - owned).or_zero().min(record.row.time_ns.of(Owner::InTransit))
}

/// Causes whose time contains no round trip.
const ALONE: [Cause; 2] = [Cause::AppLimited, Cause::CaptureGap];

/// Time that contains round trips: everything except the applications' own time and missing parts of the capture.
fn networks(record: &Record, captured: &Times) -> Nanos {
    let whole = captured.transfer_ns.max(total(captured.exchanges_ns.iter().copied()));
    let others = ALONE.map(|cause| record.row.time_ns.of(Owner::Waiting(cause)));
    (whole - total(others)).or_zero()
}

/// Costs of a loss beyond its repair: the handshake's timeouts, and the time with a window that the loss left small.
fn consequences(record: &Record) -> [(Owner, Nanos); 2] {
    let of = |cause| record.row.time_ns.of(Owner::Waiting(cause));
    let trip = record.row.base_rtt_ns.unwrap_or_default();
    let again = if record.lost_handshakes > 0 { (of(Cause::Handshake) - trip).or_zero() } else { Nanos::ZERO };
    let small =
        record.row.stalls.iter().filter(|stall| stall.cause == Cause::CwndLimited && stall.detail == LEFT_SMALL);
    let small = small.fold(Nanos::ZERO, |sum, stall| sum + stall.duration_ns).min(of(Cause::CwndLimited));
    [(Owner::Waiting(Cause::Handshake), again), (Owner::Waiting(Cause::CwndLimited), small)]
}

/// The detail of `cwnd-limited` for a window that no longer doubles.
const LEFT_SMALL: &str = "congestion-avoidance";

#[cfg(test)]
mod tests {
    use super::*;

    fn played(transfer: i64, exchanges: &[i64]) -> Played {
        let exchanges = exchanges.iter().copied().map(Nanos).collect();
        Played { transfer: Nanos(transfer), exchanges, ..Played::default() }
    }

    fn captured(transfer: i64, exchanges: &[i64]) -> Times {
        Times { transfer_ns: Nanos(transfer), exchanges_ns: exchanges.iter().copied().map(Nanos).collect() }
    }

    #[test]
    fn a_gain_within_what_is_owned_stays() {
        let (unchanged, mut changed) = (played(100, &[60, 40]), played(70, &[40, 30]));
        let cut = Bound(Nanos(30)).hold(&mut changed, &unchanged, &captured(100, &[60, 40]));
        assert_eq!(cut, Nanos::ZERO);
        assert_eq!(changed, played(70, &[40, 30]));
    }

    #[test]
    fn a_gain_beyond_is_cut_in_all_exchanges_alike() {
        let (unchanged, mut changed) = (played(100, &[60, 40]), played(50, &[20, 30]));
        let cut = Bound(Nanos(25)).hold(&mut changed, &unchanged, &captured(100, &[60, 40]));
        assert_eq!(cut, Nanos(25));
        assert_eq!(changed, played(75, &[40, 35]));
    }

    #[test]
    fn a_replay_that_was_too_quick_leaves_less_to_gain() {
        let (unchanged, mut changed) = (played(80, &[80]), played(60, &[60]));
        let cut = Bound(Nanos(25)).hold(&mut changed, &unchanged, &captured(100, &[100]));
        assert_eq!(cut, Nanos(15));
        assert_eq!(changed, played(75, &[75]));
    }

    #[test]
    fn what_got_slower_stays_slower() {
        let (unchanged, mut changed) = (played(100, &[100]), played(120, &[120]));
        Bound(Nanos::ZERO).hold(&mut changed, &unchanged, &captured(100, &[100]));
        assert_eq!(changed.transfer, Nanos(120));
    }
}
