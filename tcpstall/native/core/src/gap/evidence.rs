//! What a gap between two bursts was, frozen: the rules read this and nothing else.

use super::answer::Answer;
use super::bottleneck::{AT_SENDER, Stretch};
use super::builder::LEAST_GAP;
use super::hole::Hole;
use super::reading::Backlog;
use super::recovered::Recovered;
use super::repair::Repair;
use super::shut::Shut;
use super::unseen::Unseen;
use crate::flow::Direction;
use crate::sender::cwnd::Phase;
use crate::sender::timers;
use crate::size::PacketNo;
use crate::time::Nanos;
use crate::traits::{Read, Traits};

/// Segments that left together: pauses too short to be gaps, yet longer than the noise of hosts, part them.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Clump {
    /// First segment of the last one in a burst.
    pub start: Nanos,
    /// New payload bytes of the last one.
    pub bytes: u64,
    /// How many the burst has.
    pub count: u32,
    /// The longest pause between two of them.
    pub longest_pause: Nanos,
    /// New payload bytes of the first one in the burst.
    pub first_bytes: u64,
}

/// Segments of new data that one sender sent without a gap between them.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Burst {
    /// First segment.
    pub start: Nanos,
    /// Last segment.
    pub end: Nanos,
    /// New payload bytes.
    pub bytes: u64,
    /// Frames with new payload.
    pub frames: u64,
    /// Bytes in flight after the last.
    pub in_flight: u64,
    /// Bytes of its first frame.
    pub first_frame: u32,
    /// Bytes of its last frame.
    pub last_frame: u32,
    /// The last frame had PSH: as far as that tells, its sender had no more just then (RFC 9293 §3.9.1.2).
    pub pushed: bool,
    /// Last packet.
    pub last_packet: PacketNo,
    /// ACKs of new data that let it go: those of the gap before it, and those that came while it went on.
    pub acks: u32,
    /// The pauses inside it.
    pub clump: Clump,
}

