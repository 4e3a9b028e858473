//! Evidence of a pause between two bursts: frozen when the pause ends, settled when its flow is over.

pub mod persist;
pub(super) mod recovered;
pub mod repair;
mod room;
mod several_short;
pub(super) mod slowest_ack;
mod tso;
pub(super) mod unseen;

use self::persist::Persist;
use self::recovered::Recovered;
use self::repair::PauseRepairs;
use self::slowest_ack::SlowestAck;
use self::unseen::Unseen;
use super::LEAST_PAUSE;
use super::bottleneck::AT_SENDER;
use super::burst::Burst;
use super::hole::Hole;
use super::packed::packed;
use super::reading::Backlog;
use crate::flow::End;
use crate::packet_no::PacketNo;
use crate::sender::cwnd::CongestionPhase;
use crate::sender::timers;
use crate::time::Nanos;

/// Divisor of a round trip: within half of it data follows the ACK that released it, however much the path jitters.
const SOON: i64 = 2;
/// Times within which a busy host answers an ACK, in tolerances of an idle one.
const HOST_BUSY: i64 = 3;

/// Facts about a pause between two bursts of one sender, or after its last.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Facts {
    /// Sender of the data that paused.
    pub sender: End,
    /// The burst before the pause; its `end` is the pause's start. Where there is no burst (the sender's first wait) only
    /// `end` is set.
    pub before: Burst,
    /// No burst came before: the pause starts at the end of the handshake or of the peer's request.
    pub first: bool,
    /// Time of the next new data, or of the flow's end.
    pub end: Nanos,
    /// New data followed.
    pub ended: bool,
    /// The burst after the pause.
    pub after: Burst,
    /// First packet of new data after the pause.
    pub next_packet: Option<PacketNo>,
    /// Smallest round trip of the path at that time.
    pub base_rtt: Option<Nanos>,
    /// The sender's smoothed round trip when the pause began.
    pub srtt: Option<Nanos>,
    /// Round trip from the tap to the sender: the delay with which the tap sees an answer.
    pub distance: Nanos,
    /// Ticks of the sender's clock from the stamp of the data before the pause to that of the data after it.
    pub stamps_apart: Option<u32>,
    /// By that clock the data on both sides of the pause left within half of it.
    pub left_together: bool,
    /// The tap–sender round trip exceeded its usual level when the pause ended.
    pub held_up: bool,
    /// Scatter of that distance.
    pub jitter: Nanos,
    /// Delay with which the capture holds packets of the flow.
    pub disorder: Nanos,
    /// Payload of a full segment.
    pub mss: u32,
    /// The MSS is known and not guessed from the application's writes.
    pub mss_known: bool,
    /// Bytes in flight at the pause's start.
    pub flight_at_start: i64,
    /// Segments in flight at the pause's start.
    pub segments_at_start: u32,
    /// Segments in flight just before the ACK that ended the pause; ACKs that came soon after the burst are received.
    pub segments_held: u32,
    /// Segments that the ACKs before the last one covered, of those that came with it.
    pub let_pass: u32,
    /// Room in the peer's window at the pause's start.
    pub room_at_start: Option<i64>,
    /// Room in the peer's window before the ACK that ended the pause.
    pub room_held: Option<i64>,
    /// The peer's window at the pause's start.
    pub window: Option<i64>,
    /// The window field as sent; the only evidence where the scale is unknown.
    pub window_field: u16,
    /// Room in the smallest window that the field can mean, where the scale is unknown.
    pub least_room: Option<i64>,
    /// The flow is one of several that share a window and the application's data (RFC 8684 §3.3.1).
    pub multipath: bool,
    /// The scale was not captured: it is inferred from how the flights fill the window.
    pub scale_inferred: bool,
    /// Largest window that the peer had announced before.
    pub largest_window: i64,
    /// A sub-MSS segment was outstanding at the pause's start.
    pub short_segment_out: bool,
    /// None of those has PSH: a window may have cut them.
    pub short_only_cut: bool,
    /// The burst ended with a short segment although more was queued: a window cut it.
    pub cut_short: bool,
    /// Writes of their own among those, each clearly shorter than a full segment.
    pub briefs_out: u32,
    /// A sub-MSS segment was still outstanding at the pause's end.
    pub short_segment_left: bool,

    /// ACKs of new data that reached the sender inside the pause.
    pub acks: u32,
    /// Evidence from these ACKs on the wait for them.
    pub slowest_ack: SlowestAck,
    /// Bytes that these ACKs acknowledged.
    pub acked: i64,
    /// Part of `acked` that had reached the sender by the distance alone, without the slack for the clock's
    /// granularity.
    pub acked_in_time: i64,
    /// Time of the last of these ACKs, or of the last window update.
    pub last_ack: Option<Nanos>,
    /// Packet of that ACK.
    pub last_ack_packet: Option<PacketNo>,
    /// The last ACK that widened a window of unknown scale and acknowledged nothing.
    pub widened: Option<(Nanos, PacketNo)>,
    /// The data that ended the pause had left its sender before that ACK reached it, by the TSval that the data echoes.
    pub left_before_ack: bool,
    /// Time when all data was acknowledged, if it was.
    pub all_acked: Option<Nanos>,
    /// First ACK of new data inside the pause since which the peer's window has had room for a full segment.
    pub room_since: Option<Nanos>,
    /// Bytes in flight when the pause ended, before the new data.
    pub left_in_flight: i64,

    /// Time when the peer's window became 0 (or too small for anything, with nothing in flight).
    pub closed: Option<Nanos>,
    /// Time when the window opened again.
    pub reopened: Option<Nanos>,
    /// Window probes or keep-alives of the sender.
    pub probes: u32,
    /// Smallest window while it was shut, and the fate of the probes.
    pub persist: Persist,
    /// Data that the peer's application had not read when the pause ended.
    pub reading: Backlog,

    /// The congestion window by the model at the pause's start, segments.
    pub cwnd: u32,
    /// That window if each ACK counts for two segments at most, where the sender never had more out.
    pub two_per_ack: Option<u32>,
    /// Phase of the sender's congestion control.
    pub phase: CongestionPhase,
    /// Losses before the pause; they widen the model's error.
    pub losses: u32,
    /// The window before an idle period lowered it, segments.
    pub cwnd_before_idle: Option<u32>,
    /// False where that window was unknown, so that the climb may end anywhere.
    pub old_window_known: bool,
    /// The window that the idle period lowered it to, segments.
    pub cwnd_after_idle: Option<u32>,

    /// ACKs of new data among those inside the pause that brought payload of the peer.
    pub message_acks: u32,
    /// Time when the peer's last payload reached the sender inside the pause.
    pub message_at: Option<Nanos>,

    /// Payload of the peer inside the pause.
    pub peer_bytes: u64,
    /// First payload of the peer inside the pause, at the tap.
    pub peer_first: Option<Nanos>,
    /// Last payload of the peer inside the pause, at the tap.
    pub peer_last: Option<Nanos>,
    /// Packet of that payload.
    pub peer_packet: Option<PacketNo>,

    /// Retransmissions inside the pause.
    pub retransmissions: u32,
    /// Time of the first retransmission.
    pub first_retransmission: Option<Nanos>,
    /// Retransmitted data and the trigger, where anything was retransmitted.
    pub repair: Option<Box<PauseRepairs>>,
    /// Queueing delay before the tap of the new data that ended the pause, by the sender's timestamps.
    pub held: Nanos,
    /// Delay, above a round trip, of the sender's data behind data sent later: something before the tap held packets.
    pub overtaken: Nanos,
    /// Packets sent and lost before the tap, by the IP-ID counter or a hole in the sequence.
    pub lost_before_tap: u32,
    /// The sender numbers its packets one by one (IP-ID), so that lost packets are visible.
    pub numbered: bool,
    /// Bytes before the next new data that the tap did not see; that data did not repair them.
    pub hole_before: i64,
    /// Offset below which everything was acknowledged when the pause ended.
    pub left_edge: i64,
    /// ACKs inside the pause never reached the sender: it later retransmitted data that they had acknowledged.
    pub acks_lost: bool,
    /// SACK blocks or duplicate ACKs that reached the sender inside the pause.
    pub loss_hints: u32,
    /// Time of the last of these.
    pub last_hint: Option<Nanos>,
    /// The sender was in recovery.
    pub recovering: bool,
    /// End of that recovery, where it was inside the pause.
    pub recovered: Option<Box<Recovered>>,
    /// Data missing at the receiver during the pause.
    pub hole: Option<Hole>,

    /// The last packet before lines that a paste left out.
    pub left_out: Option<Nanos>,
    /// Packets before the pause are missing, so the data in flight is unknown.
    pub flight_unknown: bool,
    /// The sender's SYN was captured.
    pub from_start: bool,
    /// Every step of the congestion window was seen, or an idle period has since brought it to a known value.
    pub cwnd_known: bool,
    /// Packets that the capture lacks around the pause.
    pub unseen: Unseen,
}

