//! The gaps of one sender while its flow is open: each event is noted, the next new data freezes the gap.

mod freeze;

use super::bottleneck::Bottleneck;
use super::evidence::{Burst, Clump, Gap};
use super::open::{Beginning, Left, Open, Train};
use super::reading::Reading;
use super::repair::{Again, Attempt, Repairs, Totals};
use crate::flow::{Acked, Direction, Half};
use crate::sender::Cwnd;
use crate::sender::cwnd::Phase;
use crate::size::PacketNo;
use crate::time::Nanos;
use crate::wire::Segment;

/// Gaps kept for one sender; further ones only count.
pub const GAP_LIMIT: usize = 100_000;
/// Below this a pause is the noise of hosts, not a wait.
pub const LEAST_GAP: Nanos = Nanos::from_micros(250);
/// A network that reorders does so within this time, or within a quarter of the round trip (RFC 8985 §6.2) where that is less.
const REORDERING: Nanos = Nanos::from_millis(5);
/// A gap is recorded from this share of the round trip on, and reported from `gap::watch`'s larger share on,
/// because the smallest round trip is only known at the end.
const RECORDED_SHARE: f64 = 0.15;

/// How a gap ends.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// When.
    pub time: Nanos,
    /// New data followed, in this packet.
    pub next_packet: Option<PacketNo>,
    /// Packets lost before the tap just before that data.
    pub lost: u32,
    /// Offsets of the bytes missing before that data; empty where it follows on.
    pub hole: (i64, i64),
    /// The IP-IDs missing before that data.
    pub missing_ids: (u16, u16),
    /// The path as known now.
    pub base_rtt: Option<Nanos>,
}

/// Collects the gaps of one sender.
#[derive(Clone, Debug)]
pub struct Builder {
    sender: Direction,
    burst: Burst,
    sending: bool,
    open: Open,
    train: Option<Train>,
    left: Option<Left>,
    /// The bytes missing before the data that ended the last gap, as offsets.
    hole: Option<(i64, i64)>,
    /// The IP-IDs missing before that data: from the first on, below the second.
    missing_ids: (u16, u16),
    largest_window: i64,
    pub(super) reading: Reading,
    /// Time between two segments too short for a gap, while the peer's window was full.
    pub(super) full_for: Nanos,
    full: bool,
    /// Frozen gaps in order of time.
    pub gaps: Vec<Gap>,
    /// Gaps beyond the limit.
    pub dropped: u64,
    /// When the sender sent its FIN.
    pub fin: Option<Nanos>,
    /// First flight: bytes sent before any of them was acknowledged.
    pub initial_flight: Option<u64>,
    initial_open: bool,
    /// The last ACK of new data or report of a loss: what the sender's timers run from.
    heard: Nanos,
    repairs: Option<Box<Repairs>>,
    pub(super) last_peer_payload: Option<Nanos>,
    /// Watches for a queue on the path; most flows are too short to need one.
    pub(super) bottleneck: Option<Box<Bottleneck>>,
}

impl Builder {
    /// For the data of `sender`.
    pub fn new(sender: Direction) -> Builder {
        Builder {
            sender,
            burst: Burst::default(),
            sending: false,
            open: Open::default(),
            train: None,
            left: None,
            hole: None,
            missing_ids: (0, 0),
            largest_window: 0,
            reading: Reading::default(),
            full_for: Nanos::ZERO,
            full: false,
            gaps: Vec::with_capacity(1),
            dropped: 0,
            fin: None,
            initial_flight: None,
            initial_open: true,
            heard: Nanos::ZERO,
            repairs: None,
            last_peer_payload: None,
            bottleneck: None,
        }
    }

    /// True once the sender has sent data.
    pub fn sending(&self) -> bool {
        self.sending
    }

    /// When it last sent new data.
    pub fn last_data(&self) -> Nanos {
        self.burst.end
    }

    /// When it last sent data, new or again: Linux's lsndtime, from which an idle is counted.
    pub fn last_sent(&self) -> Nanos {
        self.open.last_retransmission.map_or(self.burst.end, |again| again.max(self.burst.end))
    }

    /// Before the first data: the wait for it starts here.
    pub fn first_wait_from(&mut self, start: Nanos) {
        self.burst.end = start;
    }

    fn begin(&mut self, half: &Half, cwnd: &Cwnd) {
        self.open.beginning.get_or_insert_with(|| Beginning {
            flight: half.flight(),
            segments: half.flight_segments(),
            room: half.room(),
            window: half.window,
            window_field: half.window_field,
            short: half.short_segment_out(),
            cwnd: cwnd.segments(),
            cwnd_known: cwnd.certain(),
            phase: cwnd.phase(),
            before_idle: cwnd.before_idle(),
            after_idle: cwnd.after_idle(),
            largest_window: self.largest_window,
            srtt: half.srtt,
        });
    }

