//! Detects captures taken at two points of one path: they hold the same packets of a connection at different times.
//!
//! A packet is recognised by the fields that are equal at every point of its path: sender, sequence number and ACK,
//! flags, and its timestamps or its IP identification, which no later transmission of the same bytes has. The packets
//! with the smallest hashes are remembered of each connection: the same ones at every point, in any order and at any
//! time.

use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashMap;

use super::reader::source::{Source, SourceItem};
use super::status::CaptureStatus;
use super::table::key::Key;
use super::{Filter, RunOptions};
use crate::time::Nanos;
use crate::wire::{Endpoint, Flags, Segment};

/// Packets remembered per connection and capture.
const SAMPLE: usize = 128;
/// Packets remembered of all connections; later connections are not compared.
const REMEMBERED: usize = 1 << 21;
/// Time within which two interfaces of one host see a packet; such copies are ignored where flows are followed.
const COPY_AGE: Nanos = Nanos::from_millis(1);
/// Packets in both captures that show two points of one path, where a mark distinguishes each transmission.
const MARKED: usize = 2;
/// The same number where a retransmission looks like the original: in total and in each direction.
const UNMARKED: (usize, usize) = (8, 2);
/// Divisor of the packets: at least a quarter must be in both captures. Of a connection that is spread over two links
/// only few packets are sent again over the other link.
const SHARED: usize = 4;
/// The same divisor for packets without a mark.
const UNMARKED_SHARED: usize = 2;
/// SYN, FIN and RST: networks set and clear other flags (RFC 3168 §6.1).
const TOLD_APART: u8 = 0x07;

/// Two captures that hold the same packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoTaps {
    /// Numbers of the captures among the inputs.
    pub captures: [usize; 2],
    /// The ends of a connection that both captures hold.
    pub ends: [Endpoint; 2],
}

/// A packet of a sample.
#[derive(Clone, Copy, Debug)]
struct Marked {
    hash: u64,
    time: Nanos,
    length: u32,
    ip_id: Option<u16>,
    stamped: bool,
    forth: bool,
}

/// The packets of a connection with the smallest hashes, in order.
#[derive(Debug, Default)]
struct Sample(Vec<Marked>);

impl Sample {
    /// Adds a packet; true if it is in the sample now and was not before.
    fn takes(&mut self, packet: Marked) -> bool {
        let full = self.0.len() == SAMPLE;
        if full && self.0.last().is_some_and(|last| last.hash <= packet.hash) {
            return false;
        }
        let Err(at) = self.0.binary_search_by_key(&packet.hash, |other| other.hash) else { return false };
        if full {
            self.0.pop();
        }
        self.0.insert(at, packet);
        true
    }

    fn find(&self, hash: u64) -> Option<&Marked> {
        self.0.binary_search_by_key(&hash, |other| other.hash).ok().map(|at| &self.0[at])
    }

    /// Hash up to which the sample is complete, although the capture may hold packets with greater hashes.
    fn reach(&self) -> u64 {
        self.0.last().filter(|_| self.0.len() == SAMPLE).map_or(u64::MAX, |last| last.hash)
    }

    /// Number of packets with hashes up to `reach`.
    fn within(&self, reach: u64) -> usize {
        self.0.partition_point(|packet| packet.hash <= reach)
    }
}

/// One connection in the captures read so far.
#[derive(Debug, Default)]
struct Seen(Vec<(usize, Sample)>);

impl Seen {
    /// The other capture that shares so many packets with this one that it was taken at another point of the path.
    fn other_point(&self, capture: usize) -> Option<usize> {
        let (_, own) = self.0.iter().find(|(number, _)| *number == capture)?;
        let mut others = self.0.iter().filter(|(number, _)| *number != capture);
        others.find(|(_, other)| are_of_one_path(own, other)).map(|(number, _)| *number)
    }
}

