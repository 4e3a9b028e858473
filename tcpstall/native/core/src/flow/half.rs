//! One direction of data: sent and acknowledged bytes, in the sender's own order of events.

mod acks;
mod calm;
mod copies;
mod earlier;
mod in_order;
mod measured;
mod memory;
mod mss;
pub mod outstanding;
mod part;
pub(super) mod pending;
mod queue;
pub mod ranges;
pub mod reordering;
pub mod round_trips;
mod seen;
pub(super) mod short;
mod steady;
pub mod window;

use std::collections::VecDeque;

pub use self::calm::CalmAck;
use self::outstanding::Outstanding;
use self::pending::PendingAck;
use self::ranges::Ranges;
use self::reordering::Reordering;
use self::round_trips::RoundTrips;
use self::short::Short;
pub use self::steady::{SteadyAck, SteadyHalf};
use self::window::{Scale, Unscaled};
use super::events::Sending;
use super::tap::ack_clock::AckClock;
use super::tap::ack_round::AckRound;
use super::tap::disorder::{Ahead, Disorder};
use super::tap::ip_id::IpId;
use super::tap::shortest::Shortest;
use super::tap::vantage::Vantage;
use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::traits::FullSegment;
use crate::wire::{Flags, Segment};

/// Smallest jump in sequence space that no window allows (RFC 7323 §2.3 limits a window to 1 GiB).
const ABSURD_JUMP: i64 = 1 << 30;
/// Segment size until a SYN or a full segment shows another (Ethernet with timestamps).
const USUAL_MSS: u32 = 1448;
/// Earliest retransmission by a timer: Linux's TCP_RTO_MIN = HZ/5 (a tail-loss probe sends the last segment, which
/// nothing has overtaken).
const SOONEST_TIMER: Nanos = Nanos::from_millis(200);
/// Segments of a first window: RFC 6928 §2.
const FIRST_WINDOW: u32 = 10;

