//! Records some flows for a replay.

use hashbrown::HashMap;

use super::RunOptions;
use super::second_pass::{Witness, again};
use super::shards::Shards;
use super::table::entry::Over;
use crate::capture::CaptureError;
use crate::pause::{SeenSegment, SegmentKind, Watch};
use crate::replay::record::{KeptSegments, MOST_KEPT, MOST_KEPT_TOGETHER};
use crate::replay::{Passing, PassingKind, Record};
use crate::time::Nanos;
use crate::wire::{Address, Flags, Segment};

/// Records of the flows with those ids, in their order, from one reading of the captures. The filter's times must be
/// those of the run that gave the ids. `None` for an unknown id. A capture that cannot be read has none, and is an
/// error where no other has.
pub fn records(paths: &[String], flows: &[u64], options: &RunOptions) -> Result<Vec<Option<Record>>, CaptureError> {
    let mut keeping = Keeping {
        kept: flows.iter().map(|id| (*id, KeptSegments::default())).collect(),
        left: MOST_KEPT_TOGETHER,
        measured: HashMap::new(),
        passed: HashMap::new(),
        beside: HashMap::new(),
        records: HashMap::new(),
    };
    match again(paths, flows, options, &mut keeping) {
        Some(error) if keeping.records.is_empty() => Err(error),
        _ => Ok(flows.iter().map(|id| keeping.records.remove(id)).collect()),
    }
}

struct Keeping {
    kept: HashMap<u64, KeptSegments>,
    /// Number of further segments that fit.
    left: usize,
    /// Times when the newest ACK that measured a round trip passed, for both ends of each flow.
    measured: HashMap<u64, [Option<Nanos>; 2]>,
    /// Payload of all flows by the hosts that sent and received it, bytes.
    passed: HashMap<(Address, Address), i64>,
    beside: HashMap<u64, [Beside; 2]>,
    records: HashMap<u64, Record>,
}

/// Payload that passed between the hosts of one end's data, in its direction.
#[derive(Clone, Copy, Default)]
struct Beside {
    /// Bytes of all flows before the first segment with data.
    before: Option<i64>,
    /// Bytes of all flows after the last segment with data.
    after: i64,
    own: i64,
}

impl Beside {
    fn others(self) -> i64 {
        self.before.map_or(0, |before| self.after - before - self.own)
    }
}

impl Witness for Keeping {
    fn sees(&mut self, segment: &Segment, id: u64, seen: SeenSegment, watch: &Watch) {
        let payload = i64::from(segment.payload);
        let passed = self.passed.entry((segment.source.address, segment.destination.address)).or_default();
        *passed += payload;
        let Some(kept) = self.kept.get_mut(&id) else { return };
        if payload > 0 {
            let beside = &mut self.beside.entry(id).or_default()[seen.sender];
            beside.before.get_or_insert(*passed - payload);
            (beside.after, beside.own) = (*passed, beside.own + payload);
        }
        let mut passing = passing(segment, seen, watch);
        let about = seen.sender.peer();
        let measured = &mut self.measured.entry(id).or_default()[about];
        let newest = watch.connection.half(about).newest_rtt.filter(|(time, _)| Some(*time) != *measured);
        if let Some((time, rtt)) = newest {
            (*measured, passing.rtt) = (Some(time), Some(rtt));
        }
        kept.keep(passing, MOST_KEPT, &mut self.left);
    }

    fn over(&mut self, over: Over) {
        if let Some(kept) = self.kept.remove(&over.id) {
            let others = self.beside.remove(&over.id).unwrap_or_default().map(Beside::others);
            self.records.insert(over.id, Record::new(&over.flow, over.id, over.capture, kept, others));
        }
    }

    fn ends(&mut self, shards: &mut Shards) {
        shards.drain().for_each(|over| self.over(over));
    }
}

fn passing(segment: &Segment, seen: SeenSegment, watch: &Watch) -> Passing {
    let (sender, peer) = (seen.sender, seen.sender.peer());
    let (own, other) = (watch.connection.half(sender), watch.connection.half(peer));
    let kind = match seen.kind {
        SegmentKind::New => PassingKind::New,
        SegmentKind::Again => PassingKind::Again,
        SegmentKind::Late { retransmitted } => PassingKind::Late { again: retransmitted },
        SegmentKind::Probe | SegmentKind::Copy | SegmentKind::Handshake | SegmentKind::Bare => PassingKind::Control,
    };
    let ack = segment.flags.has(Flags::ACK).then(|| other.offset(segment.ack));
    // RFC 7323 §2.2: the window in a SYN is never scaled.
    let syn = segment.flags.has(Flags::SYN).then_some(i64::from(segment.window));
    let window = syn.or_else(|| other.peer_scale.bytes(segment.window));
    Passing {
        time: segment.time,
        packet: segment.packet,
        sender,
        kind,
        start: own.offset(segment.seq),
        bytes: if kind == PassingKind::Control { 0 } else { i64::from(segment.payload) },
        ack,
        edge: ack.zip(window).map(|(ack, window)| ack + window).filter(|_| !segment.flags.has(Flags::RST)),
        rtt: None,
        sack: segment.sack_blocks().first().map(|block| (other.offset(block.left), other.offset(block.right))),
    }
}
