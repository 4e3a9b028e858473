//! Follows one flow: feeds its connection, window models and pause builders in the sender's order of events.

mod acks;
mod calm;
mod close;
mod data;
mod finished;
mod holding;
mod late;
mod part;
mod renewed;
mod run;
mod seen;
mod state;
mod steady;

use self::run::Run;
pub use self::seen::{SeenSegment, SegmentKind};
use self::steady::InStep;
use super::LEAST_PAUSE;
use super::bottleneck::BusyPeriod;
use super::builder::Builder;
use super::burst::Burst;
use super::evidence::repair::Trigger;
use super::over::Over;
use super::pauses::Pauses;
use super::spikes::Spikes;
use crate::flow::{
    Connection, End, Half, Sending, connection::Effect, first_payload::FirstPayloads, rounds::Rounds,
    tap::clock_steps::ClockSteps,
};
use crate::sender::{Cwnd, timers};
use crate::time::Nanos;
use crate::wire::{Flags, Segment, tunnel::Tunnel};

/// Share of the base round trip from which a pause may be a stall.
const STALL_SHARE: f64 = 0.3;
/// Most bytes that a link pads a bare ACK with, and that some devices count as payload: Ethernet's least payload is 46
/// bytes, two headers take 40.
const PADDING: u64 = 6;

/// A flow whose packets are still read.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(remote = "Self")]
pub struct Watch {
    /// The connection's state.
    pub connection: Connection,
    models: [Cwnd; 2],
    builders: [Builder; 2],
    rounds: Rounds,
    first_payloads: Option<Box<FirstPayloads>>,
    tunnel: Option<Box<Tunnel>>,
    spikes: [Spikes; 2],
    incomplete: bool,
    /// The flow was removed from memory while it was open.
    pub let_go: bool,
    clock_steps: Option<Box<ClockSteps>>,
    left_out_after: Option<Nanos>,
    /// The run of data that the next segment may continue.
    #[serde(skip)]
    run: Option<Run>,
    /// The run is steady: its next segments are known but for their times.
    #[serde(skip)]
    steady: Option<InStep>,
    /// Memory of the pauses when it was last measured, bytes.
    #[serde(skip)]
    holding: usize,
    /// Memory of the data in flight when it was last measured, bytes.
    #[serde(skip)]
    flying: usize,
}

/// A flow that has ended, ready to be judged.
#[derive(Debug)]
pub struct Finished {
    watch: Box<Watch>,
    /// The last silence of the client and of the server, where that was the only one and nobody waited in it: such a
    /// silence is not among the pauses.
    pub over: [Option<Over>; 2],
    /// Pauses of the client and of the server, in order of time.
    pub pauses: [Pauses; 2],
    /// Bursts of the client and of the server.
    pub bursts: [Vec<Burst>; 2],
    /// Times when the path was busy with the data of the client and of the server.
    pub busy_periods: [Vec<BusyPeriod>; 2],
    /// First flight of each sender, bytes.
    pub initial_flight: [Option<u64>; 2],
    /// Pauses that the limit dropped.
    pub dropped: u64,
    /// Time from which pauses of either sender are missing.
    pub untold_from: Option<Nanos>,
    /// Length below which pauses are not stalls.
    pub threshold: Nanos,
    /// Time of each sender between segments too close for a pause, while the peer's window was full.
    pub full_for: [Nanos; 2],
    /// Time of the capture's latest packet when the flow was given up: no packet of the flow came until then.
    pub until: Option<Nanos>,
}

impl Watch {
    /// Starts with the flow's first segment, which must then be given to [`Watch::sees`].
    pub fn new(segment: &Segment) -> Watch {
        Watch {
            connection: Connection::new(segment),
            models: Default::default(),
            builders: [Builder::new(End::Client), Builder::new(End::Server)],
            rounds: Rounds::default(),
            first_payloads: None,
            tunnel: None,
            spikes: Default::default(),
            incomplete: false,
            let_go: false,
            clock_steps: None,
            left_out_after: None,
            run: None,
            steady: None,
            holding: 0,
            flying: 0,
        }
    }

