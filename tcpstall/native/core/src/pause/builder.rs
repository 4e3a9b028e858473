//! Builds the pauses of one sender while its flow is open: each event is noted, the next new data freezes the pause.

mod acks;
mod burst;
mod calm;
mod freeze;
mod late;
mod part;
mod resent;
mod steady;
pub mod under_way;
mod unheard;

pub use self::steady::PutOff;
use self::under_way::UnderWay;
pub use self::unheard::Unheard;
use super::LEAST_PAUSE;
use super::bottleneck::Bottleneck;
use super::burst::Burst;
use super::evidence::Facts;
use super::hole::Holes;
use super::kept::KeptPauses;
use super::losses::Losses;
use super::open::{Beginning, Left, Open, Train};
use super::reading::Reading;
use super::repairs::Repairs;
use crate::flow::{End, Half, tap::ack_round::AckRound};
use crate::packet_no::PacketNo;
use crate::sender::{Cwnd, timers};
use crate::time::Nanos;
use crate::wire::Segment;

/// Pauses kept of one flow, a kilobyte each; further pauses are only counted.
pub const PAUSE_LIMIT: usize = 1 << 16;
/// Share of the round trip from which a pause is recorded. `pause::watch` reports pauses from a larger share on, because the
/// smallest round trip is known only at the end.
const RECORDED_SHARE: f64 = 0.15;

/// ACKs from which a flight was acknowledged one by one, so that the sender sent in between.
const TRAIN: u32 = 3;

/// Away from the sender, a train of ACKs lets more go than was in flight: the congestion window was full, and the peer's has room.
fn flight_grows(pause: &Facts, window: Option<i64>) -> bool {
    let full = pause.acks >= TRAIN && pause.segments_held >= pause.cwnd;
    let more = pause.flight_at_start + 2 * i64::from(pause.mss);
    full && window.is_none_or(|window| window >= more) && !pause.near_sender() && pause.released_by_ack()
}

/// A sender's silence, and its retransmission timeout.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Idle {
    /// Time in which the sender sent nothing.
    pub idle: Nanos,
    /// Retransmission timeout of the sender.
    pub rto: Nanos,
}

/// The end of a pause.
#[derive(Clone, Copy, Debug)]
pub struct PauseEnd {
    /// Time of the end.
    pub time: Nanos,
    /// Packet of the new data that followed, if any followed.
    pub next_packet: Option<PacketNo>,
    /// TSecr of that data.
    pub echo: Option<u32>,
    /// Packets lost before the tap just before that data.
    pub lost: u32,
    /// Offsets of the bytes missing before that data; empty where the data follows on.
    pub hole: (i64, i64),
    /// The IP-IDs missing before that data.
    pub missing_ids: (u16, u16),
    /// Base round trip as known now.
    pub base_rtt: Option<Nanos>,
}

/// Collects the pauses of one sender.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Builder {
    sender: End,
    pub(super) burst: Burst,
    sending: bool,
    pub(super) open: Open,
    train: Option<Train>,
    pub(super) left: Option<Left>,
    /// Offsets of the bytes missing before the data that ended the last pause.
    hole: Option<(i64, i64)>,
    /// The IP-IDs missing before that data: from the first, below the second.
    missing_ids: (u16, u16),
    /// The idle time before that data, if the missing packets made it look like a timeout.
    pub(super) taken_for_timeout: Option<Idle>,
    largest_window: i64,
    pub(super) reading: Reading,
    /// Time between two segments too close for a pause, while the peer's window was full.
    pub(super) full_for: Nanos,
    full: bool,
    /// Memory for the bursts between them, which are listed when the flow is over.
    #[serde(skip)]
    pub(super) bursts: Vec<Burst>,
    /// Frozen pauses in order of time.
    pub(super) pauses: KeptPauses,
    /// Pauses that may still be kept.
    pub(super) pause_room: usize,
    /// Pauses dropped beyond the limit.
    pub dropped: u64,
    /// Start of the first dropped pause.
    pub(super) untold_from: Option<Nanos>,
    /// Time of the sender's FIN or RST.
    pub fin: Option<Nanos>,
    /// First flight: bytes sent before any of them was acknowledged.
    pub initial_flight: Option<u64>,
    initial_open: bool,
    /// The last ACK of new data or report of a loss: the sender's timers run from it.
    heard: Nanos,
    under_way: UnderWay,
    repairs: Option<Box<Repairs>>,
    losses: Option<Box<Losses>>,
    holes: Holes,
    pub(super) last_peer_payload: Option<Nanos>,
    /// Watches for a queue on the path; most flows are too short to need one.
    pub(super) bottleneck: Option<Box<Bottleneck>>,
}

