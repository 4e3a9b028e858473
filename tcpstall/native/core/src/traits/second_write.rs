//! A second write: a short one may wait for the ACK of the short one before it, while a full segment does not.
//!
//! Prior     it leaves at once, as far as the tap can see
//! Evidence  short segments alone in flight, and the next short one within half a round trip after their ACK; full
//!           segments that left immediately after a short one; against it: two consecutive short segments, or a later
//!           second one
//! Learnt    once three second writes waited, a full segment did not, and hardly any second write came later
//! Source    RFC 896, RFC 9293 §3.7.4: a full segment leaves whatever is outstanding. A slow application delays both
//!           kinds

use super::{BurstAndPause, Observed};

/// The segment after a short one that left from an empty pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Second {
    /// The burst is not a short segment, or did not leave from an empty pipe.
    #[default]
    None,
    /// Full segments, at once.
    FullAtOnce,
    /// A short segment, at once.
    ShortAtOnce,
    /// A short segment, within half a round trip after the ACK of the first.
    Held,
    /// A short segment after the ACK of the first, but later.
    Later,
}

/// Waits that show a habit.
const HELD: u32 = 3;

/// Held writes required for each later one: the later ones had no second write to send.
const MOSTLY: u32 = 4;

/// Counts how often a short second write was held; 0 where the flow shows that the ACK need not be the reason.
pub(super) fn learn(rounds: &[BurstAndPause]) -> Observed<bool> {
    let count = |second: Second| rounds.iter().filter(|round| round.second == second).count() as u32;
    let (held, later) = (count(Second::Held), count(Second::Later));
    let by_size = count(Second::FullAtOnce) > 0 && count(Second::ShortAtOnce) == 0;
    let habit = by_size && held >= HELD && held >= later * MOSTLY;
    Observed::of(true, if habit { held } else { 0 })
}
