//! One flow under observation: connection, window models and gap builders fed in the sender's order of events.

use super::builder::{Builder, Ending, LEAST_GAP};
use super::context;
use super::evidence::{Burst, Gap};
use super::repair::{Totals, Trigger};
use super::spikes::Spikes;
use crate::flow::{Connection, Direction, Half, Sending, connection::Effect};
use crate::sender::{Cwnd, timers};
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// A gap is a stall's candidate from this share of the base round trip on.
const STALL_SHARE: f64 = 0.3;

/// A flow while its packets pass.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The connection's state.
    pub connection: Connection,
    models: [Cwnd; 2],
    builders: [Builder; 2],
    spikes: [Spikes; 2],
    incomplete: bool,
    time_went_back: bool,
    left_out_after: Option<Nanos>,
}

/// What a segment was to its flow.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Who sent it.
    pub sender: Direction,
    /// What it did.
    pub effect: Effect,
}

/// A flow that has ended, ready to be judged.
#[derive(Debug)]
pub struct Finished {
    watch: Box<Watch>,
    /// Gaps of the client and of the server, in order of time.
    pub gaps: [Vec<Gap>; 2],
    /// Bursts of the client and of the server.
    pub bursts: [Vec<Burst>; 2],
    /// First flight of each, bytes.
    pub initial_flight: [Option<u64>; 2],
    /// Gaps that the limit dropped.
    pub dropped: u64,
    /// Gaps shorter than this are not stalls.
    pub threshold: Nanos,
}

impl Watch {
    /// Begins with the flow's first segment, which must then be given to [`Watch::sees`].
    pub fn new(segment: &Segment) -> Watch {
        Watch {
            connection: Connection::new(segment),
            models: Default::default(),
            builders: [Builder::new(Direction::Client), Builder::new(Direction::Server)],
            spikes: Default::default(),
            incomplete: false,
            time_went_back: false,
            left_out_after: None,
        }
    }

    /// The congestion window that the model gives a sender now, segments.
    pub fn cwnd(&self, sender: Direction) -> u32 {
        self.models[sender as usize].segments()
    }

    /// Takes in the flow's next segment and says who sent it and what it was.
    pub fn sees(&mut self, segment: &Segment) -> Seen {
        if segment.time < self.connection.end {
            // Several interfaces or a stepped clock: the flow's time stands still until the capture's has caught up.
            self.time_went_back = true;
            return self.sees(&Segment { time: self.connection.end, ..*segment });
        }
        let sender = self.connection.direction(segment);
        if let Some(last) = self.left_out_after.take() {
            self.builders.iter_mut().for_each(|builder| builder.on_left_out(last));
        }
        self.connection.measure(segment, sender);
        self.apply_acks(sender, segment.time);
        if segment.payload > 0 {
            // What the gap began and ended with must be read before the new data counts.
            let base_rtt = self.connection.base_rtt();
            let (half, index) = (self.connection.half(sender), sender as usize);
            self.builders[index].prepare(segment.time, base_rtt, half, &self.models[index]);
        }
        let was_open = self.connection.handshake.done.is_some();
        let effect = self.connection.sees(segment, sender);
        // Near its sender an ACK is due at once, while its flow is still in the cache.
        self.apply_acks(sender.peer(), segment.time);
        if !was_open && let Some(done) = self.connection.handshake.done {
            self.builders.iter_mut().for_each(|builder| builder.first_wait_from(done));
        }
        match effect {
            Effect::Handshake => self.models[sender as usize].begins(),
            Effect::Data(Sending::New { bytes, hole, lost, .. }) => self.new_data(segment, sender, bytes, hole, lost),
            Effect::Data(Sending::Again | Sending::Late { retransmitted: true }) => self.again(segment, sender),
            Effect::Data(Sending::Probe) => {
                let (half, model) = (self.connection.half(sender), &self.models[sender as usize]);
                self.builders[sender as usize].on_probe(half, model);
            }
            Effect::Data(Sending::Late { .. } | Sending::Copy) | Effect::Control => {}
        }
        if segment.flags.has(Flags::FIN) {
            let fin = &mut self.builders[sender as usize].fin;
            *fin = fin.or(Some(segment.time));
        }
        Seen { sender, effect }
    }

