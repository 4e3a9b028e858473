//! What one tap sent and the other saw of one direction: matched by the bytes that packets carry.
//!
//! A frame of 64 KB at one tap is many packets at the other (TSO, GRO), so bytes are matched and not packets. Each byte of a
//! packet that was seen belongs to one sending of it. Where it was sent more than once, timestamps and IP identification tell
//! which; where they do not, the clock does: the sending that took nearest to the least delay.

use std::cmp::Reverse;

use super::pure;
use super::tap::Passage;

/// Sendings that begin before a byte and might cover it: beyond so many the byte is called unmatched.
const LOOKED_BACK: usize = 256;

/// Pieces in which a sending was seen; what comes later, and what lies between, is taken for the last one's.
const PIECES: usize = 512;

/// A packet may come so much sooner than the least delay before another sending of it is believed, nanoseconds.
const EARLY: i64 = 200_000;

/// The beginning of a packet that was seen, and the sending that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Number among the packets sent.
    pub(super) sent: usize,
    /// Number among the packets seen.
    pub(super) seen: usize,
    /// No other sending comes into question.
    pub(super) sure: bool,
}

/// Bytes of a sending that were not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) sent: usize,
    /// Half-open, as the sending tap counts.
    pub(super) left: i64,
    pub(super) right: i64,
    /// The first later sending of the same bytes that was seen.
    pub(super) repair: Option<usize>,
    /// They were seen of some other sending.
    pub(super) seen_otherwise: bool,
}

/// What became of one direction's packets.
#[derive(Debug, Default)]
pub(super) struct Crossing {
    /// In the order of the packets seen.
    pub(super) arrivals: Vec<Arrival>,
    /// What was not seen, in the order of the packets sent; an empty range is a packet without data.
    pub(super) unseen: Vec<Rest>,
    /// Packets seen whose bytes had all been seen of each sending before: copies.
    pub(super) copies: Vec<Arrival>,
    /// Packets seen that nobody was seen to send.
    pub(super) unsent: Vec<usize>,
}

/// How far a packet sent at one time and seen at another would be from the least delay, by times of the two taps; none where it
/// cannot have come so soon.
pub(super) type Possible<'a> = &'a dyn Fn(i64, i64) -> Option<u64>;

/// The same for times of one clock, where `least` is the least delay.
pub(super) fn in_time(sent: i64, seen: i64, least: i64) -> Option<u64> {
    let above = seen.saturating_sub(sent).saturating_sub(least);
    (above >= -EARLY).then_some(above.unsigned_abs())
}

/// Both taps' packets of one direction, each in the order of its capture; `shift` takes positions of `seen` to those of `sent`.
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
    /// Packets with bytes, by where they begin, then by when they were sent.
    order: Vec<u32>,
    /// The farthest end of these and of all before.
    reach: Vec<i64>,
    /// What was seen of each, where that was not all in one piece from its beginning: ends of the pieces.
    claims: Vec<Claim>,
}

/// What was seen of a sending: nearly always one piece that grows, so that only a second one takes memory of its own.
#[derive(Clone, Debug, Default)]
struct Claim {
    newest: (i64, i64),
    older: Vec<(i64, i64)>,
}

impl Claim {
    /// Where the piece ends that holds a byte.
    fn holds(&self, at: i64) -> Option<i64> {
        let mut pieces = self.older.iter().chain([&self.newest]);
        pieces.find(|piece| piece.0 <= at && at < piece.1).map(|piece| piece.1)
    }

    /// Where the next piece begins.
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

    /// The sendings of one byte, and whether there are more than were looked at.
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

    /// The sending that this byte belongs to, and whether no other was ever possible.
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

    /// The next position at which a sending begins, or the same byte's neighbour within one.
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

/// How much of what each sending has of its own agrees: the clock that it was stamped with, its IP identification.
fn alike(sent: &Passage, seen: &Passage, into: i64) -> u8 {
    let stamps = sent.timestamps.map(|stamps| stamps.value) == seen.timestamps.map(|stamps| stamps.value);
    // A TSO frame's packets count on from its own number, one each; none is shorter than this on the way.
    const SHORTEST: i64 = 256;
    let identified = sent.ip_id.zip(seen.ip_id).is_some_and(|(sent, seen)| {
        let ahead = i64::from(seen.wrapping_sub(sent));
        if into == 0 { ahead == 0 } else { ahead <= into / SHORTEST }
    });
    2 * u8::from(stamps) + u8::from(identified)
}
