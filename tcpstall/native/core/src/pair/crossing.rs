//! Matches the packets of one direction at two taps, by their bytes.
//!
//! A frame of 64 KB at one tap is many packets at the other (TSO, GRO), so bytes are matched and not packets. Each byte
//! of a seen packet belongs to one transmission of it. If the byte was sent more than once, timestamps and IP
//! identification identify the transmission; without them, the transmission whose delay is nearest to the smallest
//! delay.

use std::cmp::Reverse;

use super::arrival::{Arrival, Possible, Rest};
use super::pure;
use super::tap::Passage;

/// Transmissions that begin before a byte and are tested: beyond this number the byte counts as unmatched.
const LOOKED_BACK: usize = 256;

/// Seen pieces of a transmission that are kept; later ones, and the bytes between, are merged into the last piece.
const PIECES: usize = 512;

/// Time by which a packet may come sooner than the smallest delay, before another transmission of it is assumed,
/// nanoseconds.
const EARLY: i64 = 200_000;

/// Result for one direction's packets.
#[derive(Debug, Default)]
pub(super) struct Crossing {
    /// Arrivals in the order of the packets seen.
    pub(super) arrivals: Vec<Arrival>,
    /// Unseen bytes in the order of the packets sent; an empty range is a packet without data.
    pub(super) unseen: Vec<Rest>,
    /// Seen packets whose bytes had all been seen of each transmission before: copies.
    pub(super) copies: Vec<Arrival>,
    /// Seen packets whose transmission was not seen.
    pub(super) unsent: Vec<usize>,
}

/// The same distance for times of one clock, where `least` is the smallest delay.
pub(super) fn in_time(sent: i64, seen: i64, least: i64) -> Option<u64> {
    let above = seen.saturating_sub(sent).saturating_sub(least);
    (above >= -EARLY).then_some(above.unsigned_abs())
}

/// Matches both taps' packets of one direction, each in the order of its capture; `shift` converts positions of `seen`
/// to those of `sent`.
pub(super) fn cross(sent: &[Passage], seen: &[Passage], shift: i64, possible: Possible<'_>) -> Crossing {
    let mut bytes = Bytes::new(sent);
    let mut crossing = Crossing::default();
    let mut pure = pure::Pure::new(sent, seen, shift);
    for (number, passage) in seen.iter().enumerate() {
        if passage.length == 0 {
            match pure.arrives(number, possible) {
                Some(arrival) => crossing.arrivals.push(arrival),
                None => crossing.unsent.push(number),
            }
        } else {
            bytes.arrives(number, passage, shift, possible, &mut crossing);
        }
    }
    crossing.unseen = bytes.rest();
    crossing.unseen.extend(pure.rest());
    crossing.unseen.sort_by_key(|rest| (rest.sent, rest.left));
    crossing
}

/// The bytes that were sent and not yet seen.
struct Bytes<'a> {
    sent: &'a [Passage],
    /// Packets with bytes, by their first byte, then by time.
    order: Vec<u32>,
    /// Largest end of these packets up to each.
    reach: Vec<i64>,
    /// Seen pieces of each packet.
    claims: Vec<Claim>,
}

/// Seen pieces of a transmission: nearly always one piece that grows, so that only a second piece takes memory of its
/// own.
#[derive(Clone, Debug, Default)]
struct Claim {
    newest: (i64, i64),
    older: Vec<(i64, i64)>,
}

impl Claim {
    /// End of the piece that contains the byte.
    fn holds(&self, at: i64) -> Option<i64> {
        let mut pieces = self.older.iter().chain([&self.newest]);
        pieces.find(|piece| piece.0 <= at && at < piece.1).map(|piece| piece.1)
    }

    /// Start of the next piece.
    fn next(&self, at: i64) -> i64 {
        let pieces = self.older.iter().chain([&self.newest]).filter(|piece| piece.0 < piece.1);
        pieces.map(|piece| piece.0).filter(|left| *left > at).min().unwrap_or(i64::MAX)
    }

    fn add(&mut self, left: i64, right: i64) {
        let newest = self.newest;
        if newest.0 == newest.1 {
            self.newest = (left, right);
        } else if newest.1 == left || self.older.len() >= PIECES {
            self.newest = (newest.0.min(left), newest.1.max(right));
        } else {
            self.older.push(newest);
            self.newest = (left, right);
        }
    }

    fn gaps(&self, from: i64, to: i64) -> Vec<(i64, i64)> {
        if self.newest.0 <= from && to <= self.newest.1 {
            return Vec::new();
        }
        let mut pieces = self.older.clone();
        pieces.extend((self.newest.0 < self.newest.1).then_some(self.newest));
        pieces.sort_unstable();
        pieces.push((to, to));
        let mut at = from;
        let gaps = pieces.into_iter().filter_map(|(left, right)| {
            let gap = (at, left);
            at = at.max(right);
            (gap.0 < gap.1).then_some(gap)
        });
        gaps.collect()
    }
}

