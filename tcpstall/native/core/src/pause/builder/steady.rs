//! Puts off the notes on an ACK of a steady sender: nearly always data follows at once, and there was no pause.

use super::Builder;
use crate::flow::{Acked, Half, SteadyAck};
use crate::packet_no::PacketNo;
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
    /// Time when it passed the tap.
    pub passed: Nanos,
    /// Its packet.
    pub packet: PacketNo,
    /// The segments that it acknowledged.
    pub ack: SteadyAck,
    /// The model of the congestion window before it.
    pub stance: Stance,
}

impl PutOff {
    /// The ACK, of which `window` is the window before and after it.
    #[inline(always)]
    pub fn acked(&self, window: i64) -> Acked {
        let SteadyAck { bytes, segments, out_before, flight_before, to_peer, rtt, is_close, .. } = self.ack;
        Acked {
            time: self.time,
            passed: self.passed,
            packet: self.packet,
            early: self.time > self.passed,
            bytes,
            segments,
            out_before,
            flight_before,
            room_before: Some(window - flight_before),
            window_before: Some(window),
            sample: Some(rtt),
            to_peer: Some(to_peer),
            rtt: Some(rtt),
            steady: is_close,
            ..Acked::default()
        }
    }
}

impl Builder {
    /// An ACK of new data with this window, bytes, can change nothing but the notes on the open pause, which is blank, and
    /// the state of the path.
    pub(in crate::pause) fn is_steady(&self, window: i64, mss: u32) -> bool {
        let is_blank = self.open.is_blank() && self.is_calm() && self.train.is_none() && self.repairs.is_none();
        let is_known = self.largest_window >= window && self.reading.stands_at(window, mss);
        let is_under_way = self.sending && !self.initial_open && self.bottleneck.is_some();
        is_blank && is_known && is_under_way && !self.pauses.newest().is_some_and(|pause| pause.unseen.heard)
    }

    /// Watches such an ACK for a queue on the path; `half` is the state after it.
    #[inline(always)]
    pub(in crate::pause) fn watches_steadily(&mut self, put_off: &PutOff, half: &Half) {
        if let Some(bottleneck) = &mut self.bottleneck {
            let (time, to_peer) = (put_off.time, Some(put_off.ack.to_peer));
            bottleneck.on_ack(&Acked { time, to_peer, ..Acked::default() }, half);
        }
    }

    /// Notes such an ACK after all, of which `half` is the state after it.
    pub(in crate::pause) fn notes(&mut self, put_off: &PutOff, half: &Half, cwnd: &Cwnd) {
        let acked = put_off.acked(half.window.unwrap_or_default());
        self.begin(half, cwnd);
        if let Some(beginning) = &mut self.open.beginning {
            *beginning = Beginning {
                flight: acked.flight_before,
                segments: acked.out_before,
                room: acked.room_before,
                cwnd: put_off.stance.segments(),
                phase: put_off.stance.phase(),
                ..*beginning
            };
        }
        self.notes_calm_ack(&acked, half);
    }

    /// Adds a full segment that follows at once, perhaps on an ACK that the sender `heard` since its last; `half` is the state
    /// after it.
    #[inline(always)]
    pub(in crate::pause) fn goes_on_steadily(
        &mut self,
        segment: &Segment,
        window: i64,
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
            if let Some(bottleneck) = &mut self.bottleneck {
                bottleneck.on_data(segment.time);
            }
        }
        let burst = &mut self.burst;
        let (bytes, flight) = (u64::from(segment.payload), half.snd_nxt - half.snd_una);
        burst.clump.bytes += bytes;
        burst.clump.first_bytes += if burst.clump.count == 1 { bytes } else { 0 };
        burst.end = segment.time.max(burst.start);
        burst.bytes += bytes;
        burst.frames += 1;
        burst.in_flight = flight as u64;
        burst.ends_with(segment);
        self.full = window - flight < i64::from(segment.payload);
    }
}
