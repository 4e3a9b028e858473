//! What captures tell of some flows, kept for a replay.

use hashbrown::HashMap;

use super::Options;
use super::batch::Batch;
use super::entry::Over;
use super::reader::{Filled, Reader};
use super::status::CaptureStatus;
use super::table::Table;
use crate::capture::{Capture, CaptureError};
use crate::flow::Sending;
use crate::flow::connection::Effect;
use crate::gap::{Seen, Watch};
use crate::replay::record::MOST_KEPT;
use crate::replay::{Kind, Passing, Record};
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// The flows with those ids, in their order, from one reading of the captures that gave the ids: the filter's times must be
/// the same too. `None` for an id that is none. A capture that cannot be read has none, and is an error where no other has.
pub fn records(paths: &[String], flows: &[u64], options: &Options) -> Result<Vec<Option<Record>>, CaptureError> {
    let mut keeping = Keeping {
        passings: flows.iter().map(|id| (*id, Vec::new())).collect(),
        measured: HashMap::new(),
        records: HashMap::new(),
    };
    let last = flows.iter().max().copied();
    let (mut next_id, mut unread) = (0, None);
    for (number, path) in (0..).zip(paths) {
        if last.is_none_or(|last| last < next_id) {
            break;
        }
        match keeping.read(path, number, next_id, options) {
            Ok(next) => next_id = next,
            Err(error) => unread = unread.or(Some(error)),
        }
    }
    match unread {
        Some(error) if keeping.records.is_empty() => Err(error),
        _ => Ok(flows.iter().map(|id| keeping.records.remove(id)).collect()),
    }
}

struct Keeping {
    passings: HashMap<u64, Vec<Passing>>,
    /// When the newest ACK passed that measured a round trip, of either end of the flow that passed last.
    measured: HashMap<u64, [Option<Nanos>; 2]>,
    records: HashMap<u64, Record>,
}

impl Keeping {
    /// Adds what one capture has; gives the id that the next flow will have.
    fn read(&mut self, path: &str, number: u32, next_id: u64, options: &Options) -> Result<u64, CaptureError> {
        let mut status = CaptureStatus::new(path);
        let capture = Capture::open(path)?.with_expansion(options.expansion);
        let mut reader = Reader::new(capture, &options.filter, &mut status);
        let (mut batch, mut table, mut done) = (Batch::default(), Table::new(next_id), Vec::new());
        loop {
            let filled = reader.fill(&mut batch);
            for segment in batch.segments() {
                if let Some((id, seen, watch)) = table.sees(segment, &mut done)
                    && let Some(passings) = self.passings.get_mut(&id).filter(|passings| passings.len() < MOST_KEPT)
                {
                    let mut passing = passing(segment, seen, watch);
                    let about = seen.sender.peer();
                    let measured = &mut self.measured.entry(id).or_default()[about as usize];
                    let newest = watch.connection.half(about).newest_rtt.filter(|(time, _)| Some(*time) != *measured);
                    if let Some((time, rtt)) = newest {
                        (*measured, passing.rtt) = (Some(time), Some(rtt));
                    }
                    passings.push(passing);
                }
                done.drain(..).for_each(|over| self.keep(over, number));
            }
            if batch.left_out {
                table.left_out();
            }
            batch.clear();
            if filled == Filled::End {
                break;
            }
        }
        table.drain().for_each(|over| self.keep(over, number));
        match reader.error.take() {
            None | Some(CaptureError::Damaged { .. } | CaptureError::Read { .. }) => Ok(table.next_id()),
            Some(error) => Err(error),
        }
    }

    fn keep(&mut self, (id, flow): Over, number: u32) {
        if let Some(passings) = self.passings.remove(&id) {
            self.records.insert(id, Record::new(&flow, id, number, passings));
        }
    }
}

fn passing(segment: &Segment, seen: Seen, watch: &Watch) -> Passing {
    let (sender, peer) = (seen.sender, seen.sender.peer());
    let (own, other) = (watch.connection.half(sender), watch.connection.half(peer));
    let kind = match seen.effect {
        Effect::Data(Sending::New { .. }) => Kind::New,
        Effect::Data(Sending::Again) => Kind::Again,
        Effect::Data(Sending::Late { retransmitted }) => Kind::Late { again: retransmitted },
        Effect::Data(Sending::Probe | Sending::Copy) | Effect::Handshake | Effect::Control | Effect::Copy => {
            Kind::Control
        }
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
        bytes: if kind == Kind::Control { 0 } else { i64::from(segment.payload) },
        ack,
        edge: ack.zip(window).map(|(ack, window)| ack + window).filter(|_| !segment.flags.has(Flags::RST)),
        rtt: None,
        sack: segment.sack_blocks().first().map(|block| (other.offset(block.left), other.offset(block.right))),
    }
}