impl<'a> Bytes<'a> {
    fn new(sent: &'a [Passage]) -> Bytes<'a> {
        let mut order: Vec<u32> = (0..sent.len() as u32).filter(|at| sent[*at as usize].length > 0).collect();
        if !order.is_sorted_by_key(|at| sent[*at as usize].left) {
            order.sort_by_key(|at| sent[*at as usize].left);
        }
        let mut farthest = i64::MIN;
        let reach = order.iter().map(|at| {
            farthest = farthest.max(sent[*at as usize].right());
            farthest
        });
        Bytes { sent, reach: reach.collect(), claims: vec![Claim::default(); sent.len()], order }
    }

    /// The transmissions of one byte, up to [`LOOKED_BACK`] of them.
    fn sendings(&self, at: i64) -> impl Iterator<Item = usize> {
        let after = self.order.partition_point(|number| self.sent[*number as usize].left <= at);
        let before = self.order[..after].iter().zip(&self.reach[..after]).rev();
        let near = before.take(LOOKED_BACK).take_while(move |(_, reach)| **reach > at);
        near.map(|(number, _)| *number as usize).filter(move |number| self.sent[*number].right() > at)
    }

    fn arrives(&mut self, number: usize, passage: &Passage, shift: i64, possible: Possible<'_>, to: &mut Crossing) {
        let (mut at, right) = (passage.left + shift, passage.right() + shift);
        let (mut first, mut copy, mut unknown) = (None, None, false);
        while at < right {
            let (best, alone) = self.best(at, passage, possible);
            let Some(sent) = best else {
                let seen = self.sendings(at).next();
                copy = copy.or(seen);
                unknown |= seen.is_none();
                at = self.next_sending(at).min(right);
                continue;
            };
            let end = self.sent[sent].right().min(right).min(self.claims[sent].next(at));
            self.claims[sent].add(at, end);
            first = first.or(Some(Arrival { sent, seen: number, sure: alone && at == passage.left + shift }));
            at = end;
        }
        match (first, copy, unknown) {
            (Some(arrival), ..) => to.arrivals.push(arrival),
            (None, Some(sent), _) => to.copies.push(Arrival { sent, seen: number, sure: false }),
            (None, None, _) => to.unsent.push(number),
        }
    }

    /// The transmission that this byte belongs to, and whether no other was ever possible.
    fn best(&self, at: i64, passage: &Passage, possible: Possible<'_>) -> (Option<usize>, bool) {
        let (mut best, mut count) = (None, 0);
        for number in self.sendings(at) {
            count += 1;
            if self.claims[number].holds(at).is_some() {
                continue;
            }
            let sent = &self.sent[number];
            let above = possible(sent.time, passage.time);
            let rank = (above.is_some(), alike(sent, passage, at - sent.left), Reverse(above), Reverse(sent.time));
            if best.is_none_or(|(other, _)| rank > other) {
                best = Some((rank, number));
            }
        }
        (best.map(|(_, number)| number), count == 1)
    }

    /// The next position at which a transmission or a seen piece begins or ends.
    fn next_sending(&self, at: i64) -> i64 {
        let after = self.order.partition_point(|number| self.sent[*number as usize].left <= at);
        let begins = self.order.get(after).map_or(i64::MAX, |number| self.sent[*number as usize].left);
        let claimed = self.sendings(at).filter_map(|number| self.claims[number].holds(at)).min();
        begins.min(claimed.unwrap_or(i64::MAX)).max(at + 1)
    }

    fn rest(&self) -> Vec<Rest> {
        let with_bytes = self.sent.iter().enumerate().filter(|(_, passage)| passage.length > 0);
        let rest = with_bytes.flat_map(|(number, passage)| {
            let gaps = self.claims[number].gaps(passage.left, passage.right());
            gaps.into_iter().map(move |(left, right)| {
                let seen = || self.sendings(left).filter(|other| self.claims[*other].holds(left).is_some());
                let repair = seen().filter(|other| *other > number).min();
                Rest { sent: number, left, right, repair, seen_otherwise: seen().next().is_some() }
            })
        });
        rest.collect()
    }
}

/// Rank of agreement in the marks of each transmission: its timestamp, its IP identification.
fn alike(sent: &Passage, seen: &Passage, into: i64) -> u8 {
    let stamps = sent.timestamps.map(|stamps| stamps.value) == seen.timestamps.map(|stamps| stamps.value);
    // The packets of a TSO frame are numbered on from its IP identification, one by one; none is shorter than this on
    // the wire.
    const SHORTEST: i64 = 256;
    let identified = sent.ip_id.zip(seen.ip_id).is_some_and(|(sent, seen)| {
        let ahead = i64::from(seen.wrapping_sub(sent));
        if into == 0 { ahead == 0 } else { ahead <= into / SHORTEST }
    });
    2 * u8::from(stamps) + u8::from(identified)
}