/// A pause between two bursts of one sender, or after its last.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Gap {
    /// Whose data paused.
    pub sender: Direction,
    /// The burst before it; its `end` is where the gap starts. Without one (the sender's first wait) only `end` is set.
    pub before: Burst,
    /// No burst came before: it starts at the end of the handshake or of the peer's request.
    pub first: bool,
    /// Next new data, or what ended the flow.
    pub end: Nanos,
    /// New data followed.
    pub ended: bool,
    /// The burst after it.
    pub after: Burst,
    /// First packet of new data after it.
    pub next_packet: Option<PacketNo>,
    /// Smallest round trip of the path, as it was then.
    pub base_rtt: Option<Nanos>,
    /// The sender's smoothed round trip when it began.
    pub srtt: Option<Nanos>,
    /// Round trip from the tap to the sender: how late an answer shows at the tap.
    pub distance: Nanos,
    /// It was longer then than its level.
    pub held_up: bool,
    /// How much that distance scatters.
    pub jitter: Nanos,
    /// How late the capture holds packets of the flow.
    pub disorder: Nanos,
    /// Payload of a full segment.
    pub mss: u32,
    /// That is no guess from what the application happened to send.
    pub mss_known: bool,
    /// Bytes in flight at its start.
    pub flight_at_start: i64,
    /// Segments in flight at its start.
    pub segments_at_start: u32,
    /// Segments in flight before the ACK that freed it, after the ACKs that trail the last segment.
    pub segments_held: u32,
    /// Room in the peer's window at its start.
    pub room_at_start: Option<i64>,
    /// Room in the peer's window before the ACK that freed it.
    pub room_held: Option<i64>,
    /// The peer's window at its start.
    pub window: Option<i64>,
    /// The window field as sent, which is all there is where the scale is unknown.
    pub window_field: u16,
    /// Room in the smallest window that the field can mean, where the scale is unknown.
    pub least_room: Option<i64>,
    /// The flow is one of several that share a window and the application's data (RFC 8684 §3.3.1).
    pub multipath: bool,
    /// The scale was not captured and rests on how the flights fill the window.
    pub scale_inferred: bool,
    /// Largest window the peer ever announced before.
    pub largest_window: i64,
    /// A sub-MSS segment was outstanding at its start.
    pub short_segment_out: bool,
    /// One was still outstanding when it ended.
    pub short_segment_left: bool,

    /// ACKs of new data that reached the sender inside it.
    pub acks: u32,
    /// What they tell of the wait for them.
    pub answer: Answer,
    /// Bytes they acknowledged.
    pub acked: i64,
    /// The part of that which had reached the sender by the distance alone, without the slack for the clock's grain.
    pub acked_in_time: i64,
    /// The last of them, or the last window update.
    pub last_ack: Option<Nanos>,
    /// The packet of the last.
    pub last_ack_packet: Option<PacketNo>,
    /// The last that widened a window of unknown scale and acknowledged nothing.
    pub widened: Option<(Nanos, PacketNo)>,
    /// When everything was acknowledged, if it was.
    pub all_acked: Option<Nanos>,
    /// Bytes in flight when it ended, before the new data.
    pub left_in_flight: i64,

    /// When the peer's window became 0 (or too small for anything, with nothing in flight).
    pub closed: Option<Nanos>,
    /// When it opened again.
    pub reopened: Option<Nanos>,
    /// Window probes or keep-alives of the sender.
    pub probes: u32,
    /// How far the window was shut, and what became of the probes.
    pub shut: Shut,
    /// How the peer's application had read when it ended.
    pub reading: Backlog,

    /// The congestion window by the model at its start, segments.
    pub cwnd: u32,
    /// Where the sender is in its life.
    pub phase: Phase,
    /// Losses before it; they widen the model's error.
    pub losses: u32,
    /// The window before an idle period lowered it, segments.
    pub cwnd_before_idle: Option<u32>,
    /// False where that window was not known, so that the climb may end anywhere.
    pub old_window_known: bool,
    /// The window that the idle period lowered it to, segments.
    pub cwnd_after_idle: Option<u32>,

    /// Payload of the peer inside it.
    pub peer_bytes: u64,
    /// First payload of the peer inside it, at the tap.
    pub peer_first: Option<Nanos>,
    /// Last payload of the peer inside it, at the tap.
    pub peer_last: Option<Nanos>,
    /// The packet of that.
    pub peer_packet: Option<PacketNo>,

    /// Retransmissions inside it.
    pub retransmissions: u32,
    /// The first of them.
    pub first_retransmission: Option<Nanos>,
    /// What was sent again and why, where anything was.
    pub repair: Option<Box<Repair>>,
    /// The new data that ended it had left its sender so long before, by the sender's timestamps: a queue before the tap held it.
    pub held: Nanos,
    /// Its sender's data came so long, more than a round trip, after data sent later: something before the tap held packets.
    pub overtaken: Nanos,
    /// Packets that the IP-ID counter or a hole in the sequence says were sent and lost before the tap.
    pub lost_before_tap: u32,
    /// The sender numbers its packets one by one (IP-ID), so that those would show.
    pub numbered: bool,
    /// Bytes before the next new data that the tap did not see: the data that followed was no repair of them.
    pub hole_before: i64,
    /// Everything before this offset was acknowledged when it ended.
    pub left_edge: i64,
    /// ACKs inside it never reached the sender: it sent again, later, what they had acknowledged.
    pub acks_lost: bool,
    /// SACK blocks or duplicate ACKs reached the sender inside it.
    pub loss_hints: u32,
    /// The sender was in recovery.
    pub recovering: bool,
    /// Where that ended inside it.
    pub recovered: Option<Box<Recovered>>,
    /// Data missing at the receiver while it lasted.
    pub hole: Option<Hole>,

    /// The last packet before lines that a paste left out.
    pub left_out: Option<Nanos>,
    /// What was in flight is not known, because packets before it are missing.
    pub flight_unknown: bool,
    /// The sender's SYN was captured.
    pub from_start: bool,
    /// Every step of the congestion window's life was seen, or an idle has since brought it to a known value.
    pub cwnd_known: bool,
    /// What the capture lacks around it.
    pub unseen: Unseen,

    /// What the neighbours tell, filled in when the flow ends.
    pub context: Context,
}