    /// The congestion window of a sender by the model now, segments.
    pub fn cwnd(&self, sender: End) -> u32 {
        self.models[sender].segments()
    }

    /// Takes in the flow's next segment and returns its sender and kind. Each of the four ways has code of its own.
    #[inline]
    pub fn sees(&mut self, segment: &Segment) -> SeenSegment {
        match &self.run {
            Some(run) if self.steady.is_some() => self.sees_in_step(segment, run.sender),
            Some(run) if segment.payload > 1 && self.continues(segment, run) => {
                self.goes_on_with_run(segment, run.sender)
            }
            Some(run) if segment.payload == 0 && run.calm => self.sees_ack(segment, run.sender),
            _ => self.sees_bare(segment),
        }
    }

    /// Takes in a segment without payload.
    #[inline(never)]
    fn sees_bare(&mut self, segment: &Segment) -> SeenSegment {
        if segment.payload > 0 {
            return self.sees_data(segment);
        }
        self.sees_next(segment)
    }

    /// Takes in a segment with payload that continues no run.
    #[inline(never)]
    fn sees_data(&mut self, segment: &Segment) -> SeenSegment {
        self.sees_next(segment)
    }

    #[inline(always)]
    fn sees_next(&mut self, segment: &Segment) -> SeenSegment {
        if segment.time < self.connection.end {
            return self.steps_back(segment);
        }
        let sender = self.connection.sender(segment);
        match self.connection.known_before(segment, sender) {
            Some(known) => self.is_overdue(segment, sender, known),
            None => self.takes_in(segment, sender, false),
        }
    }

    /// Takes in a segment with an earlier time than the one before: the capture has several interfaces, or its clock was
    /// stepped. The flow's time stops until the capture's has caught up.
    #[cold]
    fn steps_back(&mut self, segment: &Segment) -> SeenSegment {
        self.run = None;
        self.clock_steps.get_or_insert_default().goes_back(segment.time, self.connection.end);
        self.sees(&Segment { time: self.connection.end, ..*segment })
    }

    /// Takes in a segment that the capture holds after the packet that proves it had passed, at `known`: it is stamped
    /// with its correct time, just before that packet.
    #[cold]
    fn is_overdue(&mut self, segment: &Segment, sender: End, known: Nanos) -> SeenSegment {
        self.run = None;
        let time = (known - Nanos(1)).max(self.earliest(sender)).min(segment.time);
        self.takes_in(&Segment { time, ..*segment }, sender, true)
    }

    /// Earliest time that a segment of `sender` may be stamped with: the start of the flow, or of the sender's current
    /// burst.
    fn earliest(&self, sender: End) -> Nanos {
        self.connection.start.max(self.builders[sender].current_burst().start)
    }

    /// Takes in a segment; an `overdue` one is stamped with its correct time.
    #[inline(always)]
    fn takes_in(&mut self, segment: &Segment, sender: End, overdue: bool) -> SeenSegment {
        if let Some(last) = self.left_out_after {
            self.left_out_after = None;
            self.builders.iter_mut().for_each(|builder| builder.on_left_out(last));
        }
        let heard_unseen = self.connection.hears(segment, sender, || self.builders[sender].round());
        self.receives_acks(segment, sender);
        self.takes_in_after_acks(segment, sender, overdue, heard_unseen)
    }

    /// Takes in a segment whose sender has received the ACKs before it.
    #[inline(always)]
    fn takes_in_after_acks(
        &mut self,
        segment: &Segment,
        sender: End,
        overdue: bool,
        heard_unseen: bool,
    ) -> SeenSegment {
        if segment.payload > 0 {
            // The pause's start and end must be read before the new data counts.
            let base_rtt = || self.connection.base_rtt();
            let half = self.connection.half(sender);
            self.builders[sender].prepare(segment.time, base_rtt, half, &self.models[sender], heard_unseen);
        }
        if self.connection.is_in_order(segment, sender) {
            self.goes_on(segment, sender, overdue)
        } else {
            self.deviates(segment, sender, overdue)
        }
    }

