//! Nagle's algorithm: the condition under which a short segment may leave while data is outstanding.
//!
//! Prior     Minshall's variant: only an outstanding short segment holds the next one back (Linux `tcp_nagle_check`)
//! Evidence  after a burst of full segments a short one left alone, at the ACK after which nothing was outstanding
//!           although earlier ACKs had made room, or far more had been in flight before; against it: a short segment that left
//!           together with full ones
//!           for none at all: flights with more than one short write; where each of these left behind a whole segment
//!           Darwin's variant allows that, too
//! Learnt    once two tails were held this way, and none left with full segments; that it is off, by two such
//!           flights (one alone makes such waits unsure)
//! Source    RFC 896, RFC 9293 §3.7.4 (any outstanding data holds a short segment back); 4.4BSD `tcp_output`, which
//!           sends it only when idle; XNU `tcp_output` (TF_MAXSEGSNT); RFC 9293 §3.7.4 (an application may turn it off)

use serde::{Deserialize, Serialize};

use super::{BurstAndPause, Observed, Read, Tail};

/// Outstanding data that holds a short segment back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nagle {
    /// Any outstanding data (RFC 896).
    AnyData,
    /// An outstanding short segment; without one, nothing does.
    #[default]
    ShortOnly,
    /// Nothing: the algorithm is off (TCP_NODELAY).
    Nothing,
    /// A short segment that left last; behind a whole one the next short one leaves, whatever else is out (Darwin), or
    /// the algorithm is off.
    ShortBefore,
}

/// Flights with a short write beside another from which the algorithm is off: a probe takes a held write along (RFC 8985 §7.3).
const BESIDE: u32 = 2;

/// ACKs that show a held tail: one before the last had made room, and no short segment left for it.
const ACKS: u32 = 2;

/// Ends of writes after which the writer rested, from which that is its habit.
const OFTEN: usize = 2;

/// Flight up to which one ACK covers all segments together.
const FEW: u32 = 4;

/// Ratio of an earlier flight to this one, from which no window and no buffer held this one.
const SHRUNK: u32 = 2;

pub(super) fn learn(rounds: &[BurstAndPause], reads: &mut [Read]) -> Observed<Nagle> {
    let beside = rounds.iter().filter(|round| round.several_short && !round.disturbed).count() as u32;
    if beside >= BESIDE {
        let off = rounds.iter().any(|round| round.short_behind_short && !round.disturbed);
        return Observed::of(if off { Nagle::Nothing } else { Nagle::ShortBefore }, beside);
    }
    let held = |round: &BurstAndPause| {
        let has_room = round.open || round.let_room_pass;
        let alone = round.tail == Tail::Whole && round.next == Tail::ShortAlone;
        round.is_released() && has_room && round.emptied && alone
    };
    // From an empty pipe a whole write leaves at once, because the test is made once for the whole write.
    let with_more = rounds.iter().filter(|round| round.tail == Tail::ShortWithMore && !round.from_empty).count() as u32;
    if with_more > 0 {
        return Observed::of(Nagle::ShortOnly, with_more);
    }
    // A writer that waits for room in its buffer goes on at the next ACK.
    let rests = |at: usize| rounds.get(at + 1).is_some_and(|next| next.emptied && !next.released && !next.disturbed);
    let ended = (0..rounds.len()).filter(|at| held(&rounds[*at]) && rests(*at)).count();
    let sure = rounds.iter().filter(|round| held(round) && round.acks_inside >= ACKS).count() as u32;
    let mut most = 0;
    for (at, read) in reads.iter_mut().enumerate() {
        let round = &rounds[at];
        let habit = sure > 0 || ended >= OFTEN;
        // Without a loss no window and no buffer gets so much smaller.
        let small = round.out <= FEW && !read.first_wait || SHRUNK * round.out <= most;
        read.tail_held = held(round) && (habit || small);
        read.tail_ends = ended >= OFTEN && read.tail_held && rests(at);
        most = if round.disturbed || round.hole { 0 } else { most.max(round.out) };
    }
    if sure == 0 { Observed::of(Nagle::Nothing, beside) } else { Observed::of(Nagle::AnyData, sure) }
}
