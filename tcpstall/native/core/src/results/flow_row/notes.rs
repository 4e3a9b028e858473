//! Notes of a flow's row: limits that were hit, and what was guessed.

use crate::pause::Finished;

/// Notes of a flow, in a fixed order.
pub(super) fn notes(flow: &Finished) -> Vec<&'static str> {
    let mut notes = Vec::new();
    if !flow.connection().roles_known {
        notes.push("roles-guessed");
    }
    if flow.clock_steps().is_some() {
        notes.push("time-went-back");
    } else if flow.connection().is_stamped_late() {
        notes.push("late-stamps");
    }
    if flow.dropped > 0 {
        notes.push("stall-limit");
    }
    if flow.rounds().dropped > 0 {
        notes.push("exchange-limit");
    }
    if flow.connection().halves.iter().any(|half| half.forgotten > 0) {
        notes.push("flight-limit");
    }
    if flow.incomplete() {
        notes.push("packets-left-out");
    }
    if flow.let_go() {
        notes.push("flow-limit");
    }
    if flow.connection().handshake.is_multipath() {
        notes.push("mptcp");
    }
    if flow.connection().halves.iter().any(|half| half.never_seen > 0) {
        notes.push("acked-unseen");
    }
    notes
}
