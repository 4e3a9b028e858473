//! One connection: its handshake, its two directions of data, and its end.

pub mod handshake;
mod in_order;
mod legs;
mod opening;
mod part;
pub mod roles;
pub mod silence;
pub(super) mod steady;

use self::handshake::Handshake;
use self::roles::ends;
use self::silence::PeerSilence;
use super::end::{End, split};
use super::events::{Acked, Sending};
use super::half::Half;
use super::half::pending::PendingAck;
use super::half::window::Scale;
use super::tap::min_rtt::Answer;
use crate::time::Nanos;
use crate::wire::{Endpoint, Flags, Segment, VlanId};

/// Age below which a repeated SYN is a copy: no stack repeats a SYN this soon (RFC 6298 §2.1: 1 s; the shortest known
/// are a few hundred ms).
const SYN_COPY_AGE: Nanos = Nanos::from_millis(100);

/// State of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum State {
    /// Only SYNs were seen.
    #[default]
    Opening,
    /// The connection is established, or was first seen in mid-life.
    Open,
    /// One end sent its FIN.
    HalfClosed,
    /// Both ends sent their FIN.
    Closed,
    /// A RST ended the connection.
    Reset,
}

impl State {
    /// Name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            State::Opening => "opening",
            State::Open => "open",
            State::HalfClosed => "half-closed",
            State::Closed => "closed",
            State::Reset => "reset",
        }
    }
}

/// Effect of a segment on the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The segment belonged to the handshake.
    Handshake,
    /// The segment carried payload of its sender, or probed.
    Data(Sending),
    /// A copy of a segment without payload, made by the capture or the network.
    Copy,
    /// The segment carried neither payload nor SYN.
    Control,
}

/// State of one connection.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Connection {
    /// The end that opened the connection, by the SYN or by a guess.
    pub client: Endpoint,
    /// The other end.
    pub server: Endpoint,
    /// VLAN of the first segment.
    pub vlan: Option<VlanId>,
    /// The roles are known from a SYN or SYN-ACK.
    pub roles_known: bool,
    /// First segment.
    pub start: Nanos,
    /// Latest segment.
    pub end: Nanos,
    /// A later part of a connection: the parts before it have its handshake and were reported.
    pub continues: bool,
    /// Segments of both directions.
    pub segments: u64,
    /// Segments that were cut inside their options.
    pub options_cut: u64,
    /// State of the connection.
    pub state: State,
    /// The handshake.
    pub handshake: Handshake,
    /// Data of the client and of the server.
    pub halves: [Half; 2],
    /// Unanswered retransmissions of each end.
    pub silence: [PeerSilence; 2],
    /// Distances of a flow that is over.
    #[serde(skip)]
    pub(super) kept_distances: Option<[Option<Nanos>; 2]>,
}

impl Connection {
    /// Starts with the first segment seen.
    pub fn new(segment: &Segment) -> Connection {
        let ([client, server], syn) = (ends(segment), segment.flags.has(Flags::SYN));
        Connection {
            client,
            server,
            vlan: segment.vlan,
            roles_known: syn,
            start: segment.time,
            end: segment.time,
            continues: false,
            segments: 0,
            options_cut: 0,
            state: State::Opening,
            handshake: Handshake::default(),
            halves: Default::default(),
            silence: Default::default(),
            kept_distances: None,
        }
    }

    /// Becomes another connection, as [`Connection::new`] does, in the memory of this one.
    pub fn renew(&mut self, segment: &Segment) {
        // Every field is named, so that none is forgotten.
        let Connection {
            client,
            server,
            vlan,
            roles_known,
            start,
            end,
            continues,
            segments,
            options_cut,
            state,
            handshake,
            halves,
            silence,
            kept_distances,
        } = self;
        [*client, *server] = ends(segment);
        (*vlan, *roles_known) = (segment.vlan, segment.flags.has(Flags::SYN));
        (*start, *end) = (segment.time, segment.time);
        (*continues, *segments, *options_cut, *state) = (false, 0, 0, State::Opening);
        (*handshake, *silence, *kept_distances) = (Handshake::default(), Default::default(), None);
        halves.iter_mut().for_each(Half::renew);
    }

    /// Sender of the segment.
    #[inline]
    pub fn sender(&self, segment: &Segment) -> End {
        if segment.source == self.client { End::Client } else { End::Server }
    }

    /// The data of `sender`.
    #[inline]
    pub fn half(&self, sender: End) -> &Half {
        &self.halves[sender]
    }

    /// The data of `sender`.
    #[inline]
    pub fn half_mut(&mut self, sender: End) -> &mut Half {
        &mut self.halves[sender]
    }