/// State of one direction. Positions are 64-bit offsets from the ISN.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Half {
    /// Sequence number of offset 0; `None` before anything was seen.
    base: Option<SeqNo>,
    /// True if `base` is the ISN of a captured SYN.
    pub syn_seen: bool,
    /// The scale of the *peer's* window for this sender's data.
    pub peer_scale: Scale,
    /// Highest offset sent.
    pub snd_nxt: i64,
    /// Highest offset acknowledged, as the sender knows it.
    pub snd_una: i64,
    /// Infers a scale of 0 where no SYN shows the scale.
    unscaled: Unscaled,
    /// The peer's window field as sent, after the last ACK that reached the sender.
    pub window_field: u16,
    /// The peer's window after the last ACK that reached the sender.
    pub window: Option<i64>,
    /// MSS option of the peer's SYN less options, or the largest plausible segment seen.
    mss: u32,
    mss_negotiated: bool,
    /// A TSO frame of whole segments was seen, so the MSS is not just the size of the application's writes.
    whole_frame_seen: bool,
    mss_options: u32,
    full_segment: FullSegment,
    outstanding: Outstanding,
    sacked: Ranges,
    unseen: Ranges,
    pub(super) pending: VecDeque<PendingAck>,
    pending_sacks: VecDeque<(i64, i64)>,
    /// Time when the newest acknowledgement passed the tap.
    ack_passed: Nanos,
    /// The capture holds an ACK of its data without payload.
    pub bare_ack: bool,
    /// Bytes acknowledged recently before the tap saw them.
    ahead: Option<Box<Ahead>>,
    /// Round trip from the tap to this sender and back.
    pub vantage: Vantage,
    /// Rounds of a sender whose distance no packet has proven.
    pub(super) clock: Option<Box<AckClock>>,
    /// The last round that ended sooner than the distance allows.
    pub(super) round: Option<Box<AckRound>>,
    /// Round trip from the tap to the peer and back, by this sender's data.
    pub peer_distance: Shortest,
    /// Smoothed round trip of the sender (RFC 6298 §2), `None` before the first sample.
    pub srtt: Option<Nanos>,
    /// The newest round trip measured by an ACK, and the time when that ACK passed the tap.
    pub newest_rtt: Option<(Nanos, Nanos)>,
    /// All round trips measured by ACKs.
    pub round_trips: RoundTrips,
    /// Smallest round trip that an ACK of data measured.
    pub least_rtt: Option<Nanos>,
    /// Payload bytes, each counted once.
    pub bytes: u64,
    /// Frames with payload.
    pub frames: u64,
    /// Frames larger than a segment: the host's offloading had not split them yet (TSO), or had merged them (GRO).
    pub offloaded: u64,
    /// Retransmitted payload bytes.
    pub retransmitted: u64,
    /// Copies of the sender's packets that the capture or the network made.
    pub copies: u64,
    /// Most bytes in flight.
    pub max_flight: i64,
    /// Acknowledged bytes that this tap never saw.
    pub never_seen: i64,
    /// Frames in flight that were forgotten because memory was short.
    pub forgotten: u64,
    /// Memory is short: ACKs that wait for the sender are applied sooner.
    tight: bool,
    /// Offset that the sender closed with FIN.
    pub fin: Option<i64>,
    /// Packets were left out, and no ACK since has shown the data still outstanding.
    pub flight_unknown: bool,
    left_out: bool,
    /// Duplicate ACKs or SACK blocks came since the left edge last moved.
    hinted: bool,
    /// Duplicate ACKs without SACK since the left edge last moved.
    duplicates: u32,
    /// The last round trip was close to the smallest.
    steady: bool,
    /// Time of the last retransmission.
    last_again: Nanos,
    /// Time of the last segment that the sender sent again, whether its first copy had passed the tap or not.
    pub(super) last_repair: Nanos,
    /// End of a probe of one byte beyond a closed window; the peer may accept it (RFC 9293 §3.8.6.1).
    probed: Option<i64>,
    /// Segments that arrived out of order.
    pub reordering: Reordering,
    /// Packets that the capture itself holds out of order.
    pub disorder: Disorder,
    /// Both SYNs allowed SACK, without which Linux sends no tail-loss probe.
    pub sack_permitted: bool,
    /// The sender's IP-ID field.
    pub ip_id: IpId,
    /// All data is acknowledged, and a repetition of the last ACK would change nothing.
    settled: bool,
    /// Silences in a row that this sender ended sooner after an ACK than the tap's distance allows.
    pub(super) sooner: u8,
}

impl Half {
    /// Takes in the ISN of this sender's SYN or SYN-ACK.
    pub fn start(&mut self, isn: SeqNo) {
        (self.base, self.syn_seen) = (Some(isn), true);
        (self.snd_nxt, self.snd_una) = (1, 1);
    }

    /// True once a segment of this direction has been seen.
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

    /// Bytes known to have arrived, counted from the ISN: acknowledged or SACKed.
    #[inline]
    pub fn delivered(&self) -> i64 {
        if self.sacked.is_empty() { self.snd_una } else { self.snd_una + self.sacked.bytes() }
    }

    /// Highest offset acknowledged by any segment that has passed the tap, whether it has reached the sender or not.
    pub fn acked_at_tap(&self) -> i64 {
        self.pending.back().map_or(self.snd_una, |pending| pending.ack.max(self.snd_una))
    }

    /// True if all of the segment was acknowledged before it passed the tap.
    #[inline]
    pub fn is_acked_at_tap(&self, segment: &Segment) -> bool {
        let end = || self.offset(segment.seq) + i64::from(segment.payload);
        segment.payload > 0 && end() <= self.snd_nxt.min(self.acked_at_tap())
    }

    /// Segments in flight.
    #[inline]
    pub fn flight_segments(&self) -> u32 {
        if self.sacked.is_empty() {
            return self.outstanding.segments();
        }
        let sacked = (self.sacked.bytes() / i64::from(self.mss())) as u32;
        self.outstanding.segments().saturating_sub(sacked)
    }