impl Builder {
    /// Builds the pauses in the data of `sender`.
    pub fn new(sender: End) -> Builder {
        Builder {
            sender,
            burst: Burst::default(),
            sending: false,
            open: Open::default(),
            train: None,
            left: None,
            hole: None,
            missing_ids: (0, 0),
            taken_for_timeout: None,
            largest_window: 0,
            reading: Reading::default(),
            full_for: Nanos::ZERO,
            full: false,
            bursts: Vec::new(),
            pauses: KeptPauses::default(),
            pause_room: PAUSE_LIMIT,
            dropped: 0,
            untold_from: None,
            fin: None,
            initial_flight: None,
            initial_open: true,
            heard: Nanos::ZERO,
            under_way: UnderWay::default(),
            repairs: None,
            losses: None,
            holes: Holes::default(),
            last_peer_payload: None,
            bottleneck: None,
        }
    }

    /// Becomes the builder of another flow's sender, as [`Builder::new`] does, in the memory of this one.
    pub(super) fn renew(&mut self) {
        // Every field is named, so that none is forgotten; nothing of this size is moved.
        let Builder {
            sender: _,
            burst,
            sending,
            open,
            train,
            left,
            hole,
            missing_ids,
            taken_for_timeout,
            largest_window,
            reading,
            full_for,
            full,
            bursts: _,
            pauses: _,
            pause_room,
            dropped,
            untold_from,
            fin,
            initial_flight,
            initial_open,
            heard,
            under_way,
            repairs,
            losses,
            holes,
            last_peer_payload,
            bottleneck,
        } = self;
        (*burst, *open, *reading, *holes) = (Burst::default(), Open::default(), Reading::default(), Holes::default());
        (*sending, *full, *initial_open) = (false, false, true);
        (*train, *left, *hole, *missing_ids, *taken_for_timeout) = (None, None, None, (0, 0), None);
        (*largest_window, *full_for, *heard) = (0, Nanos::ZERO, Nanos::ZERO);
        (*pause_room, *dropped, *untold_from) = (PAUSE_LIMIT, 0, None);
        (*fin, *initial_flight, *last_peer_payload) = (None, None, None);
        (*repairs, *losses, *bottleneck, *under_way) = (None, None, None, UnderWay::default());
    }

    /// True once the sender has sent data.
    pub fn sending(&self) -> bool {
        self.sending
    }

    /// Time when the sender last sent new data.
    pub fn last_data(&self) -> Nanos {
        self.burst.end
    }

    /// Time when the sender last sent data, new or old: Linux's lsndtime, from which an idle period is counted.
    pub fn last_sent(&self) -> Nanos {
        self.open.rare().last_retransmission.map_or(self.burst.end, |again| again.max(self.burst.end))
    }

    /// Sets the start of the wait for the first data.
    pub fn first_wait_from(&mut self, start: Nanos) {
        // Data may have left before the handshake was over, and be stored before the segment that completed it.
        self.burst.end = start.max(self.burst.start);
    }

    /// Notes the sender's state as the beginning of the pause, if that has not begun; true if this begins it.
    #[inline(always)]
    pub(super) fn begin(&mut self, half: &Half, cwnd: &Cwnd) -> bool {
        let begins = self.open.beginning.is_none();
        if begins {
            self.open.beginning = Some(Beginning {
                flight: half.flight(),
                segments: half.flight_segments(),
                room: half.room(),
                window: half.window,
                window_field: half.window_field,
                short: half.short_segment_out(),
                briefs: half.briefs_out(),
                cwnd: cwnd.segments(),
                two_per_ack: cwnd.stance().two_per_ack(),
                cwnd_known: cwnd.certain(),
                phase: cwnd.phase(),
                before_idle: cwnd.before_idle(),
                after_idle: cwnd.after_idle(),
                largest_window: self.largest_window,
                srtt: half.srtt,
            });
        }
        begins
    }

    /// Takes in payload of the peer.
    pub fn on_peer_data(&mut self, segment: &Segment) {
        self.last_peer_payload = Some(segment.time);
        if segment.time < self.burst.end {
            // The capture holds it too late: the burst's last segment acknowledges it.
            return;
        }
        let open = &mut self.open;
        open.peer_bytes += u64::from(segment.payload);
        open.peer_first = open.peer_first.or(Some(segment.time));
        open.peer_last = Some(segment.time);
        open.peer_packet = Some(segment.packet);
    }

    /// Data of the sender at `now` answers the peer's payload: no timer had the time to fire in between.
    pub fn answers(&self, now: Nanos, srtt: Option<Nanos>) -> bool {
        self.open.peer_last.is_some_and(|at| now - at < timers::probe_timeout(srtt, 1))
    }

