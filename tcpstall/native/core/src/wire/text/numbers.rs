//! Makes relative sequence numbers absolute again, by retracing tcpdump's subtraction.
//!
//! tcpdump (without `-S`) prints a segment without ACK as it is. Of the other segments, it prints the first of a
//! connection and every SYN-ACK as they are too, except for their SACK blocks, and takes from them the connection's
//! *bases*: the sender's base is this segment's sequence number, the peer's its acknowledgement number − 1. From every
//! later number tcpdump subtracts the base of the direction that it counts (for a SACK block: the peer's). A pure
//! acknowledgement has no sequence number, so a base may stay hidden. With `-S` tcpdump prints everything as it is.
//!
//! The paste does not show which of the two was printed, and may have lost the lines with the bases. Therefore:
//!
//! 1. The bases are kept as tcpdump keeps them. A hidden or lost base counts as 0: numbers then stay relative, which is
//!    consistent, because all numbers of this direction lost the same base.
//! 2. The first segment after new bases decides between relative and as printed: each reading is measured by the
//!    distance of its numbers from the connection's position, and the nearer one wins. Bases from a handshake win ties
//!    and near misses. Bases from a segment in mid-connection lose them: in a paste that lost its head they may be
//!    relative themselves, and where they are small they count as relative at once.
//! 3. A SYN whose SYN-ACK the paste left out gives a base too, where the first segment fits it better than as printed.
//! 4. The decision holds for the connection until its next handshake.

use crate::seq::SeqNo;
use crate::wire::{Flags, SackBlock};

use super::fields::Printed;

/// Factor by which a reading must be nearer than the preferred one to win against it.
const CLEARLY: u64 = 8;

/// Limit below which numbers are relative where there is no other evidence, bytes: a random absolute number is this
/// small once in 4,096.
const SMALL: u32 = 1 << 20;

/// Distance from its direction's position at which a segment without ACK is absolute among relative numbers, bytes.
const ELSEWHERE: u64 = 1 << 30;

/// State of one connection's numbers. Arrays hold one direction, then the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    /// The numbers that tcpdump subtracts.
    base: [Option<SeqNo>; 2],
    /// Sequence numbers of the SYNs in the paste.
    syn: [Option<SeqNo>; 2],
    /// Position of each direction: after the last number that it sent or its peer acknowledged.
    next: [Option<SeqNo>; 2],
    bases: Bases,
    /// The print style of the numbers after the bases, once decided.
    style: Option<Style>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bases {
    #[default]
    None,
    MidConnection,
    Handshake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Relative,
    AsPrinted,
}

/// A segment's numbers in the sender's own sequence space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Absolute {
    pub(super) seq: SeqNo,
    pub(super) ack: SeqNo,
    pub(super) sack: [SackBlock; 4],
}

impl Numbers {
    /// Makes the numbers of the next segment in direction `from` (0 or 1) absolute.
    pub(super) fn absolute(&mut self, from: usize, line: &Printed) -> Absolute {
        let acknowledges = line.flags.has(Flags::ACK);
        let absolute = if line.flags.has(Flags::SYN) {
            self.handshake(from, line);
            self.printed(from, line)
        } else if acknowledges {
            self.established(from, line)
        } else {
            self.unacknowledging(from, line)
        };
        self.advance(from, line, &absolute);
        absolute
    }

    fn handshake(&mut self, from: usize, line: &Printed) {
        let seq = SeqNo(line.seq.unwrap_or(0));
        let Some(ack) = line.ack else {
            // tcpdump keeps its bases until the SYN-ACK, and the old connection may still send (a challenge ACK).
            if self.syn[from] != Some(seq) {
                (self.syn[from], self.next[from]) = (Some(seq), None);
            }
            return;
        };
        let mut base = [Some(seq); 2];
        base[1 - from] = Some(SeqNo(ack.wrapping_sub(1)));
        if self.base != base || self.bases != Bases::Handshake {
            *self = Numbers { base, syn: base, bases: Bases::Handshake, ..Numbers::default() };
        }
    }

    fn established(&mut self, from: usize, line: &Printed) -> Absolute {
        if self.style.is_none() {
            self.decide(from, line);
        }
        if self.style.is_none() && self.bases == Bases::None {
            return self.first(from, line);
        }
        match self.style {
            Some(Style::Relative) => relative(&self.base, self.next[from], from, line),
            _ => self.printed(from, line),
        }
    }