/// True if enough packets of one sample are in the other, at another time.
fn are_of_one_path(one: &Sample, other: &Sample) -> bool {
    let reach = one.reach().min(other.reach());
    let (mut marked, mut unmarked, mut at_once) = (0, [0; 2], 0);
    for packet in &one.0[..one.within(reach)] {
        let Some(twin) = other.find(packet.hash) else { continue };
        let identified = packet.ip_id.zip(twin.ip_id).map(|(one, other)| one != 0 && one == other);
        if packet.length == twin.length && (packet.time - twin.time).0.unsigned_abs() < COPY_AGE.0.unsigned_abs() {
            at_once += 1;
        } else if packet.stamped || identified == Some(true) {
            marked += 1;
        } else {
            unmarked[usize::from(packet.forth)] += 1;
        }
    }
    let all = marked + unmarked[0] + unmarked[1];
    // Simultaneous copies prove nothing: on a short path whole packets are simultaneous, and split frames are not.
    let comparable = one.within(reach).min(other.within(reach)).saturating_sub(at_once);
    marked >= MARKED && SHARED * marked >= comparable
        || all >= UNMARKED.0 && unmarked.into_iter().all(|way| way >= UNMARKED.1) && UNMARKED_SHARED * all >= comparable
}

/// The connections of captures that are to be merged.
#[derive(Default)]
struct Taps {
    connections: HashMap<Key, Seen>,
    remembered: usize,
}

impl Taps {
    /// Takes in a packet; returns the other capture, if the two turn out to be of one path.
    fn sees(&mut self, capture: usize, segment: &Segment) -> Option<usize> {
        let key = Key::of(segment);
        let full = self.remembered >= REMEMBERED;
        if full && !self.connections.contains_key(&key) {
            return None;
        }
        let seen = self.connections.entry(key).or_default();
        let at = seen.0.iter().position(|(number, _)| *number == capture);
        let at = at.unwrap_or_else(|| {
            seen.0.push((capture, Sample::default()));
            seen.0.len() - 1
        });
        let packet = marked(segment);
        let before = seen.0[at].1.0.len();
        if !seen.0[at].1.takes(packet) {
            return None;
        }
        self.remembered += seen.0[at].1.0.len() - before;
        let is_there = |(number, sample): &(usize, Sample)| *number != capture && sample.find(packet.hash).is_some();
        if seen.0.iter().any(is_there) { seen.other_point(capture) } else { None }
    }
}

fn marked(segment: &Segment) -> Marked {
    let mut hasher = DefaultHasher::new();
    let flags = segment.flags.0 & TOLD_APART;
    let ack = segment.flags.has(Flags::ACK).then_some(segment.ack.0);
    let stamps = segment.timestamps.map(|stamps| (stamps.value, stamps.echo));
    (segment.source.address.0, segment.source.port, segment.seq.0, ack, flags, stamps).hash(&mut hasher);
    Marked {
        hash: hasher.finish(),
        time: segment.time,
        length: segment.sequence_length(),
        ip_id: segment.ip_id,
        stamped: stamps.is_some(),
        forth: segment.source <= segment.destination,
    }
}

/// Finds two of these captures that were taken at two points of one path, by the selected connections. Captures that
/// cannot be read, or only once, are skipped. Where the reading waits, `signalled` decides whether to give up.
pub fn two_taps(paths: &[String], options: &RunOptions, mut signalled: impl FnMut() -> bool) -> Option<TwoTaps> {
    let mut taps = Taps::default();
    for (capture, path) in paths.iter().enumerate() {
        if let Some((other, ends)) = read(capture, path, options, &mut taps, &mut signalled) {
            return Some(TwoTaps { captures: [other, capture], ends });
        }
    }
    None
}