/// What only the neighbours of a gap can tell.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Context {
    /// Gaps next to each other, this one among them, at whose start about the same number of bytes was in flight.
    pub plateau_rounds: u32,
    /// Those of them after a burst that was not the first of an answer.
    pub plateau_refills: u32,
    /// The middle of those flights.
    pub plateau: i64,
    /// It is that middle to the byte, as several others are, and a part of a segment is in it: something counts bytes, and it was
    /// full.
    pub brimful: bool,
    /// Bytes in flight at the start of the sender's next gap.
    pub next_flight: Option<i64>,
    /// Rate that this gap's burst and length make, bytes per second.
    pub pace: Option<f64>,
    /// How many other gaps of the sender have that rate within 15 %.
    pub pace_agreement: u32,
    /// Gaps of the sender that could have been paced.
    pub pace_candidates: u32,
    /// It goes on with the pace that the burst before it kept for so many pauses too short to be gaps.
    pub kept_pace: u32,
    /// Share of the gaps that could have been paced which ended at an ACK, 0 to 1.
    pub released_share: f64,
    /// Turns in a row whose first burst was cut at the same count of segments as that of this gap's turn.
    pub turns_cut_alike: u32,
    /// That count, if this gap follows the first burst of a turn, or one in which each ACK let just as many go.
    pub cut_at: Option<u32>,
    /// That count grew from turn to turn.
    pub cut_grows: bool,
    /// On its plateau, data went on again and again at an ACK that had covered almost nothing.
    pub dripping: bool,
    /// Among the waits that an ACK ended with whole segments out, the flights grew a little from each to the next.
    pub creeping: bool,
    /// The sender was seen to write less than a segment with nothing in flight: what was written went out as it was.
    pub small_writes: bool,
    /// From the first gap to the one after this, each flight of whole segments was about twice the one before.
    pub doubling: bool,
    /// The stretch in which the path was busy from the gap's start to its end.
    pub bottleneck: Option<Stretch>,
    /// An earlier gap of the sender left no room at all in the peer's window.
    pub window_filled_before: bool,
    /// The peer's reader was behind for so long that it, not the size of its buffer, made the sender wait.
    pub reader_behind: bool,
    /// Over the whole flow: how fast the peer's application read while it was behind, bytes per second.
    pub drain: Option<u64>,
    /// What the flow shows of its sender.
    pub traits: Traits,
    /// What that makes of the gap.
    pub read: Read,
}

impl Burst {
    /// It ended with a full segment, or with a frame of full ones.
    pub fn ends_whole(&self, mss: u32) -> bool {
        self.last_frame.is_multiple_of(mss.max(1))
    }
}

impl Gap {
    /// The tap turned out to be as far from the sender as `distance`, not as was thought when the gap was frozen: what reached
    /// the sender inside it did so later or earlier.
    pub(super) fn moves_tap(&mut self, distance: Nanos) {
        let shift = distance - self.distance;
        if shift == Nanos::ZERO {
            return;
        }
        self.distance = distance;
        self.held = (self.held - shift.or_zero()).or_zero();
        let recovered = self.recovered.as_mut().map(|recovered| &mut recovered.at);
        let times = [&mut self.last_ack, &mut self.all_acked, &mut self.closed, &mut self.reopened];
        for time in times.into_iter().flatten().chain(recovered) {
            *time = (*time + shift).min(self.end);
        }
    }

    /// When it began: at the end of the burst before it.
    #[expect(clippy::misnamed_getters, reason = "a gap starts where its burst ends")]
    pub fn start(&self) -> Nanos {
        self.before.end
    }

    /// How long it was.
    pub fn duration(&self) -> Nanos {
        self.end - self.before.end
    }

    /// Base round trip, or zero where none is known.
    pub fn rtt(&self) -> Nanos {
        self.base_rtt.unwrap_or_default()
    }

    /// The tap sees the sender's reaction to each ACK, and no queue before it.
    pub fn near_sender(&self) -> bool {
        self.distance <= self.rtt().scaled(AT_SENDER)
    }

