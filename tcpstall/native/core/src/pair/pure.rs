//! Matches packets without data one by one, because they have no bytes to match by.

use hashbrown::HashMap;

use super::arrival::{Arrival, Possible, Rest};
use super::tap::Passage;

/// Fields that no middlebox should change, and that distinguish duplicate ACKs; positions as at the sending tap.
type Key = (i64, u32, Option<(u32, u32)>, u32, u8);

/// ACKs and RSTs that were sent and not yet seen.
pub(super) struct Pure<'a> {
    sent: &'a [Passage],
    seen: &'a [Passage],
    shift: i64,
    /// Timestamps are compared only where both taps have any, because a middlebox may strip them.
    stamped: bool,
    /// The earliest waiting packet of each key, and for each the next one with its key.
    waiting: HashMap<Key, u32>,
    next: Vec<u32>,
    matched: Vec<bool>,
}

impl<'a> Pure<'a> {
    pub(super) fn new(sent: &'a [Passage], seen: &'a [Passage], shift: i64) -> Pure<'a> {
        let any = |passages: &[Passage]| passages.iter().any(|passage| passage.timestamps.is_some());
        let stamped = any(sent) && any(seen);
        let mut pure =
            Pure { sent, seen, shift, stamped, waiting: HashMap::new(), next: Vec::new(), matched: Vec::new() };
        pure.next = vec![NONE; sent.len()];
        pure.matched = vec![false; sent.len()];
        for (number, passage) in sent.iter().enumerate().rev().filter(|(_, passage)| passage.length == 0) {
            let later = pure.waiting.insert(pure.key(passage, 0), number as u32);
            pure.next[number] = later.unwrap_or(NONE);
        }
        pure
    }

    fn key(&self, passage: &Passage, shift: i64) -> Key {
        let stamps = passage.timestamps.filter(|_| self.stamped).map(|stamps| (stamps.value, stamps.echo));
        (passage.left + shift, passage.ack.0, stamps, passage.sacks, passage.flags.0 & TOLD_APART)
    }

    /// The earliest transmission that can have arrived; one with the same IP identification takes precedence.
    pub(super) fn arrives(&mut self, number: usize, possible: Possible<'_>) -> Option<Arrival> {
        let passage = &self.seen[number];
        let key = self.key(passage, self.shift);
        let first = *self.waiting.get(&key)?;
        let (mut before, mut sent) = (NONE, first);
        let (mut other, mut at) = (NONE, first);
        for _ in 0..LOOKED_AT {
            if at == NONE {
                break;
            }
            let candidate = &self.sent[at as usize];
            if candidate.ip_id.is_some()
                && candidate.ip_id == passage.ip_id
                && possible(candidate.time, passage.time).is_some()
            {
                (before, sent) = (other, at);
                break;
            }
            (other, at) = (at, self.next[at as usize]);
        }
        let after = self.next[sent as usize];
        let sure = sent == first && after == NONE;
        match (before, after) {
            (NONE, NONE) => drop(self.waiting.remove(&key)),
            (NONE, after) => drop(self.waiting.insert(key, after)),
            (before, after) => self.next[before as usize] = after,
        }
        let sent = sent as usize;
        self.matched[sent] = true;
        Some(Arrival { sent, seen: number, sure })
    }

    /// Packets that were not seen.
    pub(super) fn rest(self) -> impl Iterator<Item = Rest> {
        let unseen =
            self.sent.iter().zip(self.matched).enumerate().filter(|(_, (sent, matched))| sent.length == 0 && !matched);
        unseen.map(|(number, (sent, _))| {
            let (left, right) = (sent.left, sent.left);
            Rest { sent: number, left, right, repair: None, seen_otherwise: false }
        })
    }
}

/// The end of a chain.
const NONE: u32 = u32::MAX;

/// SYN, FIN, RST and ACK: networks set and clear the bits of ECN (RFC 3168 §6.1).
const TOLD_APART: u8 = 0x17;

/// Packets that differ only in their IP identification: this many are compared.
const LOOKED_AT: usize = 64;