packed!(Facts {
    marks {
        first, ended, left_together, held_up, mss_known, multipath, scale_inferred, short_segment_out, short_only_cut,
        cut_short, short_segment_left, left_before_ack, old_window_known, numbered, acks_lost, recovering, flight_unknown, from_start,
        cwnd_known,
    }
    sender, before, end, after, next_packet, base_rtt, srtt, distance, stamps_apart, jitter, disorder, mss,
    flight_at_start, segments_at_start, segments_held, let_pass, room_at_start, room_held, window, window_field, least_room,
    largest_window, briefs_out, acks, slowest_ack, acked, acked_in_time, last_ack, last_ack_packet, widened,
    all_acked, room_since, left_in_flight, closed, reopened, probes, persist, reading, cwnd, two_per_ack, phase, losses,
    cwnd_before_idle, cwnd_after_idle, message_acks, message_at, peer_bytes, peer_first, peer_last, peer_packet,
    retransmissions, first_retransmission, repair, held, overtaken, lost_before_tap, hole_before, left_edge, loss_hints, last_hint,
    recovered, hole, left_out, unseen,
});

impl Facts {
    /// Start of the pause: the end of the burst before it.
    #[expect(clippy::misnamed_getters, reason = "a pause starts where its burst ends")]
    pub fn start(&self) -> Nanos {
        self.before.end
    }

