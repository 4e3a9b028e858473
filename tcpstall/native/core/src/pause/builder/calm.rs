//! Updates the open pause with an ACK of new data: of a calm half all that there is to an ACK, of any other a part of it.

use super::Builder;
use crate::flow::{Acked, Half};
use crate::pause::bottleneck::Bottleneck;
use crate::pause::open::Train;
use crate::time::Nanos;

impl Builder {
    /// An ACK of new data can bring nothing rare: nothing rare happened in the open pause, and no hole is open.
    pub(in crate::pause) fn is_calm(&self) -> bool {
        self.is_plain() && !self.holes.is_open()
    }

    /// Takes in the smoothed round trip after the ACK that began the pause.
    #[inline(always)]
    pub(in crate::pause) fn begins_at(&mut self, srtt: Option<Nanos>) {
        if let Some(beginning) = &mut self.open.beginning {
            beginning.srtt = srtt;
        }
    }

    /// Takes in an ACK of new data at a calm half, as [`Builder::on_ack`] does.
    #[inline(always)]
    pub(in crate::pause) fn on_calm_ack(&mut self, acked: &Acked, half: &Half) -> bool {
        self.heard_late(acked);
        self.largest_window = self.largest_window.max(half.window.unwrap_or(0));
        self.initial_open = false;
        self.notes_calm_ack(acked, half);
        let windows = (acked.window_before, half.window);
        self.reading.on_ack(acked.time, half.snd_una, acked.bytes, windows, half.mss());
        self.watches_path(acked, half);
        self.repairs.is_some() && self.shows_repair(*acked, half)
    }

    /// Notes such an ACK in the open pause.
    #[inline(always)]
    pub(super) fn notes_calm_ack(&mut self, acked: &Acked, half: &Half) {
        self.counts(acked);
        self.is_released(acked, half.srtt);
        let (mss, time) = (half.mss(), acked.time);
        if half.room().is_none_or(|room| room < i64::from(mss)) {
            self.open.room_since = None;
        } else if self.open.room_since.is_none() {
            self.open.room_since = Some(time);
        }
        if acked.blind {
            self.is_blind(acked, half);
        }
        self.heard = time;
        if half.snd_una == half.snd_nxt && self.open.all_acked.is_none() {
            self.open.all_acked = Some(time);
        }
    }

    /// Some data of the flow was sent again: the ACK may show that this was needless.
    #[inline(never)]
    pub(super) fn shows_repair(&mut self, acked: Acked, half: &Half) -> bool {
        let Some(repairs) = &mut self.repairs else { return false };
        repairs.on_ack(&acked, half, &mut self.pauses, &mut self.open.repair)
    }

    /// Counts an ACK of new data.
    #[inline(always)]
    pub(super) fn counts(&mut self, acked: &Acked) {
        let open = &mut self.open;
        open.acks += 1;
        open.acked += acked.bytes;
        open.acked_in_time += if acked.early { 0 } else { acked.bytes };
        open.slowest_ack.hears(acked, self.heard.max(self.burst.start));
    }

    /// Takes in an ACK that may release new data.
    #[inline(always)]
    pub(super) fn is_released(&mut self, acked: &Acked, srtt: Option<Nanos>) {
        self.open.last_ack = Some(acked.time);
        self.open.last_ack_packet = Some(acked.packet);
        match &mut self.train {
            Some(train) if is_train(acked.time - train.last, srtt) => {
                (train.last, train.segments_at_last) = (acked.time, acked.out_before);
            }
            train => {
                *train = Some(Train {
                    last: acked.time,
                    first_passed: acked.passed,
                    first_packet: acked.packet,
                    segments: acked.out_before,
                    segments_at_last: acked.out_before,
                    room: acked.room_before,
                });
            }
        }
    }

    /// Watches the ACK for a queue on the path, from the first one on that may have met one.
    #[inline(always)]
    pub(super) fn watches_path(&mut self, acked: &Acked, half: &Half) {
        match &mut self.bottleneck {
            Some(bottleneck) => bottleneck.on_ack(acked, half),
            None if Bottleneck::is_due(acked, half) => self.watches_path_from(*acked, half),
            None => {}
        }
    }

    /// Begins to watch; by value, so that an ACK stays in registers elsewhere.
    #[cold]
    fn watches_path_from(&mut self, acked: Acked, half: &Half) {
        self.bottleneck = Some(Box::new(Bottleneck::new(&acked, half)));
    }
}

/// ACKs with smaller pauses are one train: 2 % of a round trip, within the jitter of hosts and pipes.
fn is_train(pause: Nanos, srtt: Option<Nanos>) -> bool {
    pause <= Nanos::from_micros(50)
        || (pause <= Nanos::from_millis(1) && pause <= srtt.unwrap_or_default().scaled(0.02))
}