    /// An ACK reached the sender; `half` is the state after it, `cwnd` the model before it. True if it showed that the
    /// repair of a loss was needless.
    #[inline]
    pub fn on_ack(&mut self, acked: &Acked, half: &Half, cwnd: &Cwnd) -> bool {
        self.heard_late(acked);
        let largest_window = self.largest_window;
        let open = &mut self.open;
        open.beginning.get_or_insert_with(|| Beginning {
            flight: acked.flight_before,
            segments: acked.out_before,
            room: acked.room_before,
            window: acked.window_before,
            window_field: acked.field_before,
            short: acked.short_before,
            cwnd: cwnd.segments(),
            cwnd_known: cwnd.certain(),
            phase: cwnd.phase(),
            before_idle: cwnd.before_idle(),
            after_idle: cwnd.after_idle(),
            largest_window,
            srtt: half.srtt,
        });
        self.largest_window = self.largest_window.max(half.window.unwrap_or(0));
        if acked.unseen_inside > 0
            && let Some(hole) = self.hole.take_if(|hole| hole.1 <= half.snd_una)
            && let Some(gap) = self.gaps.last_mut()
        {
            // Nobody sent them again: the capture lost them, not the network.
            gap.lost_before_tap = 0;
            gap.unseen.before_next = hole.1 > hole.0;
        }
        if acked.bytes > 0 {
            self.initial_open &= acked.bytes <= 0;
        }
        let opened = match (acked.room_before, half.room()) {
            (Some(before), Some(now)) => now > before,
            _ => false,
        };
        if acked.bytes > 0 || opened {
            open.acks += u32::from(acked.bytes > 0);
            open.acked += acked.bytes;
            if acked.bytes > 0 {
                open.answer.hears(acked, self.heard.max(self.burst.start));
            }
            open.last_ack = Some(acked.time);
            open.last_ack_packet = Some(acked.packet);
            match &mut self.train {
                Some(train) if acked.time - train.last <= train_gap(half.srtt) => train.last = acked.time,
                train => {
                    *train = Some(Train {
                        last: acked.time,
                        first_packet: acked.packet,
                        segments: acked.out_before,
                        room: acked.room_before,
                    });
                }
            }
        }
        open.loss_hints += u32::from(acked.loss_hint);
        open.shut.heard();
        self.reading.on_ack(acked.time, half.snd_una, acked.bytes, (acked.window_before, half.window), half.mss());
        open.unseen.inside += acked.unseen_inside;
        open.unseen.blind |= acked.blind;
        if acked.unseen_tail > 0 {
            open.unseen.tail += acked.unseen_tail;
            open.unseen.tail_acked = open.unseen.tail_acked.or(Some(acked.time));
        }
        if acked.bytes > 0 || acked.loss_hint {
            self.heard = acked.time;
        }
        if half.flight() == 0 && open.all_acked.is_none() {
            open.all_acked = Some(acked.time);
        }
        self.watch_window(acked, half);
        match &mut self.bottleneck {
            Some(bottleneck) => bottleneck.on_ack(acked, half),
            None if Bottleneck::is_due(acked, half) => self.bottleneck = Some(Box::new(Bottleneck::new(acked, half))),
            None => {}
        }
        match &mut self.repairs {
            Some(repairs) => repairs.on_ack(acked, half, &mut self.gaps, &mut self.open.repair),
            None => false,
        }
    }

    /// RFC 9293 §3.8.6.1 and Linux tcp_send_probe0: closed at 0; below a segment with nothing in flight it is as good as closed.
    fn watch_window(&mut self, acked: &Acked, half: &Half) {
        let usable = i64::from(half.mss()).min(self.largest_window / 2);
        // A window of unknown scale is at least open: only 0 is 0 at every shift (RFC 7323 §2.2).
        let closed = half.window.is_some_and(|window| window == 0 || (window < usable && half.flight() == 0));
        if let Some(window) = half.window.filter(|_| closed) {
            self.open.shut.at(window);
        }
        match (closed, self.open.closed) {
            (true, None) => self.open.closed = Some(acked.time),
            (true, Some(_)) => self.open.reopened = None,
            (false, Some(_)) if self.open.reopened.is_none() => self.open.reopened = Some(acked.time),
            _ => {}
        }
    }

    /// The peer sent payload.
    pub fn on_peer_data(&mut self, segment: &Segment) {
        self.last_peer_payload = Some(segment.time);
        let open = &mut self.open;
        open.peer_bytes += u64::from(segment.payload);
        open.peer_first = open.peer_first.or(Some(segment.time));
        open.peer_last = Some(segment.time);
        open.peer_packet = Some(segment.packet);
    }