    /// Length of the pause.
    pub fn duration(&self) -> Nanos {
        self.end - self.before.end
    }

    /// Base round trip, or zero where none is known.
    pub fn rtt(&self) -> Nanos {
        self.base_rtt.unwrap_or_default()
    }

    /// The tap sees the sender's reaction to each ACK, and no queue before the tap.
    pub fn near_sender(&self) -> bool {
        self.distance <= self.rtt().part(AT_SENDER)
    }

    /// Size of the next segment that would have been sent, bytes. Half of the largest window is enough for any, however large the
    /// MSS (RFC 9293 §3.8.6.2.1).
    pub fn next_segment(&self) -> i64 {
        let full = i64::from(self.mss);
        let half = if self.largest_window > 0 { self.largest_window / 2 } else { full };
        full.min(if self.after.first_frame > 0 { i64::from(self.after.first_frame) } else { half })
    }

    /// Largest time between cause and effect: 5 % of the round trip up to 2 ms, and at least the jitter of hosts. On
    /// the longest paths 2 % of the round trip, up to the tick of an old host (HZ = 100): no later answer is worth
    /// naming.
    #[inline]
    pub fn tolerance(&self) -> Nanos {
        steady_tolerance(self.rtt()) + self.jitter
    }

    /// The data had left before the last ACK came. Away from the sender the two met on the way, or in a queue.
    #[inline]
    pub fn left_first(&self) -> bool {
        self.left_before_ack && self.near_sender()
    }

    /// An ACK ended the pause: the new data followed at once.
    pub fn released_by_ack(&self) -> bool {
        let at_once = || self.after_ack().is_some_and(|span| span <= self.tolerance()) && !self.left_first();
        self.ended && (at_once() || self.released_unseen())
    }

    /// New data followed an ACK within the time of a host and the path's jitter: a writer that came by chance would
    /// hardly be as quick.
    pub fn released_at_once(&self) -> bool {
        self.released_by_ack() && self.after_ack().is_none_or(|span| span <= self.answer_time())
    }

    /// New data left by itself: no ACK came in the time before it in which a host, however busy, answers one.
    pub fn left_by_itself(&self) -> bool {
        let late = || self.after_ack().is_none_or(|span| span > self.tolerance().times(HOST_BUSY));
        self.ended && !self.released_by_ack() && late()
    }