fn read(
    capture: usize,
    path: &str,
    options: &RunOptions,
    taps: &mut Taps,
    signalled: &mut impl FnMut() -> bool,
) -> Option<(usize, [Endpoint; 2])> {
    let mut input = options.capture(path).ok().filter(|input| !input.reads_once())?;
    let (mut source, mut status, mut segment) = (Source::default(), CaptureStatus::default(), Segment::default());
    let mut until_asked = ASKED_EVERY;
    loop {
        match source.next_apart(&mut input, &mut status, &mut segment) {
            Ok(Some(SourceItem::Segment | SourceItem::Start)) if is_wanted(&options.filter, &segment) => {
                if let Some(other) = taps.sees(capture, &segment) {
                    return Some((other, [segment.source, segment.destination]));
                }
            }
            Ok(Some(SourceItem::Interrupted)) if signalled() => return None,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return None,
        }
        until_asked -= 1;
        if until_asked == 0 {
            until_asked = ASKED_EVERY;
            if signalled() {
                return None;
            }
        }
    }
}

/// Records between two calls of `signalled`.
const ASKED_EVERY: u32 = 1 << 18;

/// True if the filter may select the segment; ids of flows are not known yet.
fn is_wanted(filter: &Filter, segment: &Segment) -> bool {
    let id = filter.flows.first().copied().unwrap_or_default();
    filter.takes(segment) && filter.wants_id(id) && filter.wants_ends([segment.source, segment.destination])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::SeqNo;
    use crate::wire::{Address, Timestamps};

    fn segment(ms: i64, seq: u32, stamp: Option<u32>) -> Segment {
        let end = |last, port| Endpoint { address: Address::v4([10, 0, 0, last]), port };
        Segment {
            time: Nanos::from_millis(ms),
            source: end(1, 40_000),
            destination: end(2, 80),
            seq: SeqNo(seq),
            flags: Flags::ACK,
            payload: 100,
            timestamps: stamp.map(|value| Timestamps { value, echo: 1 }),
            ..Segment::default()
        }
    }

    /// Compares two captures: returns the capture that the second one turns out to be of one path with.
    fn compared(one: impl Iterator<Item = Segment>, other: impl Iterator<Item = Segment>) -> Option<usize> {
        let mut taps = Taps::default();
        one.for_each(|segment| assert_eq!(taps.sees(0, &segment), None));
        other.filter_map(|segment| taps.sees(1, &segment)).next()
    }

    #[test]
    fn the_same_packets_of_a_long_connection_are_recognised_hours_apart() {
        let at = |begin: i64| move |n: u32| segment(begin + i64::from(n), n * 100, Some(n));
        assert_eq!(compared((0..50_000).map(at(0)), (0..50_000).map(at(7_200_000))), Some(0));
    }

    #[test]
    fn packets_that_were_sent_again_elsewhere_are_others() {
        let again = (0..5_000).map(|n| segment(200 + i64::from(n), n * 100, Some(200 + n)));
        assert_eq!(compared((0..5_000).map(|n| segment(i64::from(n), n * 100, Some(n))), again), None);
    }

    #[test]
    fn copies_of_one_host_are_not_of_two_points() {
        let all = || (0..5_000).map(|n| segment(i64::from(n), n * 100, Some(n)));
        let soon = all().map(|segment| Segment { time: Nanos(segment.time.0 + 50_000), ..segment });
        assert_eq!(compared(all(), soon), None);
    }

    #[test]
    fn on_a_short_path_frames_that_were_split_are_recognised_among_copies() {
        let acks = || (0..400).map(|n| segment(i64::from(n), n * 100, Some(n)));
        let split = acks().map(|own| {
            let payload = if own.seq.0 % 2_000 == 0 { 50 } else { own.payload };
            Segment { time: Nanos(own.time.0 + 50_000), payload, ..own }
        });
        assert_eq!(compared(acks(), split), Some(0));
    }

    #[test]
    fn no_more_than_so_many_packets_are_remembered() {
        let mut taps = Taps::default();
        for port in 0..40_000 {
            for n in 0..60 {
                let mut segment = segment(i64::from(n), n, Some(n));
                segment.source.port = port;
                taps.sees(0, &segment);
            }
        }
        assert!(taps.remembered <= REMEMBERED + SAMPLE, "{}", taps.remembered);
    }
}
