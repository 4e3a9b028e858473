//! `unexplained` — the evidence does not decide.
//!
//! Rule      no rule said yes; what is missing is named, and the candidates are ranked
//! Evidence  whatever was seen: `in_flight_bytes`, `peer_window_bytes`, the packets around the wait; `also` holds the rules that
//!           what is missing kept from judging, likeliest first: those that lack only the order of ACKs and data; the receive
//!           window where some scale makes it full to less than a segment; the send buffer where the flight stands round after
//!           round; else the congestion window
//! Source    none: a confident guess would be worse
//! Abstains  always
//! Looks like any of the others

use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Missing, Proof};
use crate::few::Few;
use crate::pause::Pause;

/// Proof where no rule said yes.
pub(super) const PROOF: Proof = Proof { detail: "", confidence: 0.0 };

/// Largest window shift that is used: RFC 7323 §2.3.
const MAX_SHIFT: u32 = 14;
/// Causes that could not be judged, most probable first: the first is the one most likely to be named if the missing
/// evidence were there. Causes of one rank keep the order of precedence.
pub(super) fn ranked(pause: &Pause, limits: &Limits, mut doubts: Few<(Cause, Missing)>) -> Few<Cause, 16> {
    let (full, stands) = (may_be_full(pause), pause.context.plateau_rounds >= limits.plateau_rounds);
    doubts.sort_by_key(|(cause, missing)| match cause {
        // Everything but the order of events said yes.
        _ if *missing == Missing::DISTANCE => 0,
        Cause::RwndLimited if full => 1,
        Cause::SndbufLimited if stands => 2,
        Cause::SndbufLimited => 4,
        Cause::RwndLimited => 5,
        _ => 3,
    });
    doubts.into_iter().map(|(cause, _)| cause).collect()
}

/// Some window scale makes the window field equal to the data in flight: that hardly happens by chance.
fn may_be_full(pause: &Pause) -> bool {
    let room = |shift: u32| (i64::from(pause.window_field) << shift) - pause.flight_at_start;
    pause.room_at_start.map_or_else(
        || (0..=MAX_SHIFT).any(|shift| (0..pause.next_segment()).contains(&room(shift))),
        |room| room < pause.next_segment(),
    )
}