    /// The next segment that would have been sent, bytes.
    pub fn next_segment(&self) -> i64 {
        let full = i64::from(self.mss);
        if self.after.first_frame > 0 { full.min(i64::from(self.after.first_frame)) } else { full }
    }

    /// Two events this close together are taken for cause and effect: 5 % of the round trip up to 2 ms, at least what hosts
    /// smear. On the longest paths 2 % of it, up to the tick of an old host (HZ = 100): no later answer is worth naming.
    pub fn tolerance(&self) -> Nanos {
        let usual = self.rtt().scaled(0.05).max(Nanos::from_micros(300)).min(Nanos::from_millis(2));
        usual.max(self.rtt().scaled(0.02).min(Nanos::from_millis(10))) + self.jitter
    }

    /// An ACK ended it: the new data followed at once.
    pub fn released_by_ack(&self) -> bool {
        self.ended && (self.after_ack().is_some_and(|span| span <= self.tolerance()) || self.released_unseen())
    }

    /// The same, within what a host needs and the path jitters: a writer that only happened to come then would hardly be as
    /// quick.
    pub fn released_at_once(&self) -> bool {
        let host = LEAST_GAP + self.jitter.min(LEAST_GAP);
        self.released_by_ack() && self.after_ack().is_none_or(|span| span <= host)
    }

    /// Away from the sender everything was acknowledged in the middle of a write, whose end carries PSH (RFC 9293 §3.9.1.2), and
    /// after a timer's time a single segment followed (RFC 5681 §3.1): what lay between was lost before the tap.
    pub fn broke_off(&self) -> bool {
        let cut = !self.before.pushed && self.before.ends_whole(self.mss) && self.left_in_flight == 0;
        let single = self.after.bytes <= u64::from(self.mss);
        let silent = || self.after_ack().is_some_and(|after| after >= timers::rto(self.srtt));
        let behind = self.ended && !self.first && !self.is_turn() && !self.near_sender() && !self.numbered;
        behind && cut && single && silent()
    }

    /// What the sender knew when it went on came in an ACK that the capture lacks or stored too late.
    pub fn released_unseen(&self) -> bool {
        let round_trip = self.srtt.unwrap_or_default().max(self.rtt());
        self.ended && self.unseen.heard && self.left_in_flight > 0 && self.duration() < round_trip + round_trip
    }

    /// Everything was acknowledged, no window had to open, and yet the sender stayed silent well past the tolerance: had
    /// there been anything to send, it would have gone.
    pub fn fell_silent(&self) -> bool {
        // Without a round trip nobody knows how soon an ACK shows.
        let slack = self.base_rtt.map_or(timers::LINUX_RTO_MIN, |_| self.tolerance().times(3));
        self.ended && self.left_in_flight == 0 && self.after_ack().is_some_and(|span| span > slack)
    }

    /// A writer woken by an ACK went on: within the tolerance, or a little later on a plateau.
    pub fn refilled(&self) -> bool {
        let late =
            self.context.plateau_rounds >= 5 && self.after_ack().is_some_and(|span| span <= self.rtt().scaled(0.2));
        self.ended && (self.released_by_ack() || late)
    }

    /// The peer's window had room for more, so far as its scale is known.
    pub fn has_room(&self) -> Option<bool> {
        match (self.room_at_start, self.least_room) {
            (Some(room), _) => Some(room >= self.next_segment()),
            (None, Some(room)) if room >= self.next_segment() => Some(true),
            (None, _) => None,
        }
    }

    /// The sender answered the peer: the peer's payload came inside it, with everything acknowledged.
    pub fn is_turn(&self) -> bool {
        self.peer_bytes > 0 && self.left_in_flight == 0
    }

    /// How long after the last ACK the sender went on, on the sender's own clock.
    pub fn after_ack(&self) -> Option<Nanos> {
        self.last_ack.map(|ack| (self.end - ack).or_zero())
    }

    /// How long after the peer's last payload the sender went on, on the sender's own clock.
    pub fn after_peer(&self) -> Option<Nanos> {
        self.peer_last.map(|last| (self.end - last - self.distance).or_zero())
    }
}