    /// Takes the bases from the first segment of a connection whose handshake is not in the paste.
    fn first(&mut self, from: usize, line: &Printed) -> Absolute {
        let ack = line.ack.unwrap_or(0);
        if ack < SMALL && line.seq.is_none_or(|seq| seq < SMALL) {
            self.style = Some(Style::AsPrinted);
            return self.printed(from, line);
        }
        self.base[from] = line.seq.map(SeqNo).or(self.next[from]);
        self.base[1 - from] = Some(SeqNo(ack.wrapping_sub(1)));
        self.bases = Bases::MidConnection;
        self.next[1 - from] = Some(SeqNo(ack));
        let mut absolute = self.printed(from, line);
        // tcpdump has the bases before it prints the blocks, so the blocks are relative already.
        let (left, _) = line.options.sack[0];
        let near = |left: SeqNo| distance(left, SeqNo(ack));
        let based = absolute.ack.plus(left.wrapping_sub(1));
        if line.options.sack_count > 0 && near(based).saturating_mul(CLEARLY) < near(SeqNo(left)) {
            self.style = Some(Style::Relative);
            absolute.sack = relative(&self.base, None, from, line).sack;
        }
        absolute
    }

    /// Reads a segment without ACK, a RST or worse: such segments are always printed as they are.
    fn unacknowledging(&mut self, from: usize, line: &Printed) -> Absolute {
        let mut absolute = self.printed(from, line);
        // Where this direction's base is unknown its numbers stayed relative, and this absolute one cannot be
        // converted. It gets the direction's position, because an accepted reset is there (RFC 9293 §3.10.7.4).
        if let (None, Some(next)) = (self.syn[from], self.next[from])
            && distance(absolute.seq, next) > ELSEWHERE
        {
            absolute.seq = next;
        }
        absolute
    }

    /// Decides on the print style, if this segment has a number whose position is known.
    fn decide(&mut self, from: usize, line: &Printed) {
        if self.bases == Bases::None && self.syn_fits(from, line) {
            (self.base, self.bases, self.style) = (self.syn, Bases::Handshake, Some(Style::Relative));
        }
        let printed = self.misfit(&[None; 2], from, line);
        let (Some(printed), Some(based)) = (printed, self.misfit(&self.base, from, line)) else {
            return;
        };
        self.style = match self.bases {
            Bases::None => None,
            Bases::Handshake if printed.saturating_mul(CLEARLY) < based => Some(Style::AsPrinted),
            Bases::MidConnection if based.saturating_mul(CLEARLY) >= printed => Some(Style::AsPrinted),
            _ => Some(Style::Relative),
        };
    }

    /// True if a SYN in the paste is the base of this segment's numbers, because its SYN-ACK was left out.
    fn syn_fits(&self, from: usize, line: &Printed) -> bool {
        match (self.misfit(&[None; 2], from, line), self.misfit(&self.syn, from, line)) {
            (Some(printed), Some(based)) => based < printed,
            _ => self.syn.iter().any(Option::is_some) && line.ack.is_some_and(|ack| ack < SMALL),
        }
    }

    /// Distance of a segment's numbers, read with these bases, from the connection's position; `None` without evidence.
    fn misfit(&self, base: &[Option<SeqNo>; 2], from: usize, line: &Printed) -> Option<u64> {
        let of = |number: Option<u32>, direction: usize| {
            let read = base[direction].unwrap_or_default().plus(number?);
            Some(distance(read, self.next[direction]?))
        };
        match (of(line.seq, from), of(line.ack, 1 - from)) {
            (None, None) => None,
            (seq, ack) => Some(seq.unwrap_or(0) + ack.unwrap_or(0)),
        }
    }

    fn printed(&self, from: usize, line: &Printed) -> Absolute {
        relative(&[None; 2], self.next[from], from, line)
    }

    fn advance(&mut self, from: usize, line: &Printed, absolute: &Absolute) {
        // A reset's numbers may be invented (RFC 9293 §3.5.2), and a hidden sequence number proves nothing.
        if line.flags.has(Flags::RST) {
            return;
        }
        if line.seq.is_some() {
            let control = u32::from(line.flags.has(Flags::SYN)) + u32::from(line.flags.has(Flags::FIN));
            self.reach(from, absolute.seq.plus(line.payload + control));
        }
        if line.flags.has(Flags::ACK) {
            self.reach(1 - from, absolute.ack);
        }
    }

    fn reach(&mut self, direction: usize, seq: SeqNo) {
        if self.next[direction].is_none_or(|next| seq.since(next) > 0) {
            self.next[direction] = Some(seq);
        }
    }
}

/// A segment's numbers plus the bases; `next` replaces a sequence number that was not printed.
fn relative(base: &[Option<SeqNo>; 2], next: Option<SeqNo>, from: usize, line: &Printed) -> Absolute {
    let own = base[from].unwrap_or_default();
    let peer = base[1 - from].unwrap_or_default();
    let block = |(left, right)| SackBlock { left: peer.plus(left), right: peer.plus(right) };
    let mut sack = [SackBlock::default(); 4];
    for (made, &printed) in sack.iter_mut().zip(&line.options.sack).take(usize::from(line.options.sack_count)) {
        *made = block(printed);
    }
    Absolute {
        seq: line.seq.map_or(next.unwrap_or(own), |seq| own.plus(seq)),
        ack: line.ack.map_or(SeqNo(0), |ack| peer.plus(ack)),
        sack,
    }
}

fn distance(one: SeqNo, other: SeqNo) -> u64 {
    u64::from(one.since(other).unsigned_abs())
}
