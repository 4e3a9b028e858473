//! What captures tell of some flows, kept for a replay.

use std::ops::ControlFlow;

use hashbrown::HashMap;

use super::Options;
use super::batch::Batch;
use super::entry::Over;
use super::reader::{Filled, Reader};
use super::sets::in_order;
use super::status::CaptureStatus;
use super::table::Table;
use crate::capture::CaptureError;
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
    let mut statuses = vec![CaptureStatus::default(); paths.len()];
    for set in options.sets.groups(paths.len()) {
        if last.is_none_or(|last| last < next_id) {
            break;
        }
        let error;
        (next_id, error) = keeping.read(&set, paths, next_id, options, &mut statuses);
        unread = unread.or(error);
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
    /// Adds what one stream has; the id that the next flow will have, and why a capture could not be read at all.
    fn read(
        &mut self,
        set: &[usize],
        paths: &[String],
        next_id: u64,
        options: &Options,
        statuses: &mut [CaptureStatus],
    ) -> (u64, Option<CaptureError>) {
        let mut again = || ControlFlow::Continue(());
        let ControlFlow::Continue(coming) = in_order(set, paths, options, statuses, &mut again) else {
            return (next_id, None);
        };
        let mut reader = Reader::new(coming, paths, options, statuses);
        let (mut batch, mut table, mut done) = (Batch::default(), Table::new(next_id, 0), Vec::new());
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
                done.drain(..).for_each(|over| self.keep(over));
            }
            if batch.left_out {
                table.left_out();
            }
            batch.clear();
            if filled == Filled::End {
                break;
            }
        }
        table.drain().for_each(|over| self.keep(over));
        (table.next_id(), reader.error.take())
    }

    fn keep(&mut self, over: Over) {
        if let Some(passings) = self.passings.remove(&over.id) {
            self.records.insert(over.id, Record::new(&over.flow, over.id, over.capture, passings));
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