    /// Whoever pasted the capture left packets out here.
    pub fn left_out(&mut self) {
        self.incomplete = true;
        self.left_out_after = Some(self.connection.end);
        self.connection.halves.iter_mut().for_each(Half::left_out);
        self.models.iter_mut().for_each(Cwnd::lose_track);
    }

    fn apply_acks(&mut self, sender: Direction, now: Nanos) {
        let (model, builder) = (&mut self.models[sender as usize], &mut self.builders[sender as usize]);
        while let Some(acked) = self.connection.half_mut(sender).next_acked(now) {
            if let Some(rtt) = acked.rtt.filter(|_| !acked.steady) {
                self.connection.measures(sender, &acked, rtt, builder.heard());
                self.spikes[sender as usize].measures(&acked, || self.connection.base_rtt_at(acked.time));
            }
            let half = self.connection.half(sender);
            if builder.on_ack(&acked, half, model) {
                model.undo();
            }
            model.on_ack(acked.segments, half.snd_una, acked.time, half.srtt);
        }
    }

    fn new_data(&mut self, segment: &Segment, sender: Direction, bytes: u32, hole: i64, lost: u32) {
        let base_rtt = self.connection.base_rtt();
        let (half, index) = (self.connection.half(sender), sender as usize);
        let (model, builder) = (&mut self.models[index], &mut self.builders[index]);
        let first_known = builder.sending() || builder.last_data() > Nanos::ZERO;
        if !builder.sending()
            && let Some(peer) = builder.last_peer_payload
        {
            builder.first_wait_from(peer.max(builder.last_data()));
        }
        let mss = i64::from(half.mss());
        let lost = lost.max(((hole + mss - 1) / mss) as u32);
        if first_known && builder.is_prepared() {
            let ending = Ending { time: segment.time, next_packet: Some(segment.packet), lost, hole, base_rtt };
            let (idle, silence) = (segment.time - builder.last_sent(), segment.time - builder.last_progress());
            let nothing_out = builder.close(&ending, half, model);
            if lost > 0 && hole == 0 && silence >= timers::LINUX_RTO_MIN {
                // New to this tap, yet packets went missing just before it: the timer sent again what was lost before the tap.
                model.on_timeout(lost, half.snd_una + i64::from(lost) * mss);
            } else if nothing_out && builder.sending() {
                model.on_idle(idle, timers::rto(half.srtt));
            }
            builder.start_burst(segment);
        } else if !builder.sending() {
            builder.start_burst(segment);
        }
        builder.extend(segment, bytes, half);
        model.on_send(half.flight_segments(), half.snd_una, half.snd_nxt);
        self.builders[sender.peer() as usize].on_peer_data(segment);
    }

    fn again(&mut self, segment: &Segment, sender: Direction) {
        let (half, index) = (self.connection.half(sender), sender as usize);
        let (model, builder) = (&mut self.models[index], &mut self.builders[index]);
        let attempt = builder.on_retransmission(segment, half, model);
        let hinted = builder.loss_hints() > 0 || half.has_holes();
        match attempt.map(|attempt| (attempt.trigger, attempt.waited >= timers::LINUX_RTO_MIN)) {
            Some((Trigger::Timeout, true)) => model.on_timeout(half.flight_segments(), half.snd_nxt),
            Some((Trigger::TailProbe, _)) => {}
            _ if hinted => model.on_loss(half.flight_segments(), half.snd_nxt, half.snd_una),
            _ => {}
        }
    }