    /// Remaining room in the peer's window; `None` where the window is unknown.
    #[inline]
    pub fn room(&self) -> Option<i64> {
        self.window.map(|window| self.snd_una + window - self.snd_nxt)
    }

    /// Time when the oldest outstanding frame was first sent.
    pub fn head_sent(&self) -> Option<Nanos> {
        self.outstanding.oldest()
    }

    /// Time when the segment `[start, end)` was first sent, and the bytes in flight then; `None` where the tap did not see
    /// the frames around it.
    pub fn first_sent(&self, start: i64, end: i64) -> Option<(Nanos, i64)> {
        self.outstanding.first_sent(start, end)
    }

    /// Measures the tap's distance to this sender of the segment, and the start of its way to the `peer`: if longer round
    /// trips are waiting to be believed, the peer's next one counts, however normal it is.
    #[inline(always)]
    pub(super) fn measures_distance(&mut self, peer: &mut Half, segment: &Segment) {
        peer.vantage.towards(segment);
        self.vantage.from_end(segment);
        if self.vantage.min_rtt.is_rising() {
            peer.steady = false;
        }
    }

    /// True while SACK blocks or unfilled holes show data missing at the receiver.
    pub fn has_holes(&self) -> bool {
        !self.sacked.is_empty()
    }

    /// Shorter segments than a full one among those outstanding.
    pub fn short_segment_out(&self) -> Short {
        self.outstanding.short()
    }

