//! `unexplained` — the evidence does not decide.
//!
//! Rule      no rule said yes; what is missing is named, and the candidates are ranked
//! Evidence  whatever was seen: `in_flight_bytes`, `peer_window_bytes`, the packets around the wait
//! Source    none: a confident guess would be worse
//! Abstains  always
//! Looks like any of the others

use super::rule::Proof;

/// The label where none is earned.
pub(super) const PROOF: Proof = Proof { detail: "", confidence: 0.0 };
