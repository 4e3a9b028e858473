//! Every segment of one flow with its sender's state, for drawing.

use super::batch::Batch;
use super::filter::Filter;
use super::reader::{Filled, Reader};
use super::status::CaptureStatus;
use super::table::Table;
use crate::capture::{Capture, CaptureError};
use crate::flow::connection::Effect;
use crate::flow::{Direction, Sending};
use crate::gap::{Seen, Watch};
use crate::tables::columns::Sample;
use crate::wire::{Flags, Segment};

/// What the tap has seen acknowledged and announced for one direction of data.
#[derive(Clone, Copy, Default)]
struct Told {
    acked: i64,
    edge: Option<i64>,
}

/// The samples of the flow with that id. A row of kind `ack` tells of the data that it acknowledges, any other row of
/// its own sender's data. Empty if there is no such flow; a damaged capture gives what could be read.
pub fn samples(path: &str, flow: u64) -> Result<Vec<Sample>, CaptureError> {
    let (mut status, filter) = (CaptureStatus::new(path), Filter::default());
    let mut reader = Reader::new(Capture::open(path)?, &filter, &mut status);
    let (mut batch, mut table, mut done) = (Batch::default(), Table::new(0), Vec::new());
    let (mut rows, mut told) = (Vec::new(), [Told::default(); 2]);
    loop {
        let filled = reader.fill(&mut batch);
        for segment in batch.segments() {
            if let Some((id, seen, watch)) = table.sees(segment, &mut done)
                && id == flow
            {
                rows.extend(sample(segment, seen, watch, &mut told));
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
    match reader.error.take() {
        None | Some(CaptureError::Damaged { .. } | CaptureError::Read { .. }) => Ok(rows),
        Some(error) => Err(error),
    }
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
    let (half, heard) = (watch.connection.half(about), told[about as usize]);
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
