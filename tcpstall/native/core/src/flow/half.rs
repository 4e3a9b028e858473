//! One direction of data: what its sender sent and what was acknowledged, in the sender's own order of events.

use std::collections::VecDeque;

use super::distance::Distance;
use super::ranges::Ranges;
use super::window::Scale;
use crate::seq::SeqNo;
use crate::size::PacketNo;
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// ACKs wait here until they reach the sender; past this many the old ones are applied at once.
const PENDING_ACKS: usize = 4096;
/// Frames remembered as outstanding; beyond it the oldest are forgotten, and with them RTT samples only.
const OUTSTANDING: usize = 1 << 16;
/// A jump in sequence space that no window allows (RFC 7323 §2.3 limits a window to 1 GiB).
const ABSURD_JUMP: i64 = 1 << 30;
/// Copies of a packet that a bridge or `-i any` makes follow one another within this time.
const COPY_AGE: Nanos = Nanos::from_millis(1);
/// Segment size until a SYN or a full segment says otherwise (Ethernet with timestamps).
const USUAL_MSS: u32 = 1448;

/// A frame of new data that is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: i64,
    time: Nanos,
    segments: u32,
    ip_id: Option<u16>,
    short: bool,
    again: bool,
}

/// A segment of the peer on its way from the tap to the sender.
#[derive(Clone, Copy, Debug)]
struct PendingAck {
    time: Nanos,
    ack: i64,
    window: Option<i64>,
    packet: PacketNo,
    payload: u32,
    /// How many blocks of the queue of SACK blocks are its own.
    sack_count: u8,
}

/// What an arriving segment of the sender turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Bytes never sent before; `hole` bytes before them were not seen.
    New {
        /// New payload bytes.
        bytes: u32,
        /// Segments of one MSS that they make.
        segments: u32,
        /// Bytes skipped over.
        hole: i64,
        /// Packets that the IP-ID counter says were sent since the last frame and did not pass here; 0 where it does not tell.
        lost: u32,
    },
    /// Bytes that this tap saw before.
    Again,
    /// Bytes below the highest seen that this tap had not seen: reordered, or a retransmission of something lost before the tap.
    Late {
        /// The IP-ID counter says that it was sent after the data that overtook it.
        retransmitted: bool,
    },
    /// A window probe or keep-alive: nothing, or one byte, at the left edge.
    Probe,
    /// A copy of a packet made by the capture or the network.
    Copy,
}

/// What one acknowledgement did when it reached the sender.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When it reached the sender, on the clock by which the tap sees the sender's data.
    pub time: Nanos,
    /// The packet that carried it.
    pub packet: PacketNo,
    /// Newly acknowledged bytes.
    pub bytes: i64,
    /// Newly acknowledged segments.
    pub segments: u32,
    /// Segments in flight before it.
    pub out_before: u32,
    /// Bytes in flight before it.
    pub flight_before: i64,
    /// Room in the peer's window before it.
    pub room_before: Option<i64>,
    /// The peer's window before it.
    pub window_before: Option<i64>,
    /// A segment shorter than a full one was outstanding before it.
    pub short_before: bool,
    /// A duplicate ACK, or one with new SACK blocks.
    pub loss_hint: bool,
    /// Payload of the peer in the same segment.
    pub payload: u32,
}

/// State of one direction. Positions are 64-bit offsets from the ISN.
#[derive(Clone, Debug, Default)]
pub struct Half {
    /// Where offset 0 lies; `None` before anything was seen.
    base: Option<SeqNo>,
    /// True if `base` is the ISN of a captured SYN.
    pub syn_seen: bool,
    /// The scale of the *peer's* window for this sender's data.
    pub peer_scale: Scale,
    /// Highest offset sent.
    pub snd_nxt: i64,
    /// Highest offset acknowledged, as the sender knows it.
    pub snd_una: i64,
    /// The peer's window after the last ACK that reached the sender.
    pub window: Option<i64>,
    /// MSS option of the peer's SYN less options, or the largest plausible segment seen.
    mss: u32,
    mss_negotiated: bool,
    sent: VecDeque<Sent>,
    segments_out: u32,
    short_out: u32,
    sacked: Ranges,
    unseen: Ranges,
    pending: VecDeque<PendingAck>,
    pending_sacks: VecDeque<(i64, i64)>,
    /// Round trip from the tap to this sender and back.
    pub distance: Distance,
    /// Round trip from the tap to the peer and back, by this sender's data.
    pub peer_distance: Distance,
    /// Smoothed round trip of the sender (RFC 6298 §2), `None` before the first sample.
    pub srtt: Option<Nanos>,
    /// Payload bytes, each counted once.
    pub bytes: u64,
    /// Frames with payload.
    pub frames: u64,
    /// Payload bytes sent again.
    pub retransmitted: u64,
    /// Most bytes in flight.
    pub max_flight: i64,
    /// Bytes acknowledged that this tap never saw.
    pub never_seen: i64,
    /// Sequence space the sender closed with FIN.
    pub fin: Option<i64>,
    /// Packets were left out and no ACK since has said what is still outstanding.
    pub flight_unknown: bool,
    left_out: bool,
    last_id: Option<(u16, u32)>,
    id_steps: (u32, u32),
}