    /// Takes in a data segment, probe or FIN of this sender, on its way to `peer`.
    pub fn sees(&mut self, segment: &Segment, peer: &Half) -> Sending {
        // Whatever ends a write has PSH: the lone byte without it that a flow begins with here was sent before, and keeps
        // an idle connection alive (RFC 1122 §4.2.3.6).
        let lone = segment.payload == 1 && segment.flags.0 & (Flags::PSH.0 | Flags::FIN.0) == 0;
        self.begins(segment.seq.plus(u32::from(lone)));
        self.settled = false;
        let mut start = self.offset(segment.seq);
        let skipped = start > self.snd_nxt && std::mem::take(&mut self.left_out);
        if skipped || (start - self.snd_nxt).abs() > ABSURD_JUMP {
            start = self.resynchronise(start);
        }
        let end = start + i64::from(segment.payload);
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(end + 1);
        }
        let probe = start == self.snd_una - 1 && segment.payload <= 1;
        let persist = segment.payload == 1 && self.room().is_some_and(|room| room <= 0);
        if probe || persist || lone && self.repeats_last_byte(start) {
            self.probed = Some(end).filter(|_| start == self.snd_nxt);
            self.ip_id.follow(segment, self.mss());
            return Sending::Probe;
        }
        self.count(segment);
        let sending = if end <= self.snd_nxt {
            self.old(segment, (start, end), peer)
        } else {
            self.fresh(segment, (start, end), peer)
        };
        match sending {
            Sending::Copy => {}
            _ if self.repeats_its_id(segment, sending) => self.ip_id.passes_again(),
            _ => self.ip_id.follow(segment, self.mss()),
        }
        sending
    }

    /// The byte at `start` is the last one of longer data, or stands for a FIN: it keeps an idle connection alive, and the capture lacks
    /// the ACKs. A timer sends the earliest segment again, and all of it (RFC 6298 §5.4).
    fn repeats_last_byte(&self, start: i64) -> bool {
        start == self.snd_nxt - 1 && self.outstanding.newest_bytes(self.snd_una) > 1 || self.fin == Some(start + 1)
    }

    /// Time before `now` at which data passed that was sent after the byte at offset `start`.
    pub fn overtaken_for(&self, start: i64, now: Nanos) -> Option<Nanos> {
        self.outstanding.sent_after(start).map(|overtaker| now - overtaker)
    }

    /// Takes in that the author of a paste left packets out here.
    pub fn left_out(&mut self) {
        self.left_out = true;
        self.settled = false;
        self.vantage.left_out();
    }

    /// Restarts at `start`, because everything before it is unknown.
    fn resynchronise(&mut self, start: i64) -> i64 {
        self.never_seen += (start - self.snd_nxt).abs();
        self.snd_nxt = start;
        self.snd_una = start;
        self.outstanding = Outstanding::default();
        self.sacked = Ranges::default();
        self.unseen = Ranges::default();
        self.pending.clear();
        self.pending_sacks.clear();
        self.window = None;
        self.flight_unknown = true;
        start
    }

    fn fresh(&mut self, segment: &Segment, (start, end): (i64, i64), peer: &Half) -> Sending {
        if self.begins_in_mid_life(peer) {
            self.left_earlier(segment, start, peer);
        }
        let hole = (start - self.snd_nxt).max(0);
        if hole > 0 {
            self.unseen.insert(self.snd_nxt, start);
        }
        if start < self.snd_nxt {
            // The segment boundaries differ: overlapping bytes were retransmitted, except those that had not passed
            // here yet.
            let filled = self.unseen.remove(start, self.snd_nxt);
            self.bytes += filled as u64;
            self.retransmitted += (self.snd_nxt - start - filled) as u64;
        }
        let bytes = (end - start.max(self.snd_nxt)) as u32;
        let mut lost = self.ip_id.missing_before(segment);
        let whole = self.unseen.is_empty() && self.sacked.is_empty();
        if lost > 0 && whole && (self.is_burst(segment) || self.is_beyond_timeouts(segment, lost)) {
            self.ip_id.jumped();
            lost = 0;
        }
        self.push(segment, end, bytes, self.mss(), (hole, lost))
    }

    /// True if the newest frame passed less than a round trip before: too soon for a repair between the two.
    fn is_burst(&self, segment: &Segment) -> bool {
        let rtt = self.srtt.unwrap_or_default().scaled(0.5);
        self.outstanding.newest().is_some_and(|newest| segment.time - newest < rtt)
    }

    /// More packets are missing before a short segment than a first window and the repetitions of a timer, each of whose
    /// waits is twice as long as the one before (RFC 6928 §2, RFC 6298 §5.5).
    fn is_beyond_timeouts(&self, segment: &Segment, lost: u32) -> bool {
        let attempts = (self.ip_id.silence(segment).0 / SOONEST_TIMER.0 + 1).ilog2();
        segment.payload < self.mss() && lost > FIRST_WINDOW + attempts
    }

    fn old(&mut self, segment: &Segment, (start, end): (i64, i64), peer: &Half) -> Sending {
        if let Some(ahead) = &mut self.ahead
            && ahead.passed((start, end), segment.time).is_some()
        {
            let bytes = ahead.take(start, end);
            self.never_seen -= bytes;
            self.bytes += bytes as u64;
            return Sending::Late { retransmitted: false };
        }
        if self.unseen.touches(start, end) {
            let filled = self.unseen.remove(start, end);
            self.bytes += filled as u64;
            self.outstanding.remember(segment, end);
            let retransmitted = self.sent_later(segment, peer);
            self.outstanding.fills(start, segment.payload, self.mss());
            if retransmitted {
                self.retransmitted += filled as u64;
                self.last_repair = segment.time;
            } else {
                let late = self.outstanding.sent_after(start).map(|overtaker| segment.time - overtaker);
                self.reordering.record(self.snd_nxt - end, late);
                _ = self.disorder.record(late.unwrap_or_default());
            }
            return Sending::Late { retransmitted };
        }
        if self.is_copy(segment, start, end) {
            self.frames -= 1;
            self.copies += 1;
            // Copies on the same path are this late at times; the delay of another path is not a disorder of the
            // capture.
            if !self.ip_id.comes_elsewhere(segment) {
                _ = self.disorder.record(self.outstanding.copied(segment, end).unwrap_or_default());
            }
            return Sending::Copy;
        }
        self.outstanding.remember(segment, end);
        self.retransmitted += u64::from(segment.payload);
        (self.last_again, self.last_repair) = (segment.time, segment.time);
        Sending::Again
    }
}
