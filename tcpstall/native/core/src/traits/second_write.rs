//! A second write: whether a short one waits for the ACK of the short one before it, while a full segment does not.
//!
//! Prior     it leaves at once, as far as the tap can tell
//! Evidence  short segments alone in flight, and the next short one within half a round trip after their ACK; full segments that
//!           left right behind a short one; against it: two short segments one behind the other, or a later second one
//! Learnt    once three second writes waited, a full segment did not, and hardly any came later
//! Source    RFC 896, RFC 9293 §3.7.4: a full segment leaves whatever is outstanding. An application that is slow is so for both

use super::{Round, Seen};

/// What follows a short segment that left from an empty pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Second {
    /// The burst is no short segment, or not from an empty pipe.
    #[default]
    None,
    /// Full segments, at once.
    FullAtOnce,
    /// A short one, at once.
    ShortAtOnce,
    /// A short one, once the first was acknowledged and within half a round trip.
    Held,
    /// The same, but later.
    Later,
}

/// So many waits show a habit.
const HELD: u32 = 3;

/// For each second write that came later so many were held: those had no second write to send.
const MOSTLY: u32 = 4;

/// How often a short second write was held; 0 where the flow shows that it need not be the ACK that it waited for.
pub(super) fn learn(rounds: &[Round]) -> Seen<bool> {
    let count = |second: Second| rounds.iter().filter(|round| round.second == second).count() as u32;
    let (held, later) = (count(Second::Held), count(Second::Later));
    let by_size = count(Second::FullAtOnce) > 0 && count(Second::ShortAtOnce) == 0;
    let habit = by_size && held >= HELD && held >= later * MOSTLY;
    Seen::of(true, if habit { held } else { 0 })
}