    /// True if this SYN opens a new connection on the same ports (RFC 9293 §3.10.7.4, RFC 6191).
    pub fn is_reused_by(&self, segment: &Segment) -> bool {
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return false;
        }
        match (self.sender(segment), self.handshake.client_isn) {
            (End::Client, Some(isn)) => isn != segment.seq,
            _ => self.state != State::Opening,
        }
    }

    /// Time of a packet that proves this segment had passed before it, if the capture holds the segment later.
    #[inline(always)]
    pub fn known_before(&mut self, segment: &Segment, sender: End) -> Option<Nanos> {
        let heard = self.half_mut(sender.peer()).vantage.heard(segment);
        let half = self.half_mut(sender);
        let acknowledged = half.acknowledged_at(segment).into_iter();
        acknowledged.chain(heard).min().filter(|known| half.disorder.record(segment.time - *known))
    }

    /// Measures the tap's distance to both ends; call it before the ACKs that this segment's sender has received are
    /// applied.
    #[inline(always)]
    pub fn measure(&mut self, segment: &Segment, sender: End) {
        let (own, peer) = split(&mut self.halves, sender);
        own.measures_distance(peer, segment);
    }

    /// Takes in a round trip that the ACK of `sender`'s data measured; the ACK before it reached the sender at `heard`.
    #[inline]
    pub fn measures(&mut self, sender: End, acked: &Acked, rtt: Nanos, heard: Nanos) {
        let answers = self.half(sender).peer_distance.samples();
        let distance = self.half(sender).vantage.now().unwrap_or_default();
        // RFC 5681 §4.2: an ACK of two full segments must not be delayed. Behind the flow's own queue its ACKs keep
        // coming.
        let prompt = acked.bytes >= 2 * i64::from(self.half(sender).mss()) && acked.payload == 0;
        let leg = &mut self.half_mut(sender.peer()).vantage;
        let span = (rtt - distance).or_zero();
        let excess = span - leg.min_rtt.get().unwrap_or(span);
        let answer = match (prompt, (acked.time - heard).0 >= excess.0 / 2) {
            (false, _) => Answer::Unsure,
            (true, true) => Answer::Bare,
            (true, false) => Answer::Queued,
        };
        leg.acknowledges(acked.time - distance, span, answer, answers);
    }

    /// Packets, without the copies that the capture or the network made.
    pub fn originals(&self) -> u64 {
        self.segments.saturating_sub(self.halves.iter().map(|half| half.copies).sum())
    }

    /// Takes in one segment; its ACK is the caller's to pass on.
    pub fn sees(&mut self, segment: &Segment, sender: End, overdue: bool) -> (Effect, Option<PendingAck>) {
        // A continuation of a segment counts with its beginning.
        self.segments += u64::from(!segment.goes_on || self.segments == 0);
        self.options_cut += u64::from(segment.options_cut);
        // The first RST ended the connection: a sender of further RSTs without data waits for nothing.
        let is_bare = || segment.payload == 0 && segment.flags.0 & (Flags::SYN.0 | Flags::FIN.0) == 0;
        let refused = self.is_refused(segment, sender);
        if self.state != State::Reset || !refused && (!segment.flags.has(Flags::RST) || !is_bare()) {
            self.end = self.end.max(segment.time);
        }
        let peer = sender.peer();
        self.silence[peer].is_broken(segment.time);
        let effect = if segment.flags.has(Flags::SYN) {
            self.synchronise(segment, sender);
            Effect::Handshake
        } else if refused {
            let half = &self.halves[sender];
            self.silence[sender].lasts(segment.time, half.offset(segment.seq) <= half.snd_una);
            Effect::Control
        } else {
            self.carry(segment, sender)
        };
        if effect == Effect::Data(Sending::Again) {
            let half = &self.halves[sender];
            self.silence[sender].lasts(segment.time, half.offset(segment.seq) <= half.snd_una);
        }
        let ack = if effect == Effect::Copy {
            None
        } else {
            let echoed = self.half(sender).vantage.last_span();
            self.half_mut(peer).passes(segment, echoed, overdue)
        };
        if segment.flags.has(Flags::RST) && !self.is_void_reset(segment, sender) {
            self.state = State::Reset;
            self.silence[peer].begins_with_reset();
            let unanswered = self.handshake.syn_ack.is_none() && self.handshake.spoken.is_none();
            if sender == End::Server && unanswered && self.handshake.syn.is_some() {
                self.handshake.refused = Some(segment.time);
            }
        }
        (effect, ack)
    }

    /// Old data that was sent again to a peer whose last word was a RST, and nothing new since: the connection is over (RFC 9293
    /// §3.10.7.4), and the copy repairs nothing.
    fn is_refused(&self, segment: &Segment, sender: End) -> bool {
        let (half, silence) = (&self.halves[sender], &self.silence[sender]);
        let over = self.state == State::Reset && silence.follows_reset() && segment.payload > 0;
        let old = || half.offset(segment.seq) + i64::from(segment.payload) <= half.snd_nxt;
        over && old() && half.newest_sent() <= silence.heard
    }

    /// The RST does not count. While a SYN is unanswered a RST counts only if it acknowledges the SYN (RFC 9293
    /// §3.10.7.3), or follows it: the others belong to the connection that had the ports before, whose TIME-WAIT
    /// answers the SYN with a challenge ACK (RFC 5961 §4).
    fn is_void_reset(&self, segment: &Segment, sender: End) -> bool {
        let Some(isn) = self.handshake.client_isn.filter(|_| self.handshake.syn_ack.is_none()) else { return false };
        let next = isn.plus(1);
        let void = match sender {
            End::Client => segment.seq != next,
            End::Server => !segment.flags.has(Flags::ACK) || segment.ack != next,
        };
        void && self.half(sender).frames == 0
    }

    fn carry(&mut self, segment: &Segment, sender: End) -> Effect {
        if self.state == State::Opening && !segment.flags.has(Flags::RST) {
            self.state = State::Open;
        }
        let resets = segment.flags.has(Flags::RST);
        if self.handshake.done.is_none() && sender == End::Client && self.handshake.syn_ack.is_some() && !resets {
            // An ACK of data that the capture lacks, more than the SYN and a FIN, came after the one that completed the
            // handshake.
            let lacking = self.half(End::Server).bytes == 0
                && self.handshake.server_isn.is_some_and(|isn| segment.ack.since(isn) > 2);
            let earliest = self.handshake.last_syn_ack.filter(|_| lacking).unwrap_or(segment.time);
            self.handshake.done = Some(earliest.min(self.end));
            if !lacking {
                self.time_last_leg(segment.time);
            }
            // Nobody sends timestamps unless both SYNs had them (RFC 7323 §3.2), whatever a cut or a garbled SYN-ACK
            // shows.
            if self.handshake.options_cut || (segment.timestamps.is_some() && !self.handshake.timestamps) {
                self.handshake.timestamps = segment.timestamps.is_some();
                self.agree_on_size();
            }
        } else if self.handshake.done.is_none() && sender == End::Client && segment.payload > 0 {
            self.handshake.spoken = self.handshake.spoken.or(Some(segment.time));
        }
        let finishing = segment.flags.has(Flags::FIN);
        let zero_probe = segment.payload == 0 && !finishing && self.is_left_edge_probe(segment, sender);
        let effect = if segment.payload > 0 || zero_probe {
            let (own, peer) = split(&mut self.halves, sender);
            Effect::Data(own.sees(segment, peer))
        } else {
            if finishing {
                let half = self.half_mut(sender);
                half.fin = Some(half.offset(segment.seq) + 1);
            }
            let half = self.half_mut(sender);
            if half.ip_id.is_repeated_by(segment) {
                half.copies += 1;
                return Effect::Copy;
            }
            half.ip_id.follow(segment, half.mss());
            Effect::Control
        };
        if finishing && !matches!(self.state, State::Reset) {
            let both = self.halves.iter().all(|half| half.fin.is_some());
            self.state = if both { State::Closed } else { State::HalfClosed };
        }
        effect
    }

    fn is_left_edge_probe(&self, segment: &Segment, sender: End) -> bool {
        let half = self.half(sender);
        half.started() && half.snd_nxt > 1 && half.offset(segment.seq) == half.snd_una - 1
    }

    fn synchronise(&mut self, segment: &Segment, sender: End) {
        let handshake = &mut self.handshake;
        let time = Some(segment.time);
        let last = if segment.flags.has(Flags::ACK) { handshake.last_syn_ack } else { handshake.last_syn };
        if last.is_some_and(|last| segment.time - last < SYN_COPY_AGE) {
            self.halves[sender].copies += 1;
            return;
        }
        handshake.hear(sender, segment);
        if segment.flags.has(Flags::ACK) {
            handshake.syn_ack = handshake.syn_ack.or(time);
            handshake.last_syn_ack = time;
            handshake.syn_acks += 1;
            handshake.server_isn = Some(segment.seq);
            if let Some(span) = handshake.answered_first(segment.time) {
                self.opened(sender, segment.time, span);
            }
        } else {
            handshake.syn = handshake.syn.or(time);
            handshake.last_syn = time;
            handshake.syns += 1;
            handshake.client_isn = Some(segment.seq);
        }
        if !self.halves[sender].syn_seen {
            self.halves[sender].start(segment.seq);
        }
        // The SYN may be stored second, in the wrong order at a fast server.
        if self.handshake.syn_ack.is_some() && !self.handshake.options_cut {
            self.agree();
        }
    }

    /// Combines both SYNs' options (the SYN-ACK repeats the options of the SYN that the server accepted).
    fn agree(&mut self) {
        self.agree_on_size();
        let handshake = &self.handshake;
        let [client_scale, server_scale] = handshake.scale;
        let syn_seen = handshake.syn.is_some();
        let [client_sack, server_sack] = handshake.sack;
        let sack = server_sack && (client_sack || !syn_seen);
        self.halves.iter_mut().for_each(|half| half.sack_permitted = sack);
        let [client, server] = &mut self.halves;
        if syn_seen {
            client.peer_scale = Scale::negotiated(server_scale, client_scale);
            server.peer_scale = Scale::negotiated(client_scale, server_scale);
        } else if server_scale.is_some() {
            // A SYN-ACK may carry the option only if the SYN did (RFC 7323 §2.2).
            client.peer_scale = Scale::Present(server_scale.unwrap_or(0).min(14));
        } else {
            client.peer_scale = Scale::Absent;
            server.peer_scale = Scale::Absent;
        }
    }
}
