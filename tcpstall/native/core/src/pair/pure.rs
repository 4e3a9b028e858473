//! Packets without data, matched one by one: there are no bytes to know an ACK by.

use hashbrown::HashMap;

use super::crossing::{Arrival, Possible, Rest};
use super::tap::Passage;

/// What no middlebox is expected to change, and what tells duplicate ACKs apart; positions as the sending tap counts.
type Key = (i64, u32, Option<(u32, u32)>, u32, u8);

/// ACKs and RSTs that were sent and not yet seen.
pub(super) struct Pure<'a> {
    sent: &'a [Passage],
    seen: &'a [Passage],
    shift: i64,
    /// Timestamps are compared only where both taps have any: a middlebox may strip them.
    stamped: bool,
    waiting: HashMap<Key, Vec<u32>>,
    matched: Vec<bool>,
}

impl<'a> Pure<'a> {
    pub(super) fn new(sent: &'a [Passage], seen: &'a [Passage], shift: i64) -> Pure<'a> {
        let any = |passages: &[Passage]| passages.iter().any(|passage| passage.timestamps.is_some());
        let stamped = any(sent) && any(seen);
        let mut pure = Pure { sent, seen, shift, stamped, waiting: HashMap::new(), matched: vec![false; sent.len()] };
        for (number, passage) in sent.iter().enumerate().rev().filter(|(_, passage)| passage.length == 0) {
            pure.waiting.entry(pure.key(passage, 0)).or_default().push(number as u32);
        }
        pure
    }

    fn key(&self, passage: &Passage, shift: i64) -> Key {
        let stamps = passage.timestamps.filter(|_| self.stamped).map(|stamps| (stamps.value, stamps.echo));
        (passage.left + shift, passage.ack.0, stamps, passage.sacks, passage.flags.0 & TOLD_APART)
    }

    /// The earliest sending that can have arrived, one with the same IP identification first.
    pub(super) fn arrives(&mut self, number: usize, possible: Possible<'_>) -> Option<Arrival> {
        let passage = &self.seen[number];
        let key = self.key(passage, self.shift);
        let waiting = self.waiting.get_mut(&key)?;
        // The latest come first: they were put in from the end.
        let same = |at: &usize| {
            let sent = &self.sent[waiting[*at] as usize];
            sent.ip_id.is_some() && sent.ip_id == passage.ip_id && possible(sent.time, passage.time)
        };
        let near = waiting.len().saturating_sub(LOOKED_AT)..waiting.len();
        let at = near.clone().rev().find(same).or_else(|| near.clone().next_back())?;
        let sure = waiting.len() == 1;
        let sent = waiting.remove(at) as usize;
        self.matched[sent] = true;
        Some(Arrival { sent, seen: number, sure })
    }

    /// Those that were not seen.
    pub(super) fn rest(self) -> impl Iterator<Item = Rest> {
        let unseen =
            self.sent.iter().zip(self.matched).enumerate().filter(|(_, (sent, matched))| sent.length == 0 && !matched);
        unseen.map(|(number, (sent, _))| {
            let (left, right) = (sent.left, sent.left);
            Rest { sent: number, left, right, repair: None, seen_otherwise: false }
        })
    }
}

/// SYN, FIN, RST and ACK: networks set and clear the bits of ECN (RFC 3168 §6.1).
const TOLD_APART: u8 = 0x17;

/// Packets that are equal in all but their IP identification: no more of them are compared.
const LOOKED_AT: usize = 64;