    /// Takes in a segment that is its sender's next in an open connection: most are.
    #[inline(always)]
    fn goes_on(&mut self, segment: &Segment, sender: End, overdue: bool) -> SeenSegment {
        let (effect, ack) = self.connection.goes_on(segment, sender, overdue);
        // Near its sender an ACK is due at once; applying it now is cheap, because the flow is still in the CPU cache.
        let is_news = ack.is_some();
        if let Some(ack) = ack {
            self.pass_on(ack, sender.peer(), segment.time);
        }
        let ended_pause = match effect {
            Effect::Data(Sending::New { bytes, .. }) => {
                let ended_pause = self.new_data(segment, sender, bytes, 0, 0);
                self.begins_run(segment, sender, is_news);
                ended_pause
            }
            _ if self.connection.half(sender).ip_id.was_overtaken() => {
                self.run = None;
                self.comes_late(segment, sender, effect);
                false
            }
            _ => {
                self.is_answered(sender);
                false
            }
        };
        SeenSegment { sender, kind: effect.into(), ended_pause }
    }

    /// Takes in any other segment.
    #[inline(never)]
    fn deviates(&mut self, segment: &Segment, sender: End, overdue: bool) -> SeenSegment {
        self.run = None;
        let handshake = &self.connection.handshake;
        let (was_open, had_spoken) = (handshake.done.is_some(), handshake.spoken.is_some());
        let half = self.connection.half(sender);
        let (was_heard, repeated) = (half.is_acked_at_tap(segment), half.retransmitted);
        let (effect, ack) = self.connection.sees(segment, sender, overdue);
        match ack {
            Some(ack) => self.pass_on(ack, sender.peer(), segment.time),
            None => self.apply_acks(sender.peer(), segment.time),
        }
        let handshake = &self.connection.handshake;
        if !had_spoken && let (Some(spoken), Some(_)) = (handshake.spoken, handshake.start()) {
            self.builders[End::Client].first_wait_from(spoken);
        }
        if !was_open && let Some(done) = self.connection.handshake.done {
            self.builders.iter_mut().for_each(|builder| builder.first_wait_from(done));
            let lost = [self.connection.handshake.syns, self.connection.handshake.syn_acks];
            for (model, sent) in self.models.iter_mut().zip(lost) {
                model.is_established(sent.saturating_sub(1));
            }
        }
        let mut ended_pause = false;
        match effect {
            Effect::Handshake => self.models[sender].begins(),
            Effect::Data(Sending::New { bytes, hole, lost, .. }) => {
                if self.connection.half(sender).retransmitted > repeated + PADDING {
                    // The repair carries new data too (RFC 9293 §3.8.1 lets a sender cut its data anew).
                    self.again(segment, sender, true);
                }
                ended_pause = self.new_data(segment, sender, bytes, hole, lost);
            }
            Effect::Data(Sending::Again | Sending::Late { retransmitted: true }) => {
                self.again(segment, sender, effect == Effect::Data(Sending::Again));
                if !was_heard {
                    self.builders[sender.peer()].on_peer_repeat(segment);
                }
            }
            Effect::Data(Sending::Probe) => {
                let (half, model) = (self.connection.half(sender), &self.models[sender]);
                self.builders[sender].on_probe(segment.time, segment.payload, half, model);
            }
            Effect::Control if self.connection.half(sender).is_ahead(segment) => {
                let half = self.connection.half(sender);
                let missing = (half.snd_nxt, half.offset(segment.seq));
                self.builders[sender].skips(segment.time, missing, half);
            }
            Effect::Data(Sending::Late { .. } | Sending::Copy) | Effect::Control | Effect::Copy => {}
        }
        let came_late = matches!(effect, Effect::Data(Sending::Late { .. }));
        if came_late || self.connection.half(sender).ip_id.was_overtaken() {
            self.comes_late(segment, sender, effect);
        }
        if let Effect::Data(Sending::Again | Sending::Late { .. }) = effect {
            self.rounds.repeats(segment, sender, &self.connection);
        }
        if segment.flags.0 & (Flags::FIN.0 | Flags::RST.0) != 0 {
            self.rounds.closes(sender, segment.time, segment.flags.has(Flags::RST));
            let fin = &mut self.builders[sender].fin;
            *fin = fin.or(Some(segment.time));
        }
        SeenSegment { sender, kind: effect.into(), ended_pause }
    }