    /// Takes in payload that the peer repeated because the sender had not acknowledged it: only now may the sender have
    /// a complete request to answer (RFC 9293 §3.10.7.4: out-of-order data reaches no application).
    pub fn on_peer_repeat(&mut self, segment: &Segment) {
        if let Some(last) = &mut self.last_peer_payload {
            *last = segment.time;
        }
        let open = &mut self.open;
        open.peer_first = open.peer_first.or(Some(segment.time));
        open.peer_last = Some(segment.time);
        open.peer_packet = Some(segment.packet);
    }

    /// A paste leaves packets out after `last`.
    pub fn on_left_out(&mut self, last: Nanos) {
        let rare = self.open.rare_mut();
        rare.left_out = rare.left_out.or(Some(last));
    }

    /// Reports of a loss since the last new data.
    pub fn loss_hints(&self) -> u32 {
        self.open.rare().loss_hints
    }

    /// The silence was TCP's: since the last new data the peer's window was closed, or something was sent again.
    pub fn held_up(&self) -> bool {
        self.open.rare_ones().is_some_and(|rare| rare.closed.is_some() || rare.retransmissions > 0)
    }

    /// Time when the sender last sent or received anything new.
    pub fn last_progress(&self) -> Nanos {
        self.heard.max(self.last_sent())
    }

    /// Time of the last ACK of new data or report of a loss.
    #[inline]
    pub fn heard(&self) -> Nanos {
        self.heard
    }

    /// Prepares for a data segment of the sender, after the ACKs before it: if the segment ends a pause, notes the data
    /// left in flight.
    #[inline(always)]
    pub fn prepare(
        &mut self,
        now: Nanos,
        base_rtt: impl FnOnce() -> Option<Nanos>,
        half: &Half,
        cwnd: &Cwnd,
        heard_unseen: bool,
    ) {
        let silence = now - self.burst.end;
        // Few frames follow a silence at all.
        let is_pause = silence > LEAST_PAUSE && silence > base_rtt().unwrap_or_default().scaled(RECORDED_SHARE);
        self.left = None;
        if is_pause || self.open.rare_ones().is_some_and(|rare| rare.left_out.is_some()) {
            self.begin(half, cwnd);
            self.left = Some(Left {
                flight: half.flight(),
                short: half.short_segment_out(),
                unknown: half.flight_unknown,
                heard_unseen,
            });
        } else if self.full {
            self.full_for += silence.or_zero();
        }
    }

    /// Segments in flight when the pause began.
    pub fn segments_out(&self) -> u32 {
        self.open.beginning.as_ref().map_or(0, |beginning| beginning.segments)
    }

    /// True if the segment that was prepared for ends a pause.
    pub fn is_prepared(&self) -> bool {
        self.left.is_some()
    }

    /// Freezes the pause that ends now; true if nothing was left in flight.
    pub fn close(&mut self, ending: &PauseEnd, half: &Half, cwnd: &mut Cwnd) -> bool {
        let left = self.left.take().unwrap_or_default();
        if self.pause_room == 0 {
            self.dropped += 1;
            self.untold_from = self.untold_from.or(Some(self.burst.end));
            return left.flight == 0;
        }
        self.pauses.push(self.freeze(ending, half, cwnd, left));
        if let Some(first) = half.first_ack(ending.time)
            && let Some(later) = self.pauses.learns_of_newest()
        {
            later.first_ack = Some(first);
        }
        let Some(pause) = self.pauses.newest() else { return left.flight == 0 };
        // In recovery more may be in flight than the window will allow: the flight comes down segment by segment (RFC
        // 6937). What was out before a repair shows nothing of the window after it, nor does what the tap never saw leave.
        let unseen = 2 * pause.unseen.inside > pause.flight_at_start;
        if !pause.recovering && pause.retransmissions == 0 && !unseen {
            cwnd.at_least(if cwnd.certain() { pause.segments_held } else { pause.segments_at_start });
            if pause.losses > 0 && pause.released_by_ack() && !pause.short_segment_out {
                cwnd.settles(pause.segments_held);
            }
            if flight_grows(pause, half.window) {
                cwnd.goes_on(ending.hole.1);
            }
        }
        self.pause_room -= 1;
        self.missing_ids = ending.missing_ids;
        self.hole = (ending.hole.1 > ending.hole.0).then_some(ending.hole);
        left.flight == 0
    }

    /// The same, as a round: how long it took is known when the next one begins.
    pub(super) fn round(&self) -> AckRound {
        let Burst { bytes, last_frame, pushed, .. } = self.burst;
        AckRound::of(bytes, last_frame, pushed, self.open.acks)
    }

    /// The burst that is still open.
    pub fn current_burst(&self) -> Burst {
        self.burst
    }
}
