//! Puts off the notes on an ACK of a steady sender: nearly always data follows at once, and there was no pause.

use super::Builder;
use crate::flow::{Acked, Half, SteadyHalf};
use crate::packet_no::PacketNo;
use crate::pause::burst::Burst;
use crate::pause::open::Beginning;
use crate::sender::Cwnd;
use crate::sender::cwnd::Stance;
use crate::time::Nanos;
use crate::wire::Segment;

/// An ACK of new data that is not noted in the open pause, which was blank before.
#[derive(Clone, Copy, Debug)]
pub struct PutOff {
    /// Time when it reached the sender.
    pub time: Nanos,
    /// Its packet.
    pub packet: PacketNo,
    /// Acknowledged bytes.
    pub bytes: i64,
    /// Segments in flight before it.
    pub out_before: u32,
    /// Bytes in flight before it.
    pub flight_before: i64,
    /// The round trip that it measures.
    pub rtt: Nanos,
    /// The model of the congestion window before it.
    pub stance: Stance,
}

impl PutOff {
    /// The ACK.
    pub fn acked(&self, steady: &SteadyHalf) -> Acked {
        let PutOff { time, packet, bytes, out_before, flight_before, rtt, .. } = *self;
        Acked {
            time,
            passed: time - steady.distance,
            packet,
            early: steady.distance > Nanos::ZERO,
            bytes,
            out_before,
            flight_before,
            room_before: Some(steady.window - flight_before),
            window_before: Some(steady.window),
            sample: Some(rtt),
            to_peer: Some(rtt - steady.distance),
            rtt: Some(rtt),
            ..Acked::default()
        }
    }
}

impl Builder {
    /// An ACK of new data can change nothing but the notes on the open pause, which is blank, and the state of the path; the
    /// newest data came before `end`.
    pub(in crate::pause) fn is_steady(&self, &SteadyHalf { window, payload, .. }: &SteadyHalf, end: Nanos) -> bool {
        let is_blank = self.open.is_blank() && self.is_calm() && self.train.is_none() && self.repairs.is_none();
        let is_known = self.largest_window >= window && self.reading.stands_at(window, payload);
        let is_under_way = self.sending && !self.initial_open && self.bottleneck.is_some() && self.burst.end <= end;
        is_blank && is_known && is_under_way && !self.pauses.newest().is_some_and(|pause| pause.unseen.heard)
    }

    /// The peer's data up to the one at `time` is noted.
    pub(in crate::pause) fn has_peer_data(&self, time: Nanos) -> bool {
        self.open.peer_last == Some(time) && self.open.peer_first.is_some() && self.burst.end <= time
    }

    /// Takes in `bytes` of the peer's data that followed, the last of them at the end of its `burst`.
    pub(in crate::pause) fn has_more_peer_data(&mut self, bytes: u64, burst: &Burst) {
        self.last_peer_payload = Some(burst.end);
        self.open.peer_bytes += bytes;
        (self.open.peer_last, self.open.peer_packet) = (Some(burst.end), Some(burst.last_packet));
    }

    /// Watches such an ACK for a queue on the path; `half` is the state after it.
    #[inline(always)]
    pub(in crate::pause) fn watches_steadily(&mut self, time: Nanos, to_peer: Nanos, half: &Half) {
        if let Some(bottleneck) = &mut self.bottleneck {
            let to_peer = Some(to_peer);
            bottleneck.on_ack(&Acked { time, to_peer, ..Acked::default() }, half);
        }
    }

    /// Notes such an ACK after all, of which `half` is the state after it.
    pub(in crate::pause) fn notes(&mut self, put_off: &PutOff, steady: &SteadyHalf, half: &Half, cwnd: &Cwnd) {
        let acked = put_off.acked(steady);
        self.begin(half, cwnd);
        if let Some(beginning) = &mut self.open.beginning {
            *beginning = Beginning {
                flight: acked.flight_before,
                segments: acked.out_before,
                room: acked.room_before,
                cwnd: put_off.stance.segments(),
                phase: put_off.stance.phase(),
                two_per_ack: put_off.stance.two_per_ack(),
                ..*beginning
            };
        }
        self.notes_calm_ack(&acked, half);
    }

    /// Adds a full segment that follows at once, perhaps on an ACK that the sender `heard` since its last, except for the
    /// sums of [`Builder::has_gone_on`]; `half` is the state after it.
    #[inline(always)]
    pub(in crate::pause) fn goes_on_steadily(
        &mut self,
        segment: &Segment,
        steady: &SteadyHalf,
        half: &Half,
        heard: Option<Nanos>,
    ) {
        if self.full {
            self.full_for += (segment.time - self.burst.end).or_zero();
        }
        if let Some(time) = heard {
            // There was no pause: the ACK leaves nothing but this.
            self.heard = time;
            self.burst.acks += 1;
            self.burst.breaks_off |= !self.burst.pushed;
            if let Some(bottleneck) = &mut self.bottleneck {
                bottleneck.on_data(segment.time);
            }
        }
        let flight = half.snd_nxt - half.snd_una;
        (self.burst.end, self.burst.in_flight) = (segment.time, flight as u64);
        self.burst.ends_with(segment);
        self.full = steady.window - flight < i64::from(steady.payload);
    }

    /// Counts the full segments, `bytes` together, that were added so.
    pub(in crate::pause) fn has_gone_on(&mut self, bytes: u64, steady: &SteadyHalf) {
        let burst = &mut self.burst;
        burst.clump.bytes += bytes;
        burst.clump.first_bytes += if burst.clump.count == 1 { bytes } else { 0 };
        burst.bytes += bytes;
        burst.frames += bytes / u64::from(steady.payload);
    }
}