    /// Takes in payload of `sender` that begins a known protocol element; true if it is the flow's first.
    #[cold]
    pub fn begins_with(&mut self, sender: End, segment: &Segment, payload: &[u8]) -> bool {
        let first = self.first_payloads.is_none();
        let offset = self.connection.half(sender).offset(segment.seq);
        self.first_payloads.get_or_insert_default().keep(sender, payload, offset);
        first
    }

    /// Payload that begins a known protocol element was sent.
    pub fn has_begun_with(&self) -> bool {
        self.first_payloads.is_some()
    }

    /// Takes in the tunnel of a segment: the first one's is kept.
    #[cold]
    pub fn came_through(&mut self, tunnel: &Tunnel) {
        self.tunnel.get_or_insert_with(|| Box::new(tunnel.clone()));
    }

    /// Takes in that the author of a paste left packets out here.
    pub fn left_out(&mut self) {
        self.leaves_step();
        (self.incomplete, self.run) = (true, None);
        self.left_out_after = Some(self.connection.end);
        self.connection.halves.iter_mut().for_each(Half::left_out);
        self.models.iter_mut().for_each(Cwnd::lose_track);
        self.rounds.left_out(&self.connection);
    }

    /// Takes in a retransmission of what the tap had `seen` or not.
    fn again(&mut self, segment: &Segment, sender: End, seen: bool) {
        let half = self.connection.half(sender);
        let (model, builder) = (&mut self.models[sender], &mut self.builders[sender]);
        let attempt = builder.on_retransmission(segment, seen, half, model);
        let distance = half.vantage.now().unwrap_or_default();
        builder.repeats_unheard(segment, self.connection.half(sender.peer()), distance);
        let hinted = builder.loss_hints() > 0 || half.is_loss_reported();
        let least = timers::least_rto(half.srtt);
        match attempt.map(|attempt| (attempt.trigger, attempt.waited >= least)) {
            Some((Trigger::Timeout, true)) => model.on_timeout(half.flight_segments(), half.snd_nxt),
            Some((Trigger::TailProbe, _)) => {}
            _ if hinted => model.on_loss(half.flight_segments(), half.snd_nxt, half.snd_una),
            _ => {}
        }
    }

    /// Ends the flow: closes what is still open and fills in the evidence of the neighbours.
    pub fn finish(mut self: Box<Self>) -> Finished {
        self.leaves_step();
        self.rounds.finish(&self.connection);
        if !self.connection.half(End::Client).awaits_acks() {
            self.connection.keep_distances();
        }
        let base_rtt = self.connection.base_rtt();
        let threshold = LEAST_PAUSE.max(base_rtt.unwrap_or_default().scaled(STALL_SHARE));
        let client = self.close(End::Client, threshold, base_rtt);
        let server = self.close(End::Server, threshold, base_rtt);
        Finished {
            over: [client.over, server.over],
            pauses: [client.pauses, server.pauses],
            bursts: [client.bursts, server.bursts],
            busy_periods: [client.busy_periods, server.busy_periods],
            initial_flight: End::BOTH.map(|sender| self.builders[sender].initial_flight),
            dropped: self.builders.iter().map(|builder| builder.dropped).sum(),
            untold_from: self.builders.iter().filter_map(|builder| builder.untold_from).min(),
            threshold,
            full_for: End::BOTH.map(|sender| self.builders[sender].full_for),
            until: None,
            watch: self,
        }
    }
}

#[cfg(test)]
mod tests;
