//! Matches connections of two captures, even if addresses were translated between the taps.

use hashbrown::{HashMap, HashSet};

use super::tap::{Conversation, Passage, Tap};
use crate::results::End;
use crate::seq::SeqNo;

/// Packets of a connection without a SYN that are searched in the other capture.
const LOOKED_FOR: usize = 64;
/// Packets that must be found there, or one with timestamps: sequence number and ACK together never agree by chance,
/// but the ACK alone may where it was invented.
const FOUND: u32 = 2;

/// Connections with one initial sequence number that are compared: stacks draw 32 bits, flooding tools reuse the same
/// numbers.
const ALIKE: usize = 16;

/// Evidence that two connections are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Both ends chose the same initial sequence numbers.
    InitialNumbers,
    /// Sequence numbers, ACKs and timestamps of packets agree.
    Packets,
}

/// Two connections that are the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    /// Its numbers in the first and in the second capture.
    pub(super) at: [usize; 2],
    /// The second capture has client and server exchanged.
    pub(super) turned: bool,
    /// Number to add to positions of the second capture to convert them to the first one's, by the first one's
    /// directions.
    pub(super) shift: [i64; 2],
    pub(super) by: By,
}

impl Match {
    /// The second capture's role of an end of the first one's.
    pub(super) fn theirs(self, end: End) -> End {
        if self.turned { end.peer() } else { end }
    }
}

/// The pairs, in the order of the first capture, and the number of connections whose sequence numbers seem to have been
/// rewritten.
pub(super) fn matches(first: &Tap, second: &Tap) -> (Vec<Match>, u64) {
    let mut found = by_initial_numbers(first, second);
    let mut taken = [HashSet::new(), HashSet::new()];
    for pair in &found {
        taken[0].insert(pair.at[0]);
        taken[1].insert(pair.at[1]);
    }
    for turn in [false, true] {
        let (from, to) = if turn { (second, first) } else { (first, second) };
        for mut pair in by_packets(from, to, &taken[usize::from(turn)], &taken[usize::from(!turn)]) {
            if turn {
                pair.at.swap(0, 1);
            }
            if taken[0].insert(pair.at[0]) & taken[1].insert(pair.at[1]) {
                pair.shift = shifts(first, second, pair);
                found.push(pair);
            }
        }
    }
    found.sort_by_key(|pair| pair.at);
    (found, rewritten(first, second, &taken))
}

/// Connections by the initial sequence numbers of their ends, the latest first.
struct Openings {
    numbered: HashMap<(End, SeqNo), Vec<usize>>,
    taken: HashSet<usize>,
}

impl Openings {
    fn of(tap: &Tap) -> Openings {
        let mut numbered: HashMap<(End, SeqNo), Vec<usize>> = HashMap::new();
        for (at, conversation) in tap.conversations.iter().enumerate().rev() {
            for (end, isn) in End::BOTH.into_iter().zip(conversation.isns()) {
                isn.into_iter().for_each(|isn| numbered.entry((end, isn)).or_default().push(at));
            }
        }
        Openings { numbered, taken: HashSet::new() }
    }

    /// The earliest connections that have one of these initial numbers and no partner yet: at most [`ALIKE`] per
    /// number.
    fn alike(&mut self, isns: [Option<SeqNo>; 2]) -> Vec<usize> {
        let mut found = Vec::new();
        for (end, isn) in End::BOTH.into_iter().zip(isns) {
            let Some(same) = isn.and_then(|isn| self.numbered.get_mut(&(end, isn))) else { continue };
            // The earliest are at the end, and are removed once they are taken.
            same.truncate(same.len() - same.iter().rev().take_while(|other| self.taken.contains(*other)).count());
            found.extend(same.iter().rev().take(ALIKE).filter(|other| !self.taken.contains(*other)).copied());
        }
        found
    }
}

fn by_initial_numbers(first: &Tap, second: &Tap) -> Vec<Match> {
    let mut openings = Openings::of(second);
    let mut found = Vec::new();
    for (at, conversation) in first.conversations.iter().enumerate() {
        let best = openings
            .alike(conversation.isns())
            .into_iter()
            .filter_map(|other| Some((likeness(conversation, &second.conversations[other])?, other)))
            .max_by_key(|(likeness, other)| (*likeness, std::cmp::Reverse(*other)));
        if let Some((_, other)) = best {
            openings.taken.insert(other);
            let mut pair = Match { at: [at, other], turned: false, shift: [0; 2], by: By::InitialNumbers };
            pair.shift = shifts(first, second, pair);
            found.push(pair);
        }
    }
    found
}

/// Strength of the evidence that two connections are the same; `None` where an initial number contradicts it.
fn likeness(one: &Conversation, other: &Conversation) -> Option<usize> {
    let mut likeness = 0;
    for (a, b) in one.isns().into_iter().zip(other.isns()) {
        match (a, b) {
            (Some(a), Some(b)) if a == b => likeness += 4,
            (Some(_), Some(_)) => return None,
            _ => {}
        }
    }
    let stamps = |conversation: &Conversation| conversation.ways[End::Client].syn.and_then(|syn| syn.timestamps);
    likeness += 2 * usize::from(stamps(one).is_some() && stamps(one) == stamps(other));
    Some(likeness + usize::from(one.ends == other.ends))
}