impl Half {
    /// The ISN of this sender's SYN or SYN-ACK.
    pub fn start(&mut self, isn: SeqNo) {
        self.base = Some(isn);
        self.syn_seen = true;
        self.snd_nxt = 1;
        self.snd_una = 1;
    }

    /// The most payload one segment may carry, by both SYNs' options.
    pub fn set_mss(&mut self, mss: u32) {
        self.mss = mss.max(1);
        self.mss_negotiated = true;
    }

    /// Payload of a full segment.
    #[inline]
    pub fn mss(&self) -> u32 {
        if self.mss == 0 { USUAL_MSS } else { self.mss }
    }

    /// The MSS where it is known from SYNs or from data.
    pub fn known_mss(&self) -> Option<u32> {
        (self.mss > 0).then_some(self.mss)
    }

    /// True once anything of this direction has been seen.
    pub fn started(&self) -> bool {
        self.base.is_some()
    }

    /// Offset of a sequence number of this direction, unwrapped to 64 bits next to the highest seen.
    #[inline]
    pub fn offset(&self, seq: SeqNo) -> i64 {
        let base = self.base.unwrap_or_default();
        let near = base.plus(self.snd_nxt as u32);
        self.snd_nxt + i64::from(seq.since(near))
    }

    /// Bytes in flight: sent, not acknowledged, not SACKed.
    #[inline]
    pub fn flight(&self) -> i64 {
        let out = self.snd_nxt - self.snd_una;
        if self.sacked.is_empty() { out.max(0) } else { (out - self.sacked.bytes()).max(0) }
    }

    /// Segments in flight.
    #[inline]
    pub fn flight_segments(&self) -> u32 {
        if self.sacked.is_empty() {
            return self.segments_out;
        }
        let sacked = (self.sacked.bytes() / i64::from(self.mss())) as u32;
        self.segments_out.saturating_sub(sacked)
    }

    /// How much more the peer's window would take; `None` where the window is not known.
    #[inline]
    pub fn room(&self) -> Option<i64> {
        self.window.map(|window| self.snd_una + window - self.snd_nxt)
    }

    /// True while SACK blocks or unfilled holes say that something is missing at the receiver.
    pub fn has_holes(&self) -> bool {
        !self.sacked.is_empty()
    }

    /// True if the frames outstanding include one shorter than a full segment.
    pub fn short_segment_out(&self) -> bool {
        self.short_out > 0
    }