    /// An ACK ended the pause; away from the sender the path may have lengthened the way of either.
    pub fn released_soon(&self) -> bool {
        self.released_by_ack() || self.ended && !self.near_sender() && self.followed_soon()
    }

    /// The new data followed the last ACK within a part of a round trip.
    pub fn followed_soon(&self) -> bool {
        self.after_ack().is_some_and(|span| span <= self.rtt().part(SOON)) && !self.left_first()
    }

    /// New data followed a report of a loss within the time of a host. Such an ACK frees no buffer and wakes no writer: the
    /// data had been queued, and the congestion window counts the reported segment no longer (RFC 3042, RFC 6675 §5).
    pub fn released_by_report(&self) -> bool {
        let after = self.last_hint.map(|hint| (self.end - hint).or_zero());
        self.ended && self.left_in_flight > 0 && after.is_some_and(|span| span <= self.answer_time())
    }

    /// Longest time in which a host answers an ACK, with the path's jitter.
    pub(super) fn answer_time(&self) -> Nanos {
        LEAST_PAUSE + self.jitter.min(LEAST_PAUSE)
    }

    /// The ACK that ended the wait is missing from the capture or was stored too late.
    pub fn released_unseen(&self) -> bool {
        let round_trip = self.srtt.unwrap_or_default().max(self.rtt());
        self.ended && self.unseen.heard && self.left_in_flight > 0 && self.duration() < round_trip + round_trip
    }

    /// New data ended the pause while older data was in flight, and no ACK came in the second half of the pause.
    #[inline]
    pub fn ended_unheard(&self) -> bool {
        let heard = || self.last_ack.is_some_and(|ack| (self.end - ack).times(2) < self.duration());
        self.left_in_flight > 0 && self.ended && !self.first && !heard()
    }

    /// All data was acknowledged, no window had to open, and the sender stayed silent well past the tolerance: it had
    /// nothing to send.
    pub fn fell_silent(&self) -> bool {
        // Without a round trip the delay of an ACK's answer is unknown.
        let slack = self.base_rtt.map_or(timers::LINUX_RTO_MIN, |_| self.tolerance().times(3));
        self.ended && self.left_in_flight == 0 && self.after_ack().is_some_and(|span| span > slack)
    }

    /// The peer's window had room for more, where its scale is known.
    pub fn has_room(&self) -> Option<bool> {
        match (self.room_at_start, self.least_room) {
            (Some(room), _) => Some(room >= self.next_segment()),
            (None, Some(room)) if room >= self.next_segment() => Some(true),
            (None, _) => None,
        }
    }

    /// The sender answered the peer: the peer's payload came inside the pause, with all data acknowledged.
    pub fn is_turn(&self) -> bool {
        self.peer_bytes > 0 && self.left_in_flight == 0
    }

    /// Time from the last ACK to the new data, on the sender's own clock.
    pub fn after_ack(&self) -> Option<Nanos> {
        self.last_ack.map(|ack| (self.end - ack).or_zero())
    }

    /// Time from the peer's last payload to the new data, on the sender's own clock.
    pub fn after_peer(&self) -> Option<Nanos> {
        self.peer_last.map(|last| (self.end - last - self.distance).or_zero())
    }
}

/// The tolerance over a path of that round trip without jitter. It is read dozens of times for each pause.
#[inline]
fn steady_tolerance(rtt: Nanos) -> Nanos {
    if rtt <= Nanos::from_millis(6) {
        Nanos::from_micros(300)
    } else if rtt <= Nanos::from_millis(40) {
        rtt.part(20)
    } else {
        rtt.part(50).clamp(Nanos::from_millis(2), Nanos::from_millis(10))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolerance_is_a_twentieth_of_a_round_trip_between_its_limits_and_a_fiftieth_of_a_long_one() {
        for us in (-100..1_000_000).step_by(7) {
            let rtt = Nanos::from_micros(us);
            let usual = rtt.part(20).max(Nanos::from_micros(300)).min(Nanos::from_millis(2));
            assert_eq!(steady_tolerance(rtt), usual.max(rtt.part(50).min(Nanos::from_millis(10))), "{us} us");
        }
    }
}
