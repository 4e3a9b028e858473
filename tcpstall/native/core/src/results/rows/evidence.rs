//! Evidence of a stall's label. Most stalls have the same dozen numbers; what few of them have lies apart.

use super::ceiling::Ceiling;
use super::path::{PathEvidence, path_evidence};
use super::receiver::Receiver;
use super::repair::RepairEvidence;
use crate::causes::PausePart;
use crate::json::{Row, Text, row};
use crate::packet_no::PacketNo;
use crate::pause::Pause;
use crate::time::Nanos;

row! {
    /// Evidence of a stall's label: the values that the rule read, unknown values `None`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Evidence {
        /// Bytes sent and not yet acknowledged when the wait began.
        pub in_flight_bytes: Option<u64>,
        /// Segments of one MSS sent and not yet acknowledged when the wait began.
        pub in_flight_segments: Option<u64>,
        /// The peer's window when the wait began, bytes.
        pub peer_window_bytes: Option<u64>,
        /// Unused part of that window, bytes.
        pub window_unused_bytes: Option<i64>,
        /// The congestion window by our model of the sender, segments.
        pub cwnd_estimate_segments: Option<u64>,
        /// New payload bytes of the burst before the wait.
        pub burst_bytes: Option<u64>,
        /// Last packet of new data before the wait.
        pub last_packet: Option<PacketNo>,
        /// The packet that ended the wait's reason: the ACK (or request) that let data flow again.
        pub freed_by_packet: Option<PacketNo>,
        /// First packet of new data after the wait.
        pub next_packet: Option<PacketNo>,
        /// Time from the freeing packet to the next data, at the tap.
        pub freed_to_data_ns: Option<Nanos>,
        /// Retransmissions inside the wait.
        #[json(if_any)]
        pub retransmissions: Option<u64>,
        /// Numbers that few stalls have.
        #[json(flat)]
        pub rare: Rare,
    }
}

row! {
    /// Numbers that few stalls have, unknown values `None`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct RareEvidence {
        /// Window probes inside the wait.
        #[json(if_any)]
        pub window_probes: Option<u64>,
        /// Plateau of the bytes in flight over several rounds.
        #[json(if_any)]
        pub plateau_bytes: Option<u64>,
        /// The congestion window before an idle period lowered it, segments.
        #[json(if_any)]
        pub cwnd_before_idle_segments: Option<u64>,
        /// The congestion window to which that period lowered it, segments.
        #[json(if_any)]
        pub cwnd_after_idle_segments: Option<u64>,
        /// Cost of the whole climb back in round trips, beyond those that the old window would have needed; at the first
        /// wait of the climb.
        #[json(if_any)]
        pub extra_round_trips: Option<u64>,
        /// The buffer that held the sender back.
        #[json(flat)]
        pub ceiling: Ceiling,
        /// The peer's receiver.
        #[json(flat)]
        pub receiver: Receiver,
        /// Segments that each ACK released, exchange after exchange.
        #[json(if_any)]
        pub burst_cap_segments: Option<u64>,
        /// Consecutive exchanges whose first burst was cut at that count.
        #[json(if_any)]
        pub exchanges_cut_alike: Option<u64>,
        /// A queue on the path.
        #[json(flat)]
        pub path: PathEvidence,
        /// Losses and their repairs.
        #[json(flat)]
        pub repair: RepairEvidence,
        /// The fastest second of the sender, bytes per second, where rates above ten times that were left out above.
        #[json(if_any)]
        pub fastest_bytes_per_s: Option<u64>,
    }
}

/// Numbers that few stalls have: three quarters of all that a stall may have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rare(Option<Box<RareEvidence>>);

impl Rare {
    /// One of the numbers.
    pub fn get<T>(&self, number: impl FnOnce(&RareEvidence) -> Option<T>) -> Option<T> {
        self.0.as_deref().and_then(number)
    }

    /// There are numbers of which that is true.
    pub(in super::super) fn has(&self, is_so: impl FnOnce(&RareEvidence) -> bool) -> bool {
        self.0.as_deref().is_some_and(is_so)
    }

    /// The numbers, if there are any.
    pub(in super::super) fn any_mut(&mut self) -> Option<&mut RareEvidence> {
        self.0.as_deref_mut()
    }

    /// The numbers, to add some.
    pub(in super::super) fn get_mut(&mut self) -> &mut RareEvidence {
        self.0.get_or_insert_default()
    }
}

impl From<RareEvidence> for Rare {
    fn from(numbers: RareEvidence) -> Rare {
        Rare((numbers != RareEvidence::default()).then(|| Box::new(numbers)))
    }
}

impl Row for Rare {
    fn fields(&self, text: &mut Text<'_>, opening: u8) {
        if let Some(numbers) = &self.0 {
            numbers.fields(text, opening);
        }
    }
}

impl Evidence {
    /// Evidence of the part of a pause.
    pub(in super::super) fn of(pause: &Pause, part: &PausePart) -> Evidence {
        Evidence {
            in_flight_bytes: Some(size(pause.flight_at_start)),
            in_flight_segments: Some(u64::from(pause.segments_at_start)),
            peer_window_bytes: pause.window.map(size),
            window_unused_bytes: pause.room_at_start,
            cwnd_estimate_segments: pause.cwnd_known.then_some(u64::from(pause.cwnd)),
            burst_bytes: (!pause.first).then_some(pause.before.bytes),
            last_packet: (!pause.first).then_some(pause.before.last_packet),
            freed_by_packet: freed_by(pause),
            next_packet: pause.next_packet,
            freed_to_data_ns: pause.after_ack().filter(|_| pause.ended),
            retransmissions: (pause.retransmissions > 0).then_some(u64::from(pause.retransmissions)),
            rare: RareEvidence::of(pause, part).into(),
        }
    }
}

impl RareEvidence {
    fn of(pause: &Pause, part: &PausePart) -> RareEvidence {
        RareEvidence {
            window_probes: (pause.probes > 0).then_some(u64::from(pause.probes)),
            plateau_bytes: (pause.context.plateau_rounds >= 3).then_some(size(pause.context.plateau)),
            cwnd_before_idle_segments: pause.cwnd_before_idle.map(u64::from),
            cwnd_after_idle_segments: pause.cwnd_after_idle.map(u64::from),
            extra_round_trips: None,
            ceiling: Ceiling::of(pause, part),
            receiver: Receiver::of(pause, part),
            burst_cap_segments: pause.context.cut_at.or(pause.context.per_ack).map(u64::from),
            exchanges_cut_alike: pause.context.cut_at.map(|_| u64::from(pause.context.turns_cut_alike)),
            path: path_evidence(pause),
            fastest_bytes_per_s: None,
            repair: RepairEvidence::of(pause, part.start, part.end),
        }
    }
}

fn size(bytes: i64) -> u64 {
    bytes.max(0) as u64
}

fn freed_by(pause: &Pause) -> Option<PacketNo> {
    match (pause.last_ack, pause.peer_last) {
        (Some(ack), Some(peer)) if peer + pause.distance > ack => pause.peer_packet,
        (None, Some(_)) => pause.peer_packet,
        _ => pause.last_ack_packet,
    }
}