    /// Takes in a data segment, probe or FIN of this sender.
    pub fn sees(&mut self, segment: &Segment) -> Sending {
        if self.base.is_none() {
            self.base = Some(SeqNo(segment.seq.0.wrapping_sub(1)));
            self.snd_nxt = 1;
            self.snd_una = 1;
        }
        let mut start = self.offset(segment.seq);
        let skipped = start > self.snd_nxt && std::mem::take(&mut self.left_out);
        if skipped || (start - self.snd_nxt).abs() > ABSURD_JUMP {
            start = self.resynchronise(start);
        }
        let end = start + i64::from(segment.payload);
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(end + 1);
        }
        let probe = start < self.snd_una && segment.payload <= 1;
        let persist = segment.payload == 1 && self.room().is_some_and(|room| room <= 0);
        if probe || persist {
            self.count_id(segment);
            return Sending::Probe;
        }
        self.frames += 1;
        if !self.mss_negotiated {
            self.learn_mss(segment.payload);
        }
        let sending = if end <= self.snd_nxt { self.old(segment, start, end) } else { self.fresh(segment, start, end) };
        if !matches!(sending, Sending::Copy) {
            self.count_id(segment);
        }
        sending
    }

    /// Whoever pasted the capture left packets out here.
    pub fn left_out(&mut self) {
        self.left_out = true;
        self.distance.left_out();
    }

    /// Everything between here and `start` is unknown: begin anew there.
    fn resynchronise(&mut self, start: i64) -> i64 {
        self.never_seen += (start - self.snd_nxt).abs();
        self.snd_nxt = start;
        self.snd_una = start;
        self.sent.clear();
        self.segments_out = 0;
        self.short_out = 0;
        self.sacked = Ranges::default();
        self.unseen = Ranges::default();
        self.pending.clear();
        self.pending_sacks.clear();
        self.window = None;
        self.flight_unknown = true;
        start
    }

    fn learn_mss(&mut self, payload: u32) {
        // Without SYNs the largest frame that can be one segment on Ethernet is the best guess; TSO frames are larger.
        if payload > self.mss && payload <= 1460 {
            self.mss = payload;
        }
    }

    fn fresh(&mut self, segment: &Segment, start: i64, end: i64) -> Sending {
        let hole = (start - self.snd_nxt).max(0);
        if hole > 0 {
            self.unseen.insert(self.snd_nxt, start);
        }
        let bytes = (end - start.max(self.snd_nxt)) as u32;
        let segments = bytes.div_ceil(self.mss());
        let lost = self.missing_ids(segment);
        self.snd_nxt = end;
        self.bytes += u64::from(bytes);
        if self.sent.len() >= OUTSTANDING
            && let Some(oldest) = self.sent.pop_front()
        {
            self.segments_out = self.segments_out.saturating_sub(oldest.segments);
            self.short_out -= u32::from(oldest.short);
        }
        let short = !bytes.is_multiple_of(self.mss());
        self.sent.push_back(Sent { end, time: segment.time, segments, ip_id: segment.ip_id, short, again: false });
        self.segments_out += segments;
        self.short_out += u32::from(short);
        self.max_flight = self.max_flight.max(self.flight());
        Sending::New { bytes, segments, hole, lost }
    }

    fn old(&mut self, segment: &Segment, start: i64, end: i64) -> Sending {
        if self.unseen.touches(start, end) {
            let filled = self.unseen.remove(start, end);
            self.bytes += filled as u64;
            let retransmitted = self.sent_later(segment);
            if retransmitted {
                self.retransmitted += filled as u64;
            }
            return Sending::Late { retransmitted };
        }
        let index = self.sent.partition_point(|sent| sent.end < end);
        let reached = self.sent.partition_point(|sent| sent.end <= start);
        if let Some(sent) = self.sent.get(index)
            && sent.ip_id.is_some_and(|id| id != 0)
            && sent.ip_id == segment.ip_id
            && segment.time - sent.time < COPY_AGE
        {
            self.frames -= 1;
            return Sending::Copy;
        }
        for sent in self.sent.range_mut(reached..(index + 1).min(self.sent.len())) {
            sent.again = true;
        }
        self.retransmitted += u64::from(segment.payload);
        Sending::Again
    }

    /// True if the IP-ID counter shows that this packet was sent after the newest data seen.
    fn sent_later(&self, segment: &Segment) -> bool {
        match (segment.ip_id, self.last_id) {
            (Some(id), Some((last, _))) if self.ids_count() => (id.wrapping_sub(last) as i16) > 0,
            // Without a counter: what comes later than a reordering window of min RTT / 4 (RFC 8985 §6.2) was sent again.
            _ => {
                let window = self.peer_and_own_distance().scaled(0.25);
                self.sent.back().is_none_or(|sent| segment.time - sent.time > window)
            }
        }
    }

    fn peer_and_own_distance(&self) -> Nanos {
        self.distance.get().unwrap_or_default() + self.peer_distance.get().unwrap_or_default()
    }

    /// True if this sender's IP-ID field counts its packets one by one, as Linux's does for a connected socket.
    fn ids_count(&self) -> bool {
        self.id_steps.0 >= 4 && self.id_steps.0 >= 9 * self.id_steps.1
    }

    fn missing_ids(&self, segment: &Segment) -> u32 {
        match (segment.ip_id, self.last_id) {
            (Some(id), Some((last, step))) if self.ids_count() => {
                let ahead = u32::from(id.wrapping_sub(last));
                // A counter that ran far ahead was not counting for this connection alone.
                if ahead > step && ahead < step + 4096 { ahead - step } else { 0 }
            }
            _ => 0,
        }
    }

    /// Follows the IP-ID counter; a TSO frame uses one a segment.
    pub fn count_id(&mut self, segment: &Segment) {
        let Some(id) = segment.ip_id else { return };
        let step = segment.payload.div_ceil(self.mss()).max(1);
        if let Some((last, expected)) = self.last_id {
            if u32::from(id.wrapping_sub(last)) == expected {
                self.id_steps.0 += 1;
            } else {
                self.id_steps.1 += 1;
            }
            if (id.wrapping_sub(last) as i16) <= 0 {
                return;
            }
        }
        self.last_id = Some((id, step));
    }

    /// A segment of the peer passes the tap towards this sender.
    #[inline]
    pub fn acknowledged(&mut self, segment: &Segment) {
        // A RST announces no window that anybody will use.
        if !segment.flags.has(Flags::ACK) || segment.flags.has(Flags::RST) {
            return;
        }
        if self.base.is_none() {
            self.base = Some(SeqNo(segment.ack.0.wrapping_sub(1)));
            self.snd_nxt = 1;
            self.snd_una = 1;
        }
        let mut pending = PendingAck {
            time: segment.time,
            ack: self.offset(segment.ack),
            window: self.peer_scale.bytes(segment.window),
            packet: segment.packet,
            payload: segment.payload,
            sack_count: 0,
        };
        if segment.flags.has(Flags::SYN) {
            // RFC 7323 §2.2: the window in a SYN is never scaled.
            pending.window = Some(i64::from(segment.window));
        }
        for block in segment.sack_blocks() {
            self.pending_sacks.push_back((self.offset(block.left), self.offset(block.right)));
            pending.sack_count += 1;
        }
        self.pending.push_back(pending);
    }

    /// Applies the next ACK that reached the sender before `now`, if there is one.
    #[inline]
    pub fn next_acked(&mut self, now: Nanos) -> Option<Acked> {
        let distance = self.distance.get().unwrap_or_default();
        // Replies would sort after the data that they trigger without some slack for the clock's grain.
        let early = (distance.scaled(0.02) + Nanos::from_micros(20)).min(distance);
        let pending = *self.pending.front()?;
        if pending.time + distance - early > now && self.pending.len() < PENDING_ACKS {
            return None;
        }
        self.pending.pop_front();
        Some(self.apply(&pending, pending.time + distance))
    }

    fn apply(&mut self, ack: &PendingAck, time: Nanos) -> Acked {
        let (out_before, flight_before, room_before) = (self.flight_segments(), self.flight(), self.room());
        let advance = ack.ack - self.snd_una;
        let mut acked = Acked {
            time,
            packet: ack.packet,
            bytes: advance.max(0),
            segments: 0,
            out_before,
            flight_before,
            room_before,
            window_before: self.window,
            short_before: self.short_out > 0,
            loss_hint: false,
            payload: ack.payload,
        };
        if advance > ABSURD_JUMP {
            self.pending_sacks.drain(..self.pending_sacks.len().min(usize::from(ack.sack_count)));
            return acked;
        }
        if ack.ack > self.snd_nxt + 1 {
            // Acknowledged without being seen: the capture lost it. The one more is a FIN.
            self.never_seen += ack.ack - self.snd_nxt;
            self.snd_nxt = ack.ack;
        }
        if advance >= 0 {
            self.flight_unknown = false;
        }
        if advance > 0 {
            acked.segments = self.pop_acknowledged(ack.ack, ack.time, time);
            self.snd_una = ack.ack;
            self.sacked.forget_below(ack.ack);
            self.never_seen += self.unseen.forget_below(ack.ack);
        }
        for _ in 0..ack.sack_count {
            let Some((left, right)) = self.pending_sacks.pop_front() else { break };
            if left >= self.snd_una && right <= self.snd_nxt {
                let before = self.sacked.bytes();
                self.sacked.insert(left, right);
                acked.loss_hint |= self.sacked.bytes() > before;
            }
        }
        if advance >= 0 {
            if advance == 0 && ack.payload == 0 && ack.window == self.window && self.snd_nxt > self.snd_una {
                acked.loss_hint = true;
            }
            self.window = ack.window;
        }
        acked
    }

    /// Drops outstanding frames up to `ack`; gives the segments, and takes RTT samples (never of a retransmitted one: Karn).
    fn pop_acknowledged(&mut self, ack: i64, seen: Nanos, reached: Nanos) -> u32 {
        let mut segments = 0;
        let mut newest = None;
        while let Some(front) = self.sent.front_mut() {
            if front.end > ack {
                let mss = i64::from(if self.mss == 0 { USUAL_MSS } else { self.mss });
                let left = ((front.end - ack) + mss - 1) / mss;
                let part = front.segments.saturating_sub(left as u32);
                front.segments -= part;
                segments += part;
                break;
            }
            segments += front.segments;
            if !front.again {
                newest = Some(front.time);
            }
            self.short_out -= u32::from(front.short);
            self.sent.pop_front();
        }
        self.segments_out = self.segments_out.saturating_sub(segments);
        if let Some(sent) = newest {
            self.peer_distance.sample(seen - sent);
            self.smooth(reached - sent);
        }
        segments
    }

    fn smooth(&mut self, sample: Nanos) {
        // RFC 6298 §2: alpha = 1/8.
        self.srtt = Some(match self.srtt {
            None => sample,
            Some(srtt) => Nanos(srtt.0 + (sample.0 - srtt.0) / 8),
        });
    }
}
