//! Every segment of some flows with its sender's state, for drawing.

use std::ops::ControlFlow;

use hashbrown::HashMap;

use super::Options;
use super::batch::Batch;
use super::reader::{Filled, Reader};
use super::sets::in_order;
use super::status::CaptureStatus;
use super::table::Table;
use crate::capture::CaptureError;
use crate::flow::connection::Effect;
use crate::flow::{Direction, Sending};
use crate::gap::{Seen, Watch};
use crate::tables::columns::Sample;
use crate::time::Nanos;
use crate::wire::{Flags, Segment};
/// What the tap has seen acknowledged and announced for one direction of data.
#[derive(Clone, Copy, Default)]
struct Told {
    acked: i64,
    edge: Option<i64>,
    /// When the newest ACK that measured a round trip passed.
    measured: Option<Nanos>,
}

/// The samples of one flow.
#[derive(Default)]
struct Samples {
    rows: Vec<Sample>,
    told: [Told; 2],
}

/// The samples of the flows with those ids, in their order, from one reading of the captures that gave the ids: the filter's
/// times must be the same too. A row of kind `ack` tells of the data that it acknowledges, any other row of its own sender's
/// data. Empty for an id that is none and for one given before. A capture that cannot be read has none, and is an
/// error where no other has; a damaged one gives what could be read.
pub fn samples(paths: &[String], flows: &[u64], options: &Options) -> Result<Vec<Vec<Sample>>, CaptureError> {
    let mut wanted: HashMap<u64, Samples> = flows.iter().map(|id| (*id, Samples::default())).collect();
    let last = flows.iter().max().copied();
    let (mut next_id, mut unread) = (0, None);
    let mut statuses = vec![CaptureStatus::default(); paths.len()];
    for set in options.sets.groups(paths.len()) {
        if last.is_none_or(|last| last < next_id) {
            break;
        }
        let error;
        (next_id, error) = read(&set, paths, next_id, options, &mut statuses, &mut wanted);
        unread = unread.or(error);
    }
    match unread {
        Some(error) if wanted.values().all(|samples| samples.rows.is_empty()) => Err(error),
        _ => Ok(flows.iter().map(|id| wanted.remove(id).map(|samples| samples.rows).unwrap_or_default()).collect()),
    }
}

/// Adds what one stream has; the id that the next flow will have, and why a capture could not be read at all.
fn read(
    set: &[usize],
    paths: &[String],
    next_id: u64,
    options: &Options,
    statuses: &mut [CaptureStatus],
    to: &mut HashMap<u64, Samples>,
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
                && let Some(samples) = to.get_mut(&id)
            {
                samples.rows.extend(sample(segment, seen, watch, &mut samples.told));
            }
            done.clear();
        }
        if batch.left_out {
            table.left_out();
        }
        batch.clear();
        if filled == Filled::End {
            break;
        }
    }
    (table.next_id(), reader.error.take())
}

fn sample(segment: &Segment, seen: Seen, watch: &Watch, told: &mut [Told; 2]) -> Option<Sample> {
    let (sender, peer) = (seen.sender, seen.sender.peer());
    hear(segment, peer, watch, told);
    let kind = match seen.effect {
        Effect::Handshake => return None,
        Effect::Control | Effect::Copy => "ack",
        Effect::Data(Sending::New { .. }) => "data",
        Effect::Data(Sending::Probe) => "probe",
        Effect::Data(Sending::Again | Sending::Late { retransmitted: true }) => "retransmission",
        Effect::Data(Sending::Late { .. } | Sending::Copy) => "data",
    };
    let about = if kind == "ack" { peer } else { sender };
    let half = watch.connection.half(about);
    let heard = &mut told[about as usize];
    let newer = half.newest_rtt.filter(|(passed, _)| heard.measured.is_none_or(|last| last < *passed));
    heard.measured = newer.map(|(passed, _)| passed).or(heard.measured);
    let own = watch.connection.half(sender);
    let other = watch.connection.half(peer);
    Some(Sample {
        time_ns: segment.time.0,
        packet: segment.packet.0,
        sender: if sender == Direction::Client { "client" } else { "server" },
        kind,
        seq: own.offset(segment.seq),
        bytes: i64::from(segment.payload),
        ack: segment.flags.has(Flags::ACK).then(|| other.offset(segment.ack)),
        edge: heard.edge,
        in_flight: (half.snd_nxt - heard.acked.max(1)).max(0),
        cwnd: half.syn_seen.then(|| i64::from(watch.cwnd(about).max(half.flight_segments())) * i64::from(half.mss())),
        sack: segment.sack_blocks().first().map(|block| (other.offset(block.left), other.offset(block.right))),
        rtt: newer.map(|(_, rtt)| rtt.0),
    })
}

fn hear(segment: &Segment, about: Direction, watch: &Watch, told: &mut [Told; 2]) {
    if !segment.flags.has(Flags::ACK) {
        return;
    }
    let half = watch.connection.half(about);
    let heard = &mut told[about as usize];
    let ack = half.offset(segment.ack);
    if ack >= heard.acked {
        heard.acked = ack;
        // RFC 7323 §2.2: the window in a SYN is never scaled.
        let syn = segment.flags.has(Flags::SYN).then_some(i64::from(segment.window));
        heard.edge = syn.or_else(|| half.peer_scale.bytes(segment.window)).map(|window| ack + window);
    }
}
