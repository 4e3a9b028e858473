//! The gaps of one sender while its flow is open: each event is noted, the next new data freezes the gap.

mod freeze;

use super::evidence::{Burst, Gap};
use super::open::{Beginning, Left, Open, Train};
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
    /// Bytes of a hole just before that data.
    pub hole: i64,
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
    never_seen: i64,
    largest_window: i64,
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
            never_seen: 0,
            largest_window: 0,
            gaps: Vec::with_capacity(1),
            dropped: 0,
            fin: None,
            initial_flight: None,
            initial_open: true,
            heard: Nanos::ZERO,
            repairs: None,
            last_peer_payload: None,
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
            short: half.short_segment_out(),
            cwnd: cwnd.segments(),
            cwnd_known: cwnd.certain(),
            phase: cwnd.phase(),
            before_idle: cwnd.before_idle(),
            largest_window: self.largest_window,
            srtt: half.srtt,
        });
    }

    /// An ACK reached the sender; `half` is the state after it, `cwnd` the model before it. True if it showed that the
    /// repair of a loss was needless.
    #[inline]
    pub fn on_ack(&mut self, acked: &Acked, half: &Half, cwnd: &Cwnd) -> bool {
        let largest_window = self.largest_window;
        let open = &mut self.open;
        open.beginning.get_or_insert_with(|| Beginning {
            flight: acked.flight_before,
            segments: acked.out_before,
            room: acked.room_before,
            window: acked.window_before,
            short: acked.short_before,
            cwnd: cwnd.segments(),
            cwnd_known: cwnd.certain(),
            phase: cwnd.phase(),
            before_idle: cwnd.before_idle(),
            largest_window,
            srtt: half.srtt,
        });
        self.largest_window = self.largest_window.max(half.window.unwrap_or(0));
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
        if acked.bytes > 0 || acked.loss_hint {
            self.heard = acked.time;
        }
        if half.flight() == 0 && open.all_acked.is_none() {
            open.all_acked = Some(acked.time);
        }
        self.watch_window(acked, half);
        match &mut self.repairs {
            Some(repairs) => repairs.on_ack(acked, half, &mut self.gaps, &mut self.open.repair),
            None => false,
        }
    }

    /// RFC 9293 §3.8.6.1 and Linux tcp_send_probe0: closed at 0; below a segment with nothing in flight it is as good as closed.
    fn watch_window(&mut self, acked: &Acked, half: &Half) {
        let Some(window) = half.window else { return };
        let usable = i64::from(half.mss()).min(self.largest_window / 2);
        let closed = window == 0 || (window < usable && half.flight() == 0);
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
    pub fn on_probe(&mut self, half: &Half, cwnd: &Cwnd) {
        self.begin(half, cwnd);
        self.open.probes += 1;
    }

    /// A paste leaves packets out after `last`.
    pub fn on_left_out(&mut self, last: Nanos) {
        self.open.left_out = self.open.left_out.or(Some(last));
    }

    /// Hints of loss since the last new data.
    pub fn loss_hints(&self) -> u32 {
        self.open.loss_hints
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
    pub fn prepare(&mut self, now: Nanos, base_rtt: Option<Nanos>, half: &Half, cwnd: &Cwnd) {
        let least = LEAST_GAP.max(base_rtt.unwrap_or_default().scaled(RECORDED_SHARE));
        self.left = None;
        if now - self.burst.end > least || self.open.left_out.is_some() {
            self.begin(half, cwnd);
            self.left =
                Some(Left { flight: half.flight(), short: half.short_segment_out(), unknown: half.flight_unknown });
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
        cwnd.at_least(if cwnd.certain() { gap.segments_held } else { gap.segments_at_start });
        self.gaps.push(gap);
        self.never_seen = half.never_seen;
        left.flight == 0
    }

    /// New data starts a burst of its own.
    pub fn start_burst(&mut self, segment: &Segment) {
        self.burst = Burst { start: segment.time, end: segment.time, first_frame: segment.payload, ..Burst::default() };
    }

    /// New data goes into the current burst; `half` is the state after it.
    #[inline]
    pub fn extend(&mut self, segment: &Segment, bytes: u32, half: &Half) {
        self.sending = true;
        let burst = &mut self.burst;
        burst.end = segment.time;
        burst.bytes += u64::from(bytes);
        burst.frames += 1;
        burst.in_flight = half.flight() as u64;
        burst.last_frame = segment.payload;
        burst.last_packet = segment.packet;
        if self.initial_open {
            self.initial_flight = Some(self.initial_flight.unwrap_or(0) + u64::from(bytes));
        }
        // The window may have stayed closed over the new data only if it was a probe; a closed window ends with data.
        let closed = self.open.closed.filter(|_| self.open.reopened.is_none());
        if self.open.acks > 0
            || self.open.beginning.is_some()
            || self.open.peer_bytes > 0
            || self.open.left_out.is_some()
        {
            self.open = Open::default();
            self.train = None;
        }
        self.open.closed = closed;
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