    /// The flow is over: what is still open is closed, and what only neighbours can tell is filled in.
    pub fn finish(mut self: Box<Self>) -> Finished {
        let base_rtt = self.connection.base_rtt();
        let threshold = LEAST_GAP.max(base_rtt.unwrap_or_default().scaled(STALL_SHARE));
        let [(client_gaps, client_bursts), (server_gaps, server_bursts)] =
            Direction::BOTH.map(|direction| self.close(direction, threshold, base_rtt));
        Finished {
            gaps: [client_gaps, server_gaps],
            bursts: [client_bursts, server_bursts],
            initial_flight: [self.builders[0].initial_flight, self.builders[1].initial_flight],
            dropped: self.builders.iter().map(|builder| builder.dropped).sum(),
            threshold,
            watch: self,
        }
    }

    fn close(&mut self, direction: Direction, threshold: Nanos, base_rtt: Option<Nanos>) -> (Vec<Gap>, Vec<Burst>) {
        let (index, end) = (direction as usize, self.connection.end);
        if let Some(last) = self.left_out_after {
            self.builders[index].on_left_out(last);
        }
        self.apply_acks(direction, Nanos(i64::MAX / 2));
        let half = self.connection.half(direction);
        let builder = &mut self.builders[index];
        // A FIN ends the wait, unless data before it was still being repaired after it.
        let over = builder.fin.filter(|fin| !builder.repairs_after(*fin)).unwrap_or(end);
        let ending = Ending { time: over, next_packet: None, lost: 0, hole: 0, base_rtt };
        builder.prepare(Nanos(i64::MAX), base_rtt, half, &self.models[index]);
        builder.close(&ending, half, &mut self.models[index]);
        arrange(builder, threshold, &self.connection, direction)
    }
}

impl Finished {
    /// The connection's state.
    pub fn connection(&self) -> &Connection {
        &self.watch.connection
    }

    /// Packets of the flow were stamped earlier than packets before them.
    pub fn time_went_back(&self) -> bool {
        self.watch.time_went_back
    }

    /// A sender's spikes of round trip time.
    pub fn spikes(&self, sender: Direction) -> &Spikes {
        &self.watch.spikes[sender as usize]
    }

    /// How often a sender repaired losses, and why.
    pub fn repairs(&self, sender: Direction) -> Totals {
        self.watch.builders[sender as usize].repairs()
    }

    /// Packets were left out of the capture.
    pub fn incomplete(&self) -> bool {
        self.watch.incomplete
    }
}

/// Joins bursts over pauses that turned out too short to be gaps, and gives each gap its neighbours' evidence.
fn arrange(
    builder: &mut Builder,
    threshold: Nanos,
    connection: &Connection,
    sender: Direction,
) -> (Vec<Gap>, Vec<Burst>) {
    let half = connection.half(sender);
    let mut gaps: Vec<Gap> = Vec::with_capacity(builder.gaps.len());
    let mut bursts = Vec::with_capacity(builder.gaps.len());
    let mut joined: Option<Burst> = None;
    let sent = builder.sending();
    for mut gap in std::mem::take(&mut builder.gaps) {
        if let Some(earlier) = joined.take() {
            gap.before = join(&earlier, &gap.before);
        }
        if gap.ended && !gap.first && gap.left_out.is_none() && gap.duration() <= threshold {
            joined = Some(gap.before);
            continue;
        }
        gap.base_rtt = connection.base_rtt_at(gap.end);
        gap.moves_tap(half.distance.at(gap.end).unwrap_or_default());
        if !gap.first {
            bursts.push(gap.before);
        }
        gaps.push(gap);
    }
    for index in 1..gaps.len() {
        gaps[index - 1].after = gaps[index].before;
    }
    if !sent {
        gaps.clear();
    }
    context::fill(&mut gaps);
    (gaps, bursts)
}

fn join(earlier: &Burst, later: &Burst) -> Burst {
    Burst {
        start: earlier.start,
        bytes: earlier.bytes + later.bytes,
        frames: earlier.frames + later.frames,
        first_frame: earlier.first_frame,
        ..*later
    }
}
