//! Samples every segment of some flows with its sender's state, for plots.

use hashbrown::HashMap;

use super::RunOptions;
use super::second_pass::{Witness, again};
use crate::capture::CaptureError;
use crate::flow::End;
use crate::pause::{SeenSegment, SegmentKind, Watch};
use crate::results::columns::Sample;
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// The ACKs and windows seen at the tap for one direction of data.
#[derive(Clone, Copy, Default)]
struct Told {
    acked: i64,
    edge: Option<i64>,
    /// Time when the newest ACK that measured a round trip passed.
    measured: Option<Nanos>,
}

/// The samples of one flow.
#[derive(Default)]
struct Samples {
    rows: Vec<Sample>,
    told: [Told; 2],
}

/// Samples of the flows with those ids, in their order, from one reading of the captures. The filter's times must be
/// those of the run that gave the ids. A row of kind `ack` describes the data that it acknowledges, any other row its
/// own sender's data. Empty for an unknown or repeated id. A capture that cannot be read has none, and is an error
/// where no other has; a damaged one gives the readable part.
pub fn samples(paths: &[String], flows: &[u64], options: &RunOptions) -> Result<Vec<Vec<Sample>>, CaptureError> {
    let mut wanted = Wanted(flows.iter().map(|id| (*id, Samples::default())).collect());
    match again(paths, flows, options, &mut wanted) {
        Some(error) if wanted.0.values().all(|samples| samples.rows.is_empty()) => Err(error),
        _ => Ok(flows.iter().map(|id| wanted.0.remove(id).map(|samples| samples.rows).unwrap_or_default()).collect()),
    }
}

/// The flows to be sampled, by id.
struct Wanted(HashMap<u64, Samples>);

impl Witness for Wanted {
    fn sees(&mut self, segment: &Segment, id: u64, seen: SeenSegment, watch: &Watch) {
        if let Some(samples) = self.0.get_mut(&id) {
            samples.rows.extend(sample(segment, seen, watch, &mut samples.told));
        }
    }
}

fn sample(segment: &Segment, seen: SeenSegment, watch: &Watch, told: &mut [Told; 2]) -> Option<Sample> {
    let (sender, peer) = (seen.sender, seen.sender.peer());
    hear(segment, peer, watch, told);
    let kind = match seen.kind {
        SegmentKind::Handshake => return None,
        SegmentKind::Bare => "ack",
        SegmentKind::Probe => "probe",
        SegmentKind::Again | SegmentKind::Late { retransmitted: true } => "retransmission",
        SegmentKind::New | SegmentKind::Late { .. } | SegmentKind::Copy => "data",
    };
    let about = if kind == "ack" { peer } else { sender };
    let half = watch.connection.half(about);
    let heard = &mut told[about];
    let newer = half.newest_rtt.filter(|(passed, _)| heard.measured.is_none_or(|last| last < *passed));
    heard.measured = newer.map(|(passed, _)| passed).or(heard.measured);
    let own = watch.connection.half(sender);
    let other = watch.connection.half(peer);
    Some(Sample {
        time_ns: segment.time.0,
        packet: segment.packet.0,
        sender,
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

fn hear(segment: &Segment, about: End, watch: &Watch, told: &mut [Told; 2]) {
    if !segment.flags.has(Flags::ACK) {
        return;
    }
    let half = watch.connection.half(about);
    let heard = &mut told[about];
    let ack = half.offset(segment.ack);
    if ack >= heard.acked {
        heard.acked = ack;
        // RFC 7323 §2.2: the window in a SYN is never scaled.
        let syn = segment.flags.has(Flags::SYN).then_some(i64::from(segment.window));
        heard.edge = syn.or_else(|| half.peer_scale.bytes(segment.window)).map(|window| ack + window);
    }
}