    /// The sender sent old data again; gives the attempt where this begins one.
    pub fn on_retransmission(&mut self, segment: &Segment, half: &Half, cwnd: &Cwnd) -> Option<Attempt> {
        self.begin(half, cwnd);
        let time = segment.time;
        let start = half.offset(segment.seq);
        // What the tap saw acknowledged is sent again: those ACKs were lost behind the tap.
        let unheard = start < half.snd_una;
        if unheard && let Some(gap) = self.gaps.last_mut() {
            gap.acks_lost |= (gap.left_edge - gap.acked..gap.left_edge).contains(&start);
        }
        let again = Again {
            segment,
            half,
            heard: if unheard { self.burst.end } else { self.heard },
            hinted: self.open.loss_hints > 0 || half.has_holes(),
            recovering: cwnd.phase() == Phase::Recovery,
            gap: self.gaps.len(),
        };
        let attempt = self.repairs.get_or_insert_default().sends(&again, &mut self.open.repair);
        self.open.retransmissions += 1;
        self.open.first_retransmission = self.open.first_retransmission.or(Some(time));
        self.open.last_retransmission = Some(time);
        attempt
    }

    /// The sender probed the window or the peer's life.
    pub fn on_probe(&mut self, payload: u32, half: &Half, cwnd: &Cwnd) {
        self.begin(half, cwnd);
        self.open.probes += 1;
        self.open.shut.probed(payload);
    }

    /// Bytes `[start, end)` that had been missing came late: the network had reordered them (`lost` is false), or lost them.
    pub fn on_late(&mut self, start: i64, end: i64, lost: bool) {
        if !lost {
            self.burst.bytes += (end - start) as u64;
            self.burst.clump.bytes += (end - start) as u64;
        }
        if self.hole.is_some_and(|hole| start < hole.1 && end > hole.0) {
            self.hole = None;
            if !lost && let Some(gap) = self.gaps.last_mut() {
                gap.lost_before_tap = 0;
            }
        }
    }

    /// The packet with this IP-ID came after one sent later: if it seemed lost before the last gap's end, it was only late.
    pub fn on_overtaken(&mut self, now: Nanos, id: u16) {
        let (from, to) = self.missing_ids;
        let was_missing = id.wrapping_sub(from) < to.wrapping_sub(from);
        if let Some(gap) = self.gaps.last_mut().filter(|gap| was_missing && now - gap.end < REORDERING) {
            gap.lost_before_tap = gap.lost_before_tap.saturating_sub(1);
        }
    }

    /// An ACK stored after the data that it released belongs into the gap that this data ended.
    fn heard_late(&mut self, acked: &Acked) {
        let first = self.open.acks == 0 && acked.bytes > 0;
        let last = self.gaps.last_mut().filter(|gap| first && gap.unseen.heard && acked.time - gap.end < REORDERING);
        if let Some(gap) = last {
            gap.unseen.heard = false;
            gap.acks += 1;
            gap.acked += acked.bytes;
            gap.last_ack = Some(gap.end);
            gap.last_ack_packet = Some(acked.packet);
            gap.left_in_flight = (gap.left_in_flight - acked.bytes).max(0);
            gap.short_segment_left &= gap.left_in_flight > 0;
            gap.all_acked = gap.all_acked.or((gap.left_in_flight == 0).then_some(gap.end));
        }
    }

    /// A paste leaves packets out after `last`.
    pub fn on_left_out(&mut self, last: Nanos) {
        self.open.left_out = self.open.left_out.or(Some(last));
    }

    /// Hints of loss since the last new data.
    pub fn loss_hints(&self) -> u32 {
        self.open.loss_hints
    }

    /// Retransmissions since the last new data.
    pub fn retransmissions(&self) -> u32 {
        self.open.retransmissions
    }

    /// The peer's window was closed since the last new data, or something was sent again: the silence was TCP's.
    pub fn held_up(&self) -> bool {
        self.open.closed.is_some() || self.open.retransmissions > 0
    }

    /// When the sender last heard or said anything new.
    pub fn last_progress(&self) -> Nanos {
        self.heard.max(self.last_sent())
    }

    /// True if old data was sent again after `time`.
    pub fn repairs_after(&self, time: Nanos) -> bool {
        self.open.last_retransmission.is_some_and(|again| again > time)
    }

    /// The last ACK of new data or report of a loss.
    #[inline]
    pub fn heard(&self) -> Nanos {
        self.heard
    }

