//! Deals the segments of each batch to shards: all segments of a flow to the same one.
//!
//! The flows of a shard are followed as if there were no others, so that shards can be followed by several threads, and
//! the results are the same for any number of threads.

use std::collections::VecDeque;

use crate::time::Nanos;
use crate::wire::{Endpoint, Segment};

/// Number of shards: with so many followers the reader is the slowest part.
pub(super) const SHARDS: usize = 8;

/// Batches in use at once: one is filled, one is worked on, the others even out the two speeds.
pub(super) const BATCHES: usize = 4;

/// Memory that the flows of a shard use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// Memory of their pauses, bytes.
    pub(super) pauses: usize,
    /// Memory of their data in flight, bytes.
    pub(super) flights: usize,
    /// Number of those followed.
    pub(super) followed: usize,
}

/// Facts about a batch that every shard needs.
#[derive(Clone, Debug)]
pub(super) struct Dealt {
    places: [Vec<u16>; SHARDS],
    /// Number of the batch's first segment in the stream.
    pub(super) first: u64,
    /// The latest segment before the batch.
    pub(super) latest: Nanos,
    /// The latest segment of the batch.
    pub(super) newest: Nanos,
    /// Memory that the flows of all other shards used a few batches ago.
    pub(super) elsewhere: [Load; SHARDS],
}

impl Default for Dealt {
    fn default() -> Dealt {
        let (places, elsewhere) = Default::default();
        Dealt { places, first: 0, latest: Nanos(i64::MIN), newest: Nanos(i64::MIN), elsewhere }
    }
}

impl Dealt {
    /// Places in the batch of the segments of that shard.
    pub(super) fn places(&self, shard: usize) -> &[u16] {
        &self.places[shard]
    }
}

/// Deals the batches of a stream.
pub(super) struct Dealer {
    next: u64,
    latest: Nanos,
    batches: usize,
    loads: VecDeque<[Load; SHARDS]>,
    load: [Load; SHARDS],
}

impl Dealer {
    /// A dealer whose first segment has that number.
    pub(super) fn new(next: u64) -> Dealer {
        Dealer { next, latest: Nanos(i64::MIN), batches: 0, loads: VecDeque::new(), load: Default::default() }
    }

    /// The latest segment so far.
    pub(super) fn latest(&self) -> Nanos {
        self.latest
    }

    /// Continues a serialised stream.
    pub(super) fn goes_on(&mut self, next: u64, latest: Nanos, load: [Load; SHARDS]) {
        (self.next, self.latest, self.load) = (next, latest, load);
    }

    /// Deals the segments of a batch; `newest` is its latest time. Shards learn the others' memory with a delay of [`BATCHES`], which
    /// is the same for any number of threads.
    pub(super) fn deal(&mut self, segments: &[Segment], newest: Nanos, dealt: &mut Dealt) {
        self.batches += 1;
        if self.batches > BATCHES
            && let Some(load) = self.loads.pop_front()
        {
            self.load = load;
        }
        dealt.elsewhere = elsewhere(&self.load);
        dealt.places.iter_mut().for_each(Vec::clear);
        (dealt.first, dealt.latest, dealt.newest) = (self.next, self.latest, newest);
        for (place, segment) in (0..).zip(segments) {
            dealt.places[shard_of(segment)].push(place);
        }
        self.next += segments.len() as u64;
        self.latest = self.latest.max(newest);
    }

    /// Takes in the memory that the flows of each shard used after a batch, in the order of the batches.
    pub(super) fn learns(&mut self, load: [Load; SHARDS]) {
        self.loads.push_back(load);
    }
}

/// Memory that the flows of each shard use, in the order of the shards.
pub(super) fn of_shards(load: impl IntoIterator<Item = Load>) -> [Load; SHARDS] {
    let mut load = load.into_iter();
    std::array::from_fn(|_| load.next().unwrap_or_default())
}

/// The shard of a segment's flow; both directions have the same.
#[inline]
pub(super) fn shard_of(segment: &Segment) -> usize {
    shard_between(segment.source, segment.destination)
}

/// The shard of the flows between two ends, in either order.
#[inline]
pub(super) fn shard_between(one: Endpoint, other: Endpoint) -> usize {
    let addresses = one.address.0 ^ other.address.0;
    let ports = u64::from(one.port ^ other.port);
    // Fibonacci hashing (Knuth, TAOCP 6.4): the highest bits depend on all bits of the key.
    let hash = ((addresses >> 64) as u64 ^ addresses as u64 ^ ports).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> (u64::BITS - SHARDS.ilog2())) as usize
}

/// Memory that the flows of all other shards use, for each shard.
fn elsewhere(load: &[Load; SHARDS]) -> [Load; SHARDS] {
    let all = load.iter().fold(Load::default(), |all, load| Load {
        pauses: all.pauses + load.pauses,
        flights: all.flights + load.flights,
        followed: all.followed + load.followed,
    });
    load.map(|own| Load {
        pauses: all.pauses - own.pauses,
        flights: all.flights - own.flights,
        followed: all.followed - own.followed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Address;

    fn segment(host: u8, port: u16, ms: i64) -> Segment {
        let end = |host, port| Endpoint { address: Address::v4([10, 0, 0, host]), port };
        Segment {
            time: Nanos::from_millis(ms),
            source: end(host, port),
            destination: end(255, 80),
            ..Segment::default()
        }
    }

    #[test]
    fn both_directions_of_a_flow_are_in_one_shard() {
        for port in 0..1_000 {
            let there = segment(1, port, 0);
            let back = Segment { source: there.destination, destination: there.source, ..there };
            assert_eq!(shard_of(&there), shard_of(&back));
        }
    }

    #[test]
    fn flows_are_spread_whether_their_hosts_or_their_ports_differ() {
        let (mut by_host, mut by_port, mut by_even_port) = ([0; SHARDS], [0; SHARDS], [0; SHARDS]);
        (0..240).for_each(|host| by_host[shard_of(&segment(host, 40_000, 0))] += 1);
        (0..240).for_each(|port| by_port[shard_of(&segment(1, 40_000 + port, 0))] += 1);
        // Linux connects from every second port while it can.
        (0..240).for_each(|port| by_even_port[shard_of(&segment(1, 40_000 + 2 * port, 0))] += 1);
        let spread = [by_host, by_port, by_even_port];
        assert!(spread.as_flattened().iter().all(|flows| (20..=40).contains(flows)), "{spread:?}");
    }

    #[test]
    fn each_shard_learns_what_the_others_took_some_batches_ago() {
        let (mut dealer, mut dealt) = (Dealer::new(0), Dealt::default());
        let told = |pauses| (1..=SHARDS).map(move |shard| Load { pauses: pauses * shard, ..Load::default() });
        let mut heard = Vec::new();
        for batch in 0..2 * BATCHES {
            let segment = segment(1, 1, batch as i64);
            dealer.deal(&[segment], segment.time, &mut dealt);
            heard.push(dealt.elsewhere[0].pauses);
            dealer.learns(of_shards(told(batch + 1)));
        }
        assert_eq!(heard[BATCHES - 1..], [0, 35, 70, 105, 140]);
        assert_eq!((dealt.first, dealt.latest), (2 * BATCHES as u64 - 1, Nanos::from_millis(2 * BATCHES as i64 - 2)));
    }
}
