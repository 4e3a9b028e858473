//! Compares replays: what one gains over another, and what each leaves out of the captured times.

use super::change::Change;
use super::model::Played;
use super::record::Record;
use super::times::Times;
use crate::causes::Cause;
use crate::results::ledger::Owner;
use crate::time::Nanos;

/// Share of the time that a replay lacks, from which the waits for the send buffer explain it.
const EXPLAINED: f64 = 0.7;

/// Captured waits for the send buffer that the unchanged replay lacks: large frames fill a buffer by irregular amounts.
/// They stay with changes that leave buffer and path alone; zero with others.
pub(super) fn unreplayed(record: &Record, captured: &Times, unchanged: &Played, changes: &[Change]) -> Times {
    let lacks = |own: Nanos, was: Nanos| (was - own).or_zero();
    let exchanges = captured.exchanges_ns.iter().zip(&unchanged.exchanges).map(|(was, own)| lacks(*own, *was));
    let missing =
        Times { transfer_ns: lacks(unchanged.transfer, captured.transfer_ns), exchanges_ns: exchanges.collect() };
    let blocked = record.row.time_ns.of(Owner::Waiting(Cause::SndbufLimited));
    let stays = changes.iter().all(|change| !matches!(change.name, "sndbuf" | "rtt" | "rate" | "reuse-connection"));
    if stays && blocked > Nanos::ZERO && blocked >= missing.transfer_ns.scaled(EXPLAINED) {
        return missing;
    }
    Times { transfer_ns: Nanos::ZERO, exchanges_ns: vec![Nanos::ZERO; captured.exchanges_ns.len()] }
}

impl Played {
    pub(super) fn times(&self) -> Times {
        Times { transfer_ns: self.transfer, exchanges_ns: self.exchanges.clone() }
    }

    pub(super) fn no_longer_than(mut self, other: &Played) -> Played {
        self.transfer = self.transfer.min(other.transfer);
        self.exchanges.iter_mut().zip(&other.exchanges).for_each(|(own, other)| *own = (*own).min(*other));
        self
    }

    /// This replay, with its gain over `from` limited to the gain of `changed` over `unchanged`.
    pub(super) fn gaining_no_more(mut self, from: &Played, unchanged: &Played, changed: &Played) -> Played {
        let least = |from: Nanos, unchanged: Nanos, changed: Nanos| from - (unchanged - changed).or_zero();
        self.transfer = self.transfer.max(least(from.transfer, unchanged.transfer, changed.transfer));
        let others = from.exchanges.iter().zip(&unchanged.exchanges).zip(&changed.exchanges);
        for (own, ((from, unchanged), changed)) in self.exchanges.iter_mut().zip(others) {
            *own = (*own).max(least(*from, *unchanged, *changed));
        }
        self
    }

    /// Time that the client waited, without its own pauses between exchanges.
    pub(super) fn waited(&self) -> Nanos {
        let exchanges = self.exchanges.iter().fold(Nanos::ZERO, |sum, span| sum + *span);
        if self.exchanges.is_empty() { self.transfer } else { exchanges }
    }

    /// This replay with these times longer: the transfer's, and each exchange's.
    pub(super) fn longer(mut self, by: &Times) -> Played {
        self.transfer += by.transfer_ns;
        self.exchanges.iter_mut().zip(&by.exchanges_ns).for_each(|(own, by)| *own += *by);
        self
    }
}