    /// All repairs of this direction.
    pub fn repairs(&self) -> Totals {
        self.repairs.as_ref().map_or_else(Totals::default, |repairs| repairs.totals)
    }

    /// A data segment of the sender is about to be taken in, after the ACKs before it: if it ends a gap, what was left
    /// in flight is noted.
    #[inline]
    pub fn prepare(&mut self, now: Nanos, base_rtt: Option<Nanos>, half: &Half, cwnd: &Cwnd, heard_unseen: bool) {
        let least = LEAST_GAP.max(base_rtt.unwrap_or_default().scaled(RECORDED_SHARE));
        self.left = None;
        if now - self.burst.end > least || self.open.left_out.is_some() {
            self.begin(half, cwnd);
            self.left = Some(Left {
                flight: half.flight(),
                short: half.short_segment_out(),
                unknown: half.flight_unknown,
                heard_unseen,
            });
        } else if self.full {
            self.full_for += (now - self.burst.end).or_zero();
        }
    }

    /// True if the segment that was prepared for ends a gap.
    pub fn is_prepared(&self) -> bool {
        self.left.is_some()
    }

    /// Freezes the gap that ends now; true if nothing was left in flight.
    pub fn close(&mut self, ending: &Ending, half: &Half, cwnd: &mut Cwnd) -> bool {
        let left = self.left.take().unwrap_or_default();
        if self.gaps.len() >= GAP_LIMIT {
            self.dropped += 1;
            return left.flight == 0;
        }
        let gap = self.freeze(ending, half, cwnd, left);
        // In recovery more may be out than the window will be: it comes down a segment at a time (RFC 6937).
        if !gap.recovering {
            cwnd.at_least(if cwnd.certain() { gap.segments_held } else { gap.segments_at_start });
        }
        self.gaps.push(gap);
        self.missing_ids = ending.missing_ids;
        self.hole = (ending.hole.1 > ending.hole.0).then_some(ending.hole);
        left.flight == 0
    }

    /// New data starts a burst of its own.
    pub fn start_burst(&mut self, segment: &Segment) {
        let clump = Clump { start: segment.time, count: 1, ..Clump::default() };
        self.burst =
            Burst { start: segment.time, end: segment.time, first_frame: segment.payload, clump, ..Burst::default() };
    }

    /// New data goes into the current burst; `half` is the state after it.
    #[inline]
    pub fn extend(&mut self, segment: &Segment, bytes: u32, half: &Half) {
        self.sending = true;
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.on_data(segment.time);
        }
        let burst = &mut self.burst;
        let pause = segment.time - burst.end;
        if pause > LEAST_GAP {
            let clump = &mut burst.clump;
            let longest_pause = clump.longest_pause.max(pause);
            *clump = Clump { start: segment.time, bytes: 0, count: clump.count + 1, longest_pause, ..*clump };
        }
        burst.clump.bytes += u64::from(bytes);
        burst.clump.first_bytes += if burst.clump.count == 1 { u64::from(bytes) } else { 0 };
        burst.acks += self.open.acks;
        burst.end = segment.time;
        burst.bytes += u64::from(bytes);
        burst.frames += 1;
        burst.in_flight = half.flight() as u64;
        burst.last_frame = segment.payload;
        burst.last_packet = segment.packet;
        self.full = half.room().is_some_and(|room| room < i64::from(half.mss()));
        if self.initial_open {
            self.initial_flight = Some(self.initial_flight.unwrap_or(0) + u64::from(bytes));
        }
        // The window may have stayed closed over the new data only if it was a probe; a closed window ends with data.
        let (closed, shut) = (self.open.closed.filter(|_| self.open.reopened.is_none()), self.open.shut.window);
        if self.open.acks > 0
            || self.open.beginning.is_some()
            || self.open.peer_bytes > 0
            || self.open.left_out.is_some()
        {
            self.open = Open::default();
            self.reading.next_gap();
            self.train = None;
        }
        self.open.closed = closed;
        self.open.shut.window = shut.filter(|_| closed.is_some());
    }

    /// A gap turned out too short for one: if the window was full in it, that still counts.
    pub(super) fn count_full(&mut self, gap: &Gap) {
        if gap.room_at_start.is_some_and(|room| room < i64::from(gap.mss)) {
            self.full_for += gap.duration();
        }
    }

    /// The burst that is still open.
    pub fn current_burst(&self) -> Burst {
        self.burst
    }
}

/// ACKs closer together than this are one train: 2 % of a round trip, within what hosts and pipes smear.
fn train_gap(srtt: Option<Nanos>) -> Nanos {
    let share = srtt.unwrap_or_default().scaled(0.02);
    share.max(Nanos::from_micros(50)).min(Nanos::from_millis(1))
}