type Key = (SeqNo, SeqNo, u32, u32);

fn key(passage: &Passage) -> Key {
    let stamps = passage.timestamps.unwrap_or_default();
    (passage.seq, passage.ack, stamps.value, stamps.echo)
}

/// Connections whose beginning in `from` is found somewhere in `to`.
fn by_packets(from: &Tap, to: &Tap, known_from: &HashSet<usize>, known_to: &HashSet<usize>) -> Vec<Match> {
    let mut index: HashMap<Key, (usize, End)> = HashMap::new();
    for (at, conversation) in from.conversations.iter().enumerate().filter(|(at, _)| !known_from.contains(at)) {
        for (sender, own) in End::BOTH.into_iter().zip(&conversation.ways) {
            for passage in own.passages.iter().take(LOOKED_FOR) {
                index.insert(key(passage), (at, sender));
            }
        }
    }
    let mut found = Vec::new();
    for (other, conversation) in to.conversations.iter().enumerate().filter(|(at, _)| !known_to.contains(at)) {
        let mut votes: HashMap<(usize, bool), (u32, Option<Key>)> = HashMap::new();
        for (sender, own) in End::BOTH.into_iter().zip(&conversation.ways) {
            for passage in &own.passages {
                let own_key = key(passage);
                if let Some((at, from_sender)) = index.get(&own_key) {
                    let vote = votes.entry((*at, *from_sender != sender)).or_default();
                    // Duplicate ACKs are one proof, however many there are.
                    let proof = if own_key.2 == 0 { 1 } else { FOUND };
                    vote.0 += if vote.1 == Some(own_key) { 0 } else { proof };
                    vote.1 = Some(own_key);
                }
            }
        }
        let best = votes.into_iter().max_by_key(|((at, _), (count, _))| (*count, std::cmp::Reverse(*at)));
        if let Some(((at, turned), (count, _))) = best.filter(|(_, (count, _))| *count >= FOUND) {
            let _ = count;
            found.push(Match { at: [at, other], turned, shift: [0; 2], by: By::Packets });
        }
    }
    found
}

/// Shifts between the positions; correct while the two begin within 2 GiB of each other.
fn shifts(first: &Tap, second: &Tap, pair: Match) -> [i64; 2] {
    End::BOTH.map(|sender| {
        let one = first.conversations[pair.at[0]].ways[sender].base;
        let other = second.conversations[pair.at[1]].ways[pair.theirs(sender)].base;
        one.zip(other).map_or(0, |(one, other)| i64::from(other.since(one)))
    })
}

/// Number of connections without a partner that share the ends, or the clock, with one without a partner in the other
/// capture.
fn rewritten(first: &Tap, second: &Tap, taken: &[HashSet<usize>; 2]) -> u64 {
    let alone = |tap: usize| move |(at, _): &(usize, &Conversation)| !taken[tap].contains(at);
    let (mut ends, mut clocks) = (HashSet::new(), HashSet::new());
    for (_, conversation) in second.conversations.iter().enumerate().filter(alone(1)) {
        ends.insert(conversation.ends);
        clocks.extend(opening_clock(conversation));
    }
    let looks = |conversation: &Conversation| {
        ends.contains(&conversation.ends) || opening_clock(conversation).is_some_and(|clock| clocks.contains(&clock))
    };
    first.conversations.iter().enumerate().filter(alone(0)).filter(|(_, one)| looks(one)).count() as u64
}

/// The timestamps of SYN and SYN-ACK, which together have 64 random bits.
fn opening_clock(conversation: &Conversation) -> Option<(u32, u32)> {
    let [client, server] = &conversation.ways;
    Some((client.syn?.timestamps?.value, server.syn?.timestamps?.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Nanos;
    use crate::wire::{Address, Endpoint, Flags, Segment};

    /// A tap with `count` connections between two ends, whose initial numbers repeat after `numbers` of them.
    fn reused(count: u32, numbers: u32) -> Tap {
        let end = |port| Endpoint { address: Address::v4([10, 0, 0, 1]), port };
        let mut tap = Tap::default();
        for at in 0..count {
            let (time, seq) = (Nanos(i64::from(at) * 1_000_000), SeqNo(at % numbers * 7_919));
            let syn = Segment {
                time,
                source: end(40_000),
                destination: end(80),
                flags: Flags::SYN,
                seq,
                ..Segment::default()
            };
            tap.sees(&syn);
        }
        tap
    }

    /// Number of comparisons when a capture is matched with itself.
    fn compared(tap: &Tap) -> usize {
        let mut openings = Openings::of(tap);
        let own = tap.conversations.iter().enumerate();
        let compared = own.map(|(at, conversation)| {
            let alike = openings.alike(conversation.isns());
            openings.taken.insert(at);
            assert!(alike.contains(&at));
            alike.len()
        });
        compared.sum()
    }

    #[test]
    fn connections_of_reused_ports_are_compared_a_bounded_number_of_times() {
        for numbers in [2, 3, 1_000, 4_000] {
            let tap = reused(4_000, numbers);
            assert_eq!((tap.conversations.len(), by_initial_numbers(&tap, &tap).len()), (4_000, 4_000));
            assert!(compared(&tap) <= ALIKE * 4_000, "{numbers} initial numbers: {} comparisons", compared(&tap));
        }
    }
}
